import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FINDINGS, STAGES } from '../src/findings.ts'
import {
  canonicalBytes,
  cosignCheckpoint,
  EvidenceError,
  formatVkey,
  noteKey,
  parseTrust,
  readPack,
  toBase64,
  verifyPack,
  type Checkpoint,
  type Entry,
  type Manifest,
  type Progress,
  type Report,
  type SignatureChecker,
  type SignatureJob,
  type SigningKey,
  type Trust,
} from '../src/index.ts'
import { parseManifest } from '../src/manifest.ts'
import { EMPTY_ROOT } from '../src/merkle.ts'
import { signatureHolds } from '../src/receipt.ts'
import { sha256 } from '../src/hash.ts'
import type { Member } from '../src/tar.ts'
import { AT, DENIED, told, trustIn } from './audit-story.ts'
import { findingsOf, readPackCases } from './case.ts'
import { begin, createLedger, fixedKey, type TestLedger } from './ledger.ts'
import {
  archive,
  blocks,
  bound,
  bytesOf,
  contentOf,
  edited,
  forge,
  forged,
  joined,
  RECEIPTS,
  relined,
  replaced,
  without,
} from './pack-forge.ts'
import { longLedger } from './pack-ledger.ts'
import { outcomeOf } from './samples.ts'
import { runs } from './runs.ts'

const ledger = await told()
const trust = await trustOf(ledger)
const members = await forge(ledger)
const pack = archive(members)

function trustOf(of: TestLedger, pins?: Parameters<typeof trustIn>[1]): Promise<Trust> {
  return parseTrust(trustIn(of, pins))
}

/** Checks signatures like the default checker, but several batches concurrently and in any order. */
const unordered: SignatureChecker = {
  parallel: 3,
  async check(jobs) {
    await new Promise((resolve) => setTimeout(resolve, (jobs[0]?.index ?? 0) % 3))
    return Promise.all(jobs.map(({ receipt, key }) => signatureHolds(receipt, key)))
  },
}

describe('signatures', () => {
  it('that cannot be checked make the verification throw, never the pack pass', async () => {
    const broken: SignatureChecker = {
      parallel: 1,
      check: () => Promise.reject(new Error('the thread died')),
    }
    await expect(verifyPack(pack, { trust, signatures: broken })).rejects.toThrow('the thread died')
    await expect(verifyPack(pack, { signatures: { ...broken, parallel: 8 } })).rejects.toThrow(
      'the thread died',
    )
  })

  it('whose check throws synchronously make the verification throw too', async () => {
    const broken: SignatureChecker = {
      parallel: 1,
      check() {
        throw new Error('no thread to be had')
      },
    }
    await expect(verifyPack(pack, { trust, signatures: broken })).rejects.toThrow('no thread to be had')
  })

  it('that cannot be checked say nothing about the pack, for any error', async () => {
    const fault = new EvidenceError('KEY_UNAVAILABLE', 'this runtime cannot use Ed25519 keys')
    const later: SignatureChecker = { parallel: 1, check: () => Promise.reject(fault) }
    await expect(verifyPack(pack, { trust, signatures: later })).rejects.toBe(fault)
    const atOnce: SignatureChecker = {
      parallel: 1,
      check() {
        throw fault
      },
    }
    await expect(verifyPack(pack, { trust, signatures: atOnce })).rejects.toBe(fault)
  })

  it('that cannot be checked make the verification of a malformed pack throw as well', async () => {
    const broken: SignatureChecker = {
      parallel: 1,
      check: () => Promise.reject(new Error('the thread died')),
    }
    const cut = verifyPack(pack.subarray(0, -1), { trust, signatures: broken })
    await expect(cut).rejects.toThrow('the thread died')
  })

  it('are wrong unless the answer is true, for each of them', async () => {
    const all = Array.from({ length: AT.next }, (_, index) => `SIGNATURE_WRONG at ${index}`)
    const answers: [readonly unknown[], readonly string[]][] = [
      [[], all],
      [[true, true, true], all.slice(3)],
      [Array.from({ length: AT.next }, () => false), all],
      [Array.from({ length: AT.next }, () => 1), all],
      [Array.from({ length: AT.next }, () => 'true'), all],
      [Array.from({ length: AT.next + 1 }, () => true), []],
    ]
    for (const [given, expected] of answers) {
      const signatures = { parallel: 1, check: () => Promise.resolve(given as boolean[]) }
      const report = await verifyPack(pack, { trust, signatures })
      expect(findingsOf(report)).toEqual(expected)
      expect(report.exit).toBe(expected.length > 0 ? 1 : 0)
    }
  })

  it('are checked once for each receipt, under the key that it names', async () => {
    const asked: SignatureJob[] = []
    const signatures: SignatureChecker = {
      parallel: 2,
      check(jobs) {
        asked.push(...jobs)
        return Promise.resolve(jobs.map(() => true))
      },
    }
    await verifyPack(pack, { trust, signatures })
    expect(asked.map(({ index }) => index)).toEqual(ledger.entries.map((_, index) => index))
    expect(asked.map(({ key }) => key.id)).toEqual(ledger.entries.map(({ receipt }) => receipt.key))
  })

  it('checked out of order give the same report', async () => {
    const long = await longLedger()
    const lines = (all: readonly string[]): string[] =>
      all.map((line, i) => (i % 50 === 7 ? forgedLine(line) : line))
    const second = 'receipts/0000000000000256.jsonl'
    const tampered = relined(relined(await forge(long.ledger), lines), lines, second)
    const false600 = archive(bound(tampered))
    const expected = await verifyPack(false600)
    expect(expected.findings.filter(({ code }) => code === 'SIGNATURE_WRONG').length).toBeGreaterThan(5)
    expect(await verifyPack(false600, { signatures: unordered })).toEqual(expected)
  })
})

