import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { concat, decodeUtf8, latin1, toBase64, utf8 } from '../src/bytes.ts'
import { canonicalize, parseCanonical } from '../src/canonical.ts'
import { cosignCheckpoint, parseCheckpoint, sealCheckpoint } from '../src/checkpoint.ts'
import { EvidenceError } from '../src/error.ts'
import { sha256 } from '../src/hash.ts'
import { parseJson } from '../src/json.ts'
import { KINDS } from '../src/shapes.ts'
import { formatNote, formatVkey, noteKey, parseNote, parseVkey } from '../src/note.ts'
import { formatProof, parseProof } from '../src/proof.ts'
import { parseReceipt, PAYLOAD_TYPE, sealReceipt } from '../src/receipt.ts'
import { readVectors } from './json-vectors.ts'
import { ORIGIN, sampleOf, signingKey } from './samples.ts'
import { runs } from './runs.ts'

/** A parser to fuzz. To add another, add a row to `PARSERS`. */
interface Row {
  readonly name: string
  readonly parse: (input: Uint8Array | string) => unknown
  /** Seeds of the mutations, most of them valid. */
  readonly seeds: readonly Uint8Array[]
  /** Writes an accepted input again. The result must equal the input. */
  readonly rewrite?: (input: Uint8Array) => string
}

const LIMIT = 1 << 16
const RUNS = 2000

const key = await signingKey(1)
const witness = { name: 'witness.example/w1', key: await signingKey(2) }
const head = { origin: ORIGIN, size: 12, root: sha256('root') }
const checkpoint = await sealCheckpoint(head, [key])
const cosigned = await cosignCheckpoint(checkpoint, witness, 1_769_903_999)
const receipts = await Promise.all(KINDS.map((kind) => sealReceipt(sampleOf(kind, key.publicKey), key)))
const hashes = [sha256('a'), sha256('b'), sha256('c')]

const PARSERS: readonly Row[] = [
  {
    name: 'parseJson',
    parse: (input) => parseJson(input, { maxBytes: LIMIT }),
    seeds: readVectors('json').map(({ document }) => document),
  },
  {
    name: 'parseCanonical',
    parse: (input) => parseCanonical(input, LIMIT),
    seeds: [
      ...receipts.map(({ payload }) => payload),
      ...readVectors('canonical').map(({ document }) => document),
    ],
    rewrite: (input) => canonicalize(parseCanonical(input, LIMIT)),
  },
  {
    name: 'parseNote',
    parse: parseNote,
    seeds: [checkpoint, cosigned, 'one\n\ntwo\n\n— n AAAAAAE=\n'].map(utf8),
    rewrite: (input) => formatNote(parseNote(input)),
  },
  {
    name: 'parseCheckpoint',
    parse: parseCheckpoint,
    seeds: [checkpoint, cosigned].map(utf8),
    rewrite: (input) => {
      const { origin, size, root, note } = parseCheckpoint(input)
      return formatNote({ ...note, text: `${origin}\n${size}\n${toBase64(root)}\n` })
    },
  },
  {
    name: 'parseVkey',
    parse: (input) => parseVkey(typeof input === 'string' ? input : (decodeUtf8(input) ?? latin1(input))),
    seeds: [noteKey(ORIGIN, key.publicKey), noteKey(witness.name, witness.key.publicKey, 4)].map((known) =>
      utf8(formatVkey(known)),
    ),
    rewrite: (input) => formatVkey(parseVkey(decodeUtf8(input) ?? latin1(input))),
  },
  {
    name: 'parseProof',
    parse: parseProof,
    seeds: [
      utf8(formatProof({ index: 5, hashes, checkpoint: cosigned })),
      utf8(formatProof({ index: 0, hashes: [], checkpoint })),
      utf8(formatProof({ index: 5, hashes, checkpoint }).replace('\n', '\nextra AAAA\n')),
    ],
    // The extra line is allowed and dropped.
    rewrite: (input) => {
      const [, extra = ''] = /^[^\n]*\n(extra [^\n]*\n)/.exec(decodeUtf8(input) ?? '') ?? []
      return formatProof(parseProof(input)).replace('\n', `\n${extra}`)
    },
  },
  {
    name: 'parseReceipt',
    parse: parseReceipt,
    seeds: receipts.map(({ envelope }) => envelope),
    rewrite: (input) => {
      const { payload, keyId, signature } = parseReceipt(input)
      const signatures = [{ keyid: keyId, sig: toBase64(signature) }]
      return canonicalize({ payload: toBase64(payload), payloadType: PAYLOAD_TYPE, signatures })
    },
  },
  // Rows for the archive, the manifest, the trust file and the pack go here.
]

