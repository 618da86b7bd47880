import { createMemoryStore } from '../../src/index.ts'
import { fixedKey } from '../rig.ts'
import { storeContract } from './store.contract.ts'

storeContract({
  name: 'memory',
  create: async () => {
    const store = createMemoryStore([await fixedKey('ledger'), await fixedKey('writer')])
    // There is no medium besides memory.
    return { store, reopen: () => Promise.resolve(store) }
  },
})