describe('progress', () => {
  it('is reported after every part and only grows', async () => {
    const told: Progress[] = []
    await verifyPack(pack, { trust, onProgress: (progress) => told.push(progress) })
    expect(told).toHaveLength(members.length)
    expect(told.map(({ bytes }) => bytes)).toEqual(
      members.map((_, i) => members.slice(0, i + 1).reduce((sum, { bytes }) => sum + bytes.length, 0)),
    )
    expect(told.at(-1)).toMatchObject({ receipts: AT.next })
    expect(told.at(0)).toMatchObject({ receipts: 0 })
  })

  it('whose callback throws is an error of the program, not of the pack', async () => {
    const onProgress = (): void => {
      throw new TypeError('no terminal')
    }
    await expect(verifyPack(pack, { onProgress })).rejects.toThrow('no terminal')
  })
})

describe('each receipt', () => {
  /** The entries that a verification hands out. */
  async function entriesOf(bytes: Uint8Array): Promise<readonly Entry[]> {
    const entries: Entry[] = []
    await verifyPack(bytes, { onReceipt: (entry) => entries.push(entry) })
    return entries
  }

  it('is handed out once, in order, with its index and id', async () => {
    const expected = ledger.entries.map(({ id, receipt }, index) => ({ index, id, receipt }))
    expect(await entriesOf(pack)).toEqual(expected)
  })

  it('is handed out of a false pack too, unless it cannot be read', async () => {
    const lines = (all: readonly string[]): string[] =>
      all.map((line, i) => (i === 3 ? '{}' : i === 5 ? forgedLine(line) : line))
    const indexes = (await entriesOf(archive(bound(relined(members, lines))))).map(({ index }) => index)
    expect(indexes).toEqual(ledger.entries.map((_, index) => index).filter((index) => index !== 3))
  })

  it('whose listener throws is a fault of the program, not of the pack', async () => {
    const onReceipt = (): void => {
      throw new TypeError('no table')
    }
    await expect(verifyPack(pack, { onReceipt })).rejects.toThrow('no table')
  })
})

