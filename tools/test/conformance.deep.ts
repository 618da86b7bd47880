// Our gateway keeps every requirement of `conformance/suite`, and each broken gateway breaks the requirement that is meant for it.

import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { judge } from '../../conformance/suite/judge.ts'
import { REQUIREMENTS } from '../../conformance/suite/requirements/table.ts'
import { tollgate } from '../../conformance/suite/tollgate.ts'
import { BROKEN } from '../conformance/broken.ts'
import { copyGateway, type Copy } from '../conformance/copy.ts'

const VERIFIER = fileURLToPath(new URL('../../packages/evidence/dist/bin/verify.js', import.meta.url))
const verifier = [process.execPath, VERIFIER, '--json']

let copy: Copy
beforeAll(() => void (copy = copyGateway()))
afterAll(() => copy.remove())

// The copy is the gateway that the edits below break, so that only the edit can be the reason.
it('an unbroken copy of the gateway keeps every requirement', async () => {
  const results = await judge({ adapter: tollgate(copy.program), verifier }, REQUIREMENTS)
  expect(results.filter(({ broken }) => broken !== undefined)).toEqual([])
  expect(results).toHaveLength(REQUIREMENTS.length)
})

describe('a gateway that', () => {
  it.each(BROKEN)('$name breaks $caught', async ({ caught, edits }) => {
    const meant = REQUIREMENTS.filter(({ id }) => id === caught)
    const adapter = tollgate(copy.program)
    const [result] = await copy.broken(edits, () => judge({ adapter, verifier }, meant))
    expect(result?.broken).toBeDefined()
  })
})
