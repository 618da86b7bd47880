// The two verifiers agree on 20,000 random packs.

import { afterAll, describe, expect, it } from 'vitest'
import { FINDINGS } from '../../packages/evidence/src/index.ts'
import { PythonLines, verifierPython } from '../compat/python.ts'
import { compare, SECOND } from '../second-verifier/compare.ts'
import { randomPacks } from '../second-verifier/packs.ts'

const PACKS = 20_000
// Too large to be made at random.
const LARGE = ['REFERENCES_TOO_MANY']

const python = verifierPython()

describe.skipIf(python === undefined)('the second verifier', () => {
  const second = new PythonLines(python ?? '', SECOND, '--many')
  afterAll(() => second.end())

  it(`agrees with the first on ${PACKS} random packs, which have every finding`, async () => {
    const { packs, failing, codes, differences } = await compare(second, randomPacks(1000, PACKS))
    expect(differences).toEqual([])
    process.stdout.write(`${packs} packs, ${failing} with findings, ${codes.size} codes, 0 differences\n`)
    expect(Object.keys(FINDINGS).filter((code) => !codes.has(code))).toEqual(LARGE)
  })
})