describe('a report', () => {
  const cases = readPackCases()

  /** The report of each case, with its trust file if it has one. */
  const reports = Promise.all(
    cases.map(async ({ name, pack: bytes, trust: pinned }) => {
      const options = pinned === undefined ? {} : { trust: await parseTrust(pinned) }
      return { name, bytes, options, report: await verifyPack(bytes, options) }
    }),
  )

  it('is plain data and the same every time, for any chunks', async () => {
    for (const { bytes, options, report } of await reports) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / 700) }, (_, i) =>
        bytes.subarray(700 * i, 700 * (i + 1)),
      )
      expect(await verifyPack(chunks, { ...options, signatures: unordered })).toEqual(report)
      expect(JSON.parse(JSON.stringify(report))).toEqual(report)
    }
  })

  it('lists its findings by stage, then by receipt', async () => {
    for (const { report } of await reports) {
      const places = report.findings.map(
        ({ code, index = -1 }) => 1e6 * STAGES.indexOf(FINDINGS[code].stage) + index,
      )
      expect(places).toEqual([...places].sort((a, b) => a - b))
    }
  })

  it('has no duplicate findings', async () => {
    for (const { name, report } of await reports) {
      const lines = findingsOf(report)
      expect([name, ...new Set(lines)]).toEqual([name, ...lines])
    }
  })

  it('without a trust file has no findings about one', async () => {
    for (const { name, bytes } of await reports) {
      const { findings, level } = await verifyPack(bytes)
      expect(findings.map(({ code }) => `${name}: ${code}`)).not.toContain(`${name}: TRUST_LEDGER_WRONG`)
      expect(level, name).not.toMatch(/verified|witnessed/)
    }
  })

  it('of a false pack proves nothing', async () => {
    for (const { report } of await reports) {
      if (report.exit === 1 || report.exit === 2) {
        expect(report.proved).toEqual([])
        expect(report.not_proved).toEqual([expect.stringMatching(/^Everything/)])
      } else expect(report.proved.length).toBeGreaterThan(2)
    }
  })

  it('counts the receipts in its summary', async () => {
    const { summary, ...report } = await verifyPack(pack, { trust })
    expect(summary).toEqual({
      receipts: 10,
      kinds: { genesis: 1, key: 1, policy: 1, decision: 4, effect: 2, approval: 1 },
      verdicts: { ALLOW: 2, DENY: 1, ESCALATE: 1 },
      effects: { COMPLETED: 1, FAILED: 1 },
      open: 0,
      first_time: '2026-01-05T09:00:00.000Z',
      last_time: '2026-01-05T09:00:09.000Z',
    })
    expect(report).toMatchObject({
      level: 'verified',
      exit: 0,
      ledger: ledger.origin,
      tree_size: 10,
      selected: 0,
    })
    expect(report.range).toEqual({ start: 0, end: 10 })
  })

  it('lists what a selection, a missing witness and an open call leave unproved', async () => {
    const open = await told((going) =>
      going.append({ ...DENIED, verdict: 'ALLOW', reason_code: 'RULE_ALLOWED' } as typeof DENIED),
    )
    const { not_proved } = await verifyPack(await forged(open, { selected: [0, 1, AT.next] }), { trust })
    expect(not_proved).toEqual(
      expect.arrayContaining([
        expect.stringContaining('Completeness: a selection proves that these receipts exist'),
        expect.stringContaining('an entry that is not in the pack can retire a key'),
        expect.stringContaining('no trusted witness cosigned'),
        expect.stringContaining('The outcome of 1 allowed call'),
      ]),
    )
  })

  it('keeps the first thousand findings and counts the others', async () => {
    const strange = await createLedger()
    await begin(strange)
    for (let i = 0; i < 1200; i++) strange.appendRaw(bytesOf(`not a receipt ${i}`))
    await strange.sealHead()
    const report = await verifyPack(await forged(strange), { trust: await trustOf(strange) })
    expect(report.findings).toHaveLength(1000)
    expect(report.more_findings).toBe(200)
    expect(report).toMatchObject({ level: 'malformed', exit: 2 })
  })

  it('fails a pack whose only false finding comes after the thousandth finding', async () => {
    const strange = await createLedger()
    await begin(strange)
    for (let i = 0; i < 1100; i++) strange.appendRaw(bytesOf(`not a receipt ${i}`))
    await strange.sealHead([await fixedKey('stranger')])
    const report = await verifyPack(await forged(strange))
    expect(report.exit).toBe(2)
    expect(report.more_findings).toBeGreaterThanOrEqual(100)
  })
})