/** Expects a value or an EvidenceError. Returns whether it was a value. */
function check({ parse }: Row, input: Uint8Array | string): boolean {
  try {
    parse(input)
    return true
  } catch (fault) {
    if (!(fault instanceof EvidenceError)) throw fault
    expect(fault.code).toMatch(/^[A-Z0-9]+(?:_[A-Z0-9]+)+$/)
    expect(fault.message.length).toBeLessThan(500)
    return false
  }
}

/** As `check`, for the bytes and their texts. An accepted input must have one form. */
function checkAll(row: Row, input: Uint8Array): boolean {
  const text = decodeUtf8(input)
  if (text === undefined) check(row, latin1(input))
  else expect(check(row, text)).toBe(check(row, input))
  const accepted = check(row, input)
  if (accepted && row.rewrite) expect(row.rewrite(input)).toBe(text ?? latin1(input))
  return accepted
}

describe.each(PARSERS)('$name', (row) => {
  it('accepts some of the seeds', () => {
    expect(row.seeds.filter((seed) => check(row, seed)).length).toBeGreaterThan(0)
  })

  it('returns a value or throws an EvidenceError for random bytes', () => {
    const law = (input: Uint8Array): void => {
      checkAll(row, input)
    }
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), law), { seed: 101, numRuns: runs(RUNS) })
  })

  it('returns a value or throws an EvidenceError for random text', () => {
    const law = (input: string): void => {
      check(row, input)
    }
    const unit = fc.oneof(
      fc.constantFrom(...TOKENS),
      fc.nat(0xffff).map((code) => String.fromCharCode(code)),
    )
    fc.assert(
      fc.property(
        fc.array(unit, { maxLength: 200 }).map((units) => units.join('')),
        law,
      ),
      {
        seed: 102,
        numRuns: runs(RUNS),
      },
    )
  })

  it('returns a value or throws an EvidenceError for mutations, and accepts one form of each', () => {
    const seen = { accepted: 0, refused: 0 }
    const law = (input: Uint8Array): void => {
      seen[checkAll(row, input) ? 'accepted' : 'refused']++
    }
    fc.assert(fc.property(mutated(row.seeds), law), { seed: 103, numRuns: runs(RUNS) })
    expect(seen.accepted).toBeGreaterThan(0)
    expect(seen.refused).toBeGreaterThan(runs(RUNS) / 4)
  })
})

// Tokens of the formats. Inserting them reaches more code than flipping bits.
const TOKENS = [
  ...[
    '{',
    '}',
    '[',
    ']',
    '"',
    ':',
    ',',
    '\\',
    '\n',
    '\n\n',
    ' ',
    '+',
    '/',
    '=',
    '==',
    '-',
    '.',
    '—',
    '— ',
    '\r\n',
  ],
  ...[
    '0',
    '1',
    '-0',
    '01',
    '1e400',
    '1e21',
    '9007199254740991',
    '9007199254740992',
    '18446744073709551616',
    '0.5',
  ],
  ...[
    'null',
    'true',
    '""',
    '"v":1',
    '"v":2',
    '"kind":"decision"',
    '"__proto__":1',
    'constructor',
    'AAAA',
    'Zh==',
  ],
  ...[
    'index 5',
    'extra ',
    'c2sp.org/tlog-proof@v1',
    ORIGIN,
    '\\u0061',
    '\\ud800',
    '\u0000',
    '\u007f',
    '\ufeff',
    'é',
  ],
]

/** Mutations of valid inputs: bytes and tokens inserted, parts cut, doubled, moved, or taken from another input. */
function mutated(seeds: readonly Uint8Array[]): fc.Arbitrary<Uint8Array> {
  const seed = fc.constantFrom(...seeds)
  const place = fc.nat({ max: 1 << 20 })
  const length = fc.oneof(fc.nat(4), fc.nat(300))
  const edit = fc.oneof(
    fc.record({ at: place, cut: fc.constant(1), put: fc.uint8Array({ minLength: 1, maxLength: 1 }) }),
    fc.record({ at: place, cut: fc.nat(2), put: fc.constantFrom(...TOKENS).map(utf8) }),
    fc.record({ at: place, cut: length, put: fc.constant(new Uint8Array()) }),
    fc.record({ at: place, cut: fc.constant(0), put: fc.tuple(seed, place, length).map(partOf) }),
    fc.record({ at: place, cut: fc.constant(1 << 20), put: fc.constant(new Uint8Array()) }),
  )
  return fc
    .tuple(seed, fc.array(edit, { maxLength: 4 }))
    .map(([start, edits]) => edits.reduce((input, change) => applied(input, change), start))
}

function applied(input: Uint8Array, edit: { at: number; cut: number; put: Uint8Array }): Uint8Array {
  const at = edit.at % (input.length + 1)
  return concat(input.subarray(0, at), edit.put, input.subarray(at + edit.cut))
}

function partOf([input, at, length]: [Uint8Array, number, number]): Uint8Array {
  const start = at % (input.length + 1)
  return input.subarray(start, start + length)
}
