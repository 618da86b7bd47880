// Our gateway keeps the requirements of `conformance/suite` that need no restart, and broken gateways do not. All requirements and
// all broken gateways are in `conformance.deep.ts`.

import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { judge, type Result } from '../../conformance/suite/judge.ts'
import { REPORT_TYPE, signed, statementOf, tableOf } from '../../conformance/suite/report.ts'
import { REQUIREMENTS } from '../../conformance/suite/requirements/table.ts'
import { tollgate } from '../../conformance/suite/tollgate.ts'
import { BROKEN } from '../conformance/broken.ts'
import { copyGateway, type Copy } from '../conformance/copy.ts'

const RUN = fileURLToPath(new URL('../../conformance/suite/run.ts', import.meta.url))
const VERIFIER = fileURLToPath(new URL('../../packages/evidence/dist/bin/verify.js', import.meta.url))
const verifier = [process.execPath, VERIFIER, '--json']
const SHORT = [
  'V1',
  'V2',
  'V3',
  'V4',
  'V5',
  'V6',
  'V11',
  'A2',
  'E1',
  'E2',
  'E3',
  'E6',
  'P1',
  'D1',
  'D3',
  'D4',
  'B3',
  'T2',
]

const chosen = (ids: readonly string[]) => REQUIREMENTS.filter(({ id }) => ids.includes(id))

describe('the requirements', () => {
  it('have ids of their own, and claims that exist', () => {
    const ids = REQUIREMENTS.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.length).toBeGreaterThanOrEqual(60)
    const page = readFileSync(new URL('../../docs/claims.md', import.meta.url), 'utf8')
    const unknown = REQUIREMENTS.flatMap(({ claims }) => claims).filter((id) => !page.includes(`\n| ${id} `))
    expect(unknown).toEqual([])
  })

  it('are kept by our gateway', async () => {
    const results = await judge({ adapter: tollgate(), verifier }, chosen(SHORT))
    expect(results.map(({ requirement, broken }) => [requirement.id, broken])).toEqual(
      results.map(({ requirement }) => [requirement.id, undefined]),
    )
    expect(results).toHaveLength(SHORT.length)
  })
})

describe('a gateway that', () => {
  let copy: Copy
  beforeAll(() => void (copy = copyGateway()))
  afterAll(() => copy.remove())

  it.each(BROKEN.filter(({ caught }) => ['V1', 'A2'].includes(caught)))(
    '$name breaks $caught',
    async ({ caught, edits }) => {
      const adapter = tollgate(copy.program)
      const [result] = await copy.broken(edits, () => judge({ adapter, verifier }, chosen([caught])))
      expect(result?.broken).toBeDefined()
    },
  )

  it('gets an edit that does not fit is not judged', async () => {
    const edits = [{ file: 'kernel/dist/src/road/guardian.js', from: 'not there', to: '' }]
    await expect(copy.broken(edits, () => Promise.resolve())).rejects.toThrow('is not in one place')
  })
})

describe('the command', () => {
  it.each([
    [['--level', 'L9'], 'no level `L9`; the levels are L1, L2, L3'],
    [['--only', 'V1,Z1'], 'no requirement `Z1`; `--list` shows them'],
    [['--report', 'x'], '`--report` and `--key` belong together'],
  ])('judges nothing with %j', (args, message) => {
    const { status, stderr } = spawnSync(process.execPath, ['--import', 'tsx', RUN, ...args], {
      encoding: 'utf8',
    })
    expect([status, stderr]).toEqual([2, expect.stringContaining(message)])
  })
})

describe('the report', () => {
  const [requirement] = REQUIREMENTS
  const results: readonly Result[] = requirement
    ? [
        { requirement, broken: undefined, ms: 1 },
        { requirement, broken: 'it answered\nALLOW', ms: 1 },
      ]
    : []

  it('ends with one line of counts', () => {
    expect(tableOf(results).split('\n')).toEqual([
      `kept   L1 V1  ${requirement?.says}`,
      `BROKEN L1 V1  ${requirement?.says}`,
      '       it answered',
      '       ALLOW',
      '2 requirements: 1 kept, 1 broken',
    ])
  })

  it('is signed, and has no text of the implementation', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const time = '2026-01-05T09:00:00.000Z'
    const envelope = JSON.parse(signed(statementOf('tollgate', time, results), pem)) as {
      payload: string
      payloadType: string
      signatures: { sig: string }[]
    }
    const payload = Buffer.from(envelope.payload, 'base64')
    const before = `DSSEv1 ${REPORT_TYPE.length} ${REPORT_TYPE} ${payload.length} `
    const signature = Buffer.from(envelope.signatures[0]?.sig ?? '', 'base64')
    const text = Buffer.concat([Buffer.from(before), payload])
    expect(
      verify(null, text, createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })), signature),
    ).toBe(true)
    expect(JSON.parse(payload.toString())).toMatchObject({
      implementation: 'tollgate',
      kept: 1,
      broken: 1,
      time,
    })
    expect(payload.toString()).not.toContain('it answered')
  })

  it('is not signed with a key of another kind', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    expect(() => signed({}, pem)).toThrow('Ed25519')
  })
})