describe('keys in several roles', () => {
  it('a key of the ledger is not a witness, even if a trust file names it as one', async () => {
    const cosigned = await told()
    const name = 'witness.example'
    const itself = { name, key: cosigned.writerKey }
    cosigned.useCheckpoint(await cosignCheckpoint(cosigned.checkpoint, itself, 1_767_603_700))
    const witnesses = [noteKey(name, cosigned.writerKey.publicKey, 4)]
    const fooled = await trustOf(cosigned, { witnesses, quorum: 1 })
    expect((await verifyPack(await forged(cosigned), { trust: fooled })).level).toBe('failed')
  })
})

describe('the empty ledger as the pinned checkpoint', () => {
  // Sound: only the size and root of the pinned checkpoint are used.
  const pinned = (root: Uint8Array): Trust => ({
    ...trust,
    checkpoint: { size: 0, root } as Checkpoint,
  })
  const codesOf = async (of: readonly Member[], pins: Trust): Promise<readonly string[]> =>
    (await verifyPack(archive(of), { trust: pins })).findings.map(({ code }) => code)
  const withProof = (hashes: readonly string[]): readonly Member[] =>
    bound([
      ...without(members, 'proofs/consistency.json'),
      { name: 'proofs/consistency.json', bytes: canonicalBytes({ hashes, size: 0 }) },
    ])

  it('is continued by any ledger, with an empty proof or without a proof', async () => {
    const seen = pinned(EMPTY_ROOT)
    expect(await codesOf(members, seen)).toEqual([])
    expect(await codesOf(withProof([]), seen)).toEqual([])
    expect(await codesOf(withProof([]), trust)).toEqual([])
  })

  it('has one root, and its consistency proof has no hashes', async () => {
    expect(await codesOf(members, pinned(sha256('another')))).toEqual(['CHECKPOINT_INCONSISTENT'])
    const hashes = [toBase64(EMPTY_ROOT)]
    expect(await codesOf(withProof(hashes), pinned(EMPTY_ROOT))).toEqual(['CHECKPOINT_INCONSISTENT'])
    expect(await codesOf(withProof(hashes), trust)).toEqual(['PROOF_MALFORMED'])
  })
})

