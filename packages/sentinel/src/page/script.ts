// The script for the page. It must run in an isolated world, before any code that could change its prototypes.

import { hashOnly, scan } from './scan.ts'
import { isShown, outline } from './outline.ts'
import { targetAt } from './target.ts'

Object.defineProperty(globalThis, 'tollgateSentinel', {
  value: Object.freeze({ scan, hashOnly, targetAt, outline, isShown }),
  configurable: true,
})
