// The order of nodes as a script of its own, for isolated worlds of other programs.

import { checkOf, inOrder } from '../page/order.ts'

Object.defineProperty(globalThis, 'tollgateOrder', {
  value: Object.freeze({ checkOf, inOrder }),
  configurable: true,
})