describe('a hostile pack', () => {
  /** A pack whose manifest claims something expensive. The verification must end with a finding within the test's time limit. */
  async function claiming(claims: Partial<Manifest>): Promise<Report> {
    const manifest = { ...(JSON.parse(contentOf(members, 'manifest.json')) as Manifest), ...claims }
    return ended(archive(replaced(members, 'manifest.json', bytesOf(JSON.stringify(manifest)))))
  }

  async function ended(bytes: Uint8Array): Promise<Report> {
    const report = await verifyPack(bytes, { trust })
    expect([1, 2]).toContain(report.exit)
    return report
  }

  const most = Number.MAX_SAFE_INTEGER

  it('claims a range of the largest safe integer', async () => {
    await claiming({ tree_size: most, range: { start: 0, end: most } })
    await claiming({ tree_size: most, range: { start: most - 1, end: most } })
    await claiming({ tree_size: most, range: { start: most - 1024, end: most } })
    await claiming({ tree_size: most })
  })

  it('selects entries at the largest safe integers', async () => {
    await claiming({ tree_size: most, selected: [most - 1] })
    await claiming({ tree_size: most, range: { start: 0, end: 10 }, selected: [most - 2, most - 1] })
  })

  it('lists missing members', async () => {
    const absent = Array.from({ length: 5000 }, (_, i) => ({
      name: `policy/${String(i).padStart(64, '0')}`,
      sha256: '0'.repeat(64),
      size: most,
    }))
    expect((await claiming({ members: absent })).findings.length).toBe(1000)
  })

  it('has a very deeply nested manifest', async () => {
    await ended(archive(replaced(members, 'manifest.json', bytesOf('['.repeat(16 << 20)))))
  })

  const manifestText = contentOf(members, 'manifest.json')

  // Malformed lists of members.
  it.each<[string, (text: string) => string, string]>([
    ['a comma missing between two members', (text) => text.replace('},{', '}{'), 'PACK_MALFORMED'],
    ['a comma after the last member', (text) => text.replace('}],', '},],'), 'JSON_MALFORMED'],
    ['a comma before the first member', (text) => text.replace('[{', '[,{'), 'JSON_MALFORMED'],
    ['a space between two members', (text) => text.replace('},{', '}, {'), 'JSON_NOT_CANONICAL'],
    ['a member in a nested list', (text) => text.replace('[{', '[[{').replace('}]', '}]]'), 'PACK_MALFORMED'],
    ['a member with a further field', (text) => text.replace('"name"', '"a":1,"name"'), 'PACK_MALFORMED'],
    ['a member without a name', (text) => text.replace(/"name":"[^"]*"/, '"name":""'), 'PACK_MALFORMED'],
    [
      'an invalid name of a member',
      (text) => text.replace(/"name":"[^"]*"/, '"name":"a//b"'),
      'PACK_MALFORMED',
    ],
    [
      'a size beyond the safe integers',
      (text) => text.replace(/"size":\d+/, '"size":9007199254740992'),
      'JSON_NUMBER_REFUSED',
    ],
    ['a size with a leading zero', (text) => text.replace(/"size":/, '"size":0'), 'JSON_MALFORMED'],
    [
      'members in an object',
      (text) => text.replace('"members":[', '"members":{"members":['),
      'JSON_MALFORMED',
    ],
    [
      'members twice',
      (text) => text.replace('"members":[', '"members":[],"members":['),
      'JSON_DUPLICATE_KEY',
    ],
    ['no members at all', (text) => text.replace(/"members":\[[^\]]*\],/, ''), 'PACK_MALFORMED'],
  ])('has a manifest with %s', (_, spoil, code) => {
    expect(spoil(manifestText)).not.toBe(manifestText)
    expect(outcomeOf(() => parseManifest(bytesOf(spoil(manifestText))))).toBe(code)
  })

  it('claims a member of eight gigabytes', async () => {
    const header = blocks({ name: 'policy/x', bytes: new Uint8Array(0) })[0] ?? new Uint8Array(0)
    const claims = header.slice()
    claims.set(bytesOf('77777777777'), 124)
    await ended(joined([claims, new Uint8Array(1024)]))
  })

  it('has a bundle of empty lines', async () => {
    await ended(archive(bound(replaced(members, RECEIPTS, bytesOf('\n'.repeat(100_000))))))
  })

  it('has proofs of the maximum length', async () => {
    const hash = 'A'.repeat(43) + '='
    const left = Array.from({ length: 128 }, () => hash)
    await ended(
      archive(bound(edited(members, 'proofs/range.json', () => JSON.stringify({ left, right: left })))),
    )
    const longer = [...left, hash]
    await ended(
      archive(bound(edited(members, 'proofs/range.json', () => JSON.stringify({ left: longer, right: [] })))),
    )
  })

  it('lacks all required members', async () => {
    for (const { name } of members) {
      const report = await ended(archive(without(members, name)))
      expect(report.level, name).toBe('malformed')
    }
  })
})

describe('any bytes', () => {
  /** Expects that verifying the bytes gives a report that does not pass, and that reading them throws an EvidenceError. */
  async function survives(bytes: Uint8Array): Promise<Report> {
    const report = await verifyPack(bytes, { trust })
    expect(JSON.stringify(await verifyPack(bytes, { trust }))).toBe(JSON.stringify(report))
    try {
      for await (const part of readPack(bytes)) expect(part.member.name).not.toBe('')
    } catch (fault) {
      expect(fault).toBeInstanceOf(EvidenceError)
    }
    return report
  }

  const small = told(undefined, { length: AT.read + 1 }).then(forge)

  it('that are random give a report', async () => {
    const check = async (bytes: Uint8Array): Promise<void> => {
      expect((await survives(bytes)).exit).toBe(2)
    }
    await fc.assert(fc.asyncProperty(fc.uint8Array({ maxLength: 3000 }), check), {
      seed: 1,
      numRuns: runs(500),
    })
  })

  it('of a damaged pack give a report that does not pass', async () => {
    const honest = archive(await small)
    const check = async (edits: readonly Edit[]): Promise<void> => {
      const changed = edits.reduce(applied, honest)
      const same = Buffer.compare(changed, honest) === 0
      expect(same ? [0] : [1, 2]).toContain((await survives(changed)).exit)
    }
    const property = fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 4 }), check)
    await fc.assert(property, { seed: 2, numRuns: runs(500) })
  })

  it('in any member, with a matching manifest, give a report that does not pass', async () => {
    const honest = await small
    const names = honest.map(({ name }) => name).filter((name) => name !== 'manifest.json')
    const check = async (name: string, edits: readonly Edit[]): Promise<void> => {
      const before = bytesOf(contentOf(honest, name))
      const after = edits.reduce(applied, before)
      const same = Buffer.compare(before, after) === 0
      const report = await survives(archive(bound(replaced(honest, name, after))))
      expect(same ? [0] : [1, 2]).toContain(report.exit)
    }
    const edits = fc.array(edit, { minLength: 1, maxLength: 3 })
    await fc.assert(fc.asyncProperty(fc.constantFrom(...names), edits, check), {
      seed: 3,
      numRuns: runs(400),
    })
  })
})

