// The two verifiers agree: on every vector, and on random packs.

import { afterAll, describe, expect, it } from 'vitest'
import { readPackCases } from '../../packages/evidence/test/case.ts'
import { PythonLines, verifierPython } from '../compat/python.ts'
import { compare, SECOND } from '../second-verifier/compare.ts'
import { randomPacks } from '../second-verifier/packs.ts'

const python = verifierPython()

if (python === undefined) {
  describe('the second verifier', () => it.skip('agrees with the first (no Python here)'))
} else {
  const second = new PythonLines(python, SECOND, '--many')
  afterAll(() => second.end())

  describe('the second verifier', () => {
    it('agrees with the first on every vector', async () => {
      const cases = readPackCases()
      const { packs, differences } = await compare(
        second,
        cases.map((each) => [each.name, each]),
      )
      expect(differences).toEqual([])
      expect(packs).toBe(cases.length)
    })

    it('agrees with the first on 300 random packs', async () => {
      const { failing, codes, differences } = await compare(second, randomPacks(0, 300))
      expect(differences).toEqual([])
      expect(failing).toBeGreaterThan(200)
      expect(codes.size).toBeGreaterThan(40)
    })

    it('refuses a trust file that is not valid, and a file that does not exist', async () => {
      const pack = new Uint8Array(0)
      const { differences } = await compare(second, [['', { pack, trust: '{"tollgate_trust":3}' }]])
      expect(differences).toEqual([])
      expect(await second.ask({ pack: '/missing' })).toMatchObject({ exit: 2 })
    })
  })
}
