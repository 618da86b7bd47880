// The table of the contract, with the two clients for Python.

import { afterAll, describe, it } from 'vitest'
import { contractTests, type ContractEnd } from '../../client/test/contract.ts'
import { clientPython, PythonLines } from '../../../tools/compat/python.ts'

const python = clientPython()

if (python === undefined) {
  describe('the client for Python', () => it.skip('keeps the contract (no Python here)'))
} else {
  const lines = new PythonLines(python, new URL('driver.py', import.meta.url))
  afterAll(() => lines.end())
  for (const client of ['Client', 'AsyncClient']) {
    contractTests(`${client} for Python`, async (call) => {
      // Sound: the form of the answers of `driver.py`.
      return (await lines.ask({ ...call, client })) as ContractEnd
    })
  }
}