/** A change to bytes: some are removed at a position, and some inserted. */
interface Edit {
  readonly at: number
  readonly out: number
  readonly put: Uint8Array
}

const edit = fc.record({
  at: fc.nat(),
  out: fc.oneof(fc.constant(0), fc.constant(1), fc.nat({ max: 600 })),
  put: fc.oneof(
    fc.uint8Array({ maxLength: 4 }),
    fc.constantFrom(...['0', '1', '"', '{', '}', ',', '\n', '\0', ' ', '=', '/'].map(bytesOf)),
    fc.constant(new Uint8Array(512)),
  ),
})

function applied(bytes: Uint8Array, { at, out, put }: Edit): Uint8Array {
  const start = bytes.length === 0 ? 0 : at % bytes.length
  return joined([bytes.subarray(0, start), put, bytes.subarray(start + out)])
}

/** The line of a receipt with one digit of its signature changed. */
function forgedLine(line: string): string {
  const at = line.length - 20
  return line.slice(0, at) + (line.charAt(at) === 'A' ? 'B' : 'A') + line.slice(at + 1)
}

describe('easily missed parts', () => {
  /** The level and codes of a pack whose manifest matches its members. */
  async function reportOn(
    changed: ReturnType<typeof bound>,
    under: Trust = trust,
  ): Promise<[string, ...string[]]> {
    const report = await verifyPack(archive(changed), { trust: under })
    return [report.level, ...report.findings.map(({ code }) => code)]
  }

  it('a member below the name of another does not replace it', async () => {
    const [key] = members.filter(({ name }) => name.startsWith('keys/'))
    const name = key?.name ?? ''
    const nested = [...members, { name: `${name}/a`, bytes: key?.bytes ?? bytesOf('') }]
    expect(await reportOn(bound(replaced(nested, name, bytesOf('garbage\n'))))).toEqual([
      'malformed',
      'MEMBER_UNEXPECTED',
      'KEY_FILE_WRONG',
    ])
    const range = contentOf(members, 'proofs/range.json')
    const below = [...members, { name: 'proofs/range.json/x', bytes: bytesOf(range) }]
    const wrong = bytesOf('{"left":["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="],"right":[]}')
    expect(await reportOn(bound(replaced(below, 'proofs/range.json', wrong)))).toEqual([
      'malformed',
      'MEMBER_UNEXPECTED',
      'LEAVES_WRONG',
    ])
  })

  it('a consistency proof for another size must still be right', async () => {
    const junk = (size: number): ReturnType<typeof bound> =>
      bound(replaced(members, 'proofs/consistency.json', bytesOf(`{"hashes":[],"size":${size}}`)))
    expect(await reportOn(junk(777))).toEqual(['malformed', 'PROOF_MALFORMED'])
    expect(await reportOn(junk(5))).toEqual(['malformed', 'PROOF_MALFORMED'])
    expect(await reportOn(junk(0))).toEqual(['verified'])
  })

  it('a proof must not have further text', async () => {
    const selection = await forge(ledger, { selected: [0, 1, 2] })
    const extra = edited(selection, 'proofs/0000000000000001.tlog-proof', (text) =>
      text.replace('\nindex', '\nextra aGlkZGVu\nindex'),
    )
    expect(await reportOn(bound(extra))).toEqual(['malformed', 'PACK_MALFORMED'])
  })

  it('a rewritten history is reported despite a thousand other findings', async () => {
    const fork = await told((going) => going.append(DENIED))
    const pinned = await trustOf(fork, { checkpoint: (await told()).checkpoint })
    const absent = Array.from({ length: 1500 }, (_, i) => ({
      name: `policy/${String(i).padStart(64, '0')}`,
      sha256: '0'.repeat(64),
      size: 1,
    }))
    const forgedMembers = await forge(fork, { selected: [0, 1, 2, fork.size - 1] })
    const manifest = JSON.parse(contentOf(forgedMembers, 'manifest.json')) as Manifest
    const listed = [...manifest.members, ...absent].sort((a, b) => (a.name < b.name ? -1 : 1))
    const flooded = replaced(forgedMembers, 'manifest.json', canonicalBytes({ ...manifest, members: listed }))
    const { findings } = await verifyPack(archive(flooded), { trust: pinned })
    expect(findings.map(({ code }) => code)).toContain('CONSISTENCY_MISSING')
  })

  it('a key file has a size limit', async () => {
    const [key] = members.filter(({ name }) => name.startsWith('keys/'))
    const fat = bound(replaced(members, key?.name ?? '', new Uint8Array(2000).fill(65)))
    expect(await reportOn(fat)).toEqual(['malformed', 'ARCHIVE_TOO_LARGE'])
  })

  it('a name in the manifest with invisible characters is refused', async () => {
    const manifest = JSON.parse(contentOf(members, 'manifest.json')) as Manifest
    const strange = { name: 'z\u202e\u200b', sha256: '0'.repeat(64), size: 1 }
    const named = { ...manifest, members: [...manifest.members, strange] }
    expect(await reportOn(replaced(members, 'manifest.json', canonicalBytes(named)))).toEqual([
      'malformed',
      'PACK_MALFORMED',
    ])
  })

  it('the report has the checkpoint to pin next time, byte for byte', async () => {
    expect((await verifyPack(pack, { trust })).checkpoint).toBe(ledger.checkpoint)
    expect(await verifyPack(pack)).not.toHaveProperty('checkpoint')
  })

  it('a bundle of only newlines is refused', async () => {
    const empty = bound(replaced(members, RECEIPTS, new Uint8Array(5 << 20).fill(10)))
    const [level, ...codes] = await reportOn(empty)
    expect(level).toBe('malformed')
    expect(codes).toContain('RECEIPT_COUNT_WRONG')
    for await (const part of readPack(archive(empty)))
      if (part.kind === 'receipts') expect(part.envelopes.length).toBe(part.bundle.count + 1)
  })

  it('a checkpoint needs the signature of an active key, not of a retired one', async () => {
    const rotated = await createLedger()
    const next = await fixedKey('next ledger key')
    const keyOf = (key: SigningKey): string => toBase64(key.publicKey.bytes)
    await begin(rotated)
    await rotated.append({ kind: 'key', op: 'add', role: 'ledger', public_key: keyOf(next) })
    await rotated.append(
      { kind: 'key', op: 'retire', role: 'ledger', public_key: keyOf(rotated.ledgerKey) },
      next,
    )
    await rotated.sealHead([rotated.ledgerKey, next])
    const file = JSON.parse(trustIn(rotated)) as { keys: string[] }
    file.keys.push(formatVkey(noteKey(rotated.origin, next.publicKey)))
    const both = await parseTrust(JSON.stringify(file))
    expect(await reportOn(await forge(rotated), both)).toEqual(['verified'])
    expect(await reportOn(await forge(rotated), await trustOf(rotated))).toEqual([
      'failed',
      'CHECKPOINT_KEY_FOREIGN',
    ])
  })

  it('a hand-made trust with another ledger and no quorum fails', async () => {
    const nothing = { ...trust, ledger: 'another.example', quorum: Number.NaN }
    expect((await reportOn(members, nothing)).slice(1).sort()).toEqual([
      'TRUST_LEDGER_WRONG',
      'WITNESS_QUORUM_MISSED',
    ])
  })
})
