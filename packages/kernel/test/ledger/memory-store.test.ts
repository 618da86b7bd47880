import { createMemoryStore } from '../../src/index.ts'
import { fixedKey } from '../rig.ts'
import { storeContract } from './store.contract.ts'

storeContract({
  name: 'memory',
  create: async () => {
    const store = createMemoryStore([await fixedKey('ledger'), await fixedKey('writer')])
    // Memory is all the medium there is.
    return { store, reopen: () => Promise.resolve(store) }
  },
})
