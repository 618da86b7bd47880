// Checks that the tables of `docs/formats.md` and `docs/verification.md` say what the code does.

import { describe, expect, it } from 'vitest'
import { MAX_ABSENT, MAX_LINKS } from '../src/audit.ts'
import { DELEGATION, MAX_DELEGATION_DEPTH, MAX_ENVELOPE, MAX_PAYLOAD } from '../src/delegation.ts'
import type { Field, Shape } from '../src/fields.ts'
import {
  EvidenceError,
  FINDINGS,
  KINDS,
  parseTrust,
  verifyPack,
  type Json,
  type Receipt,
  type Report,
} from '../src/index.ts'
import { DEFAULT_MAX_BYTES, MAX_DEPTH, MAX_VALUES } from '../src/json.ts'
import {
  BUNDLE_SIZE,
  MANIFEST,
  MAX_MANIFEST_BYTES,
  MAX_MEMBERS,
  MAX_REST_BYTES,
  MAX_SELECTED,
} from '../src/manifest.ts'
import { MAX_NOTE_BYTES, MAX_SIGNATURES } from '../src/note.ts'
import { MAX_LISTED_HASHES, maxSize } from '../src/pack.ts'
import { MAX_HASHES, MAX_PROOF_BYTES } from '../src/proof.ts'
import { MAX_ENVELOPE_BYTES, MAX_PAYLOAD_BYTES } from '../src/receipt.ts'
import { MAX_FINDINGS, MIN_LISTED_PER_CODE, notProvedBy, provedBy, type Basis } from '../src/report.ts'
import { contradictionIn, SHAPES } from '../src/shapes.ts'
import { VERSION_1, VERSION_2 } from '../src/trust.ts'
import { MAX_KEYS } from '../src/verify.ts'
import { readPackCases } from './case.ts'
import { codeIn, FORMATS, sectionOf, tableOf, VERIFICATION, type DocTable } from './doc-page.ts'
import { probesOf, typeOf, type Nested } from './doc-types.ts'

/** Whether a field accepts a value. */
function accepts({ write }: Field, value: Json): boolean {
  try {
    return write(value) !== undefined
  } catch (fault) {
    if (fault instanceof EvidenceError) return false
    throw fault
  }
}

/** Expects the rows of tables to describe a shape: its names, their presence, and their values. */
function describes(rows: DocTable['rows'], shape: Shape, nested: Nested): void {
  expect(rows.map(([name]) => codeIn(name)).sort()).toEqual(shape.map(({ name }) => name))
  for (const [cell = '', type = '', presence] of rows) {
    const name = codeIn(cell)
    const field = shape.find((each) => each.name === name)
    if (!field) continue
    expect(presence, name).toBe(field.optional ? 'may' : 'always')
    const stated = typeOf(type, name, nested)
    const wrong = probesOf(stated).filter((probe) => accepts(field, probe) !== stated.holds(probe))
    expect(wrong, name).toEqual([])
    expect(stated.holds(stated.sample), name).toBe(true)
  }
}

function nestedIn(section: string): Nested {
  return (field) => tableOf(section, `member of \`${field}\``)
}

describe('the fields', () => {
  const common = tableOf(sectionOf(FORMATS, '### Common fields'), 'field').rows

  it('are those of every kind', () => {
    const receipts = sectionOf(FORMATS, '## Receipts')
    const headings = [...receipts.matchAll(/^### `(.*)`$/gm)].map(([, kind]) => kind)
    expect(headings.sort()).toEqual([...KINDS].sort())
  })

  it.each(KINDS)('of `%s` are those of the code', (kind) => {
    const section = sectionOf(FORMATS, `### \`${kind}\``)
    const rows = common.map((row) => (row[0] === '`kind`' ? ['`kind`', `one of \`${kind}\``, 'always'] : row))
    describes([...rows, ...tableOf(section, 'field').rows], SHAPES[kind], nestedIn(section))
  })

  it('of a delegation are those of the code', () => {
    const section = sectionOf(FORMATS, '## Delegation statements')
    describes(tableOf(section, 'member').rows, DELEGATION, nestedIn(section))
  })

  it('of a manifest are those of the code', () => {
    const section = sectionOf(FORMATS, '### Manifest')
    describes(tableOf(section, 'member').rows, MANIFEST, nestedIn(section))
  })

  it.each([
    ['1', VERSION_1],
    ['2', VERSION_2],
  ])('of a trust file of version %s are those of the code', (version, shape) => {
    const section = sectionOf(FORMATS, '## Trust file')
    const rows = tableOf(section, 'member').rows.map(([name = '', type = '', presence = '']) => {
      const own = new RegExp(`${version}: (\`[^\`]+\`)`).exec(type)?.[1]
      return [name, own ?? type, presence]
    })
    const versioned = rows.filter(([name]) => name !== '`tollgate_trust`')
    const rest = shape.filter(({ name }) => name !== 'tollgate_trust')
    describes(versioned, rest, nestedIn(section))
    const field = shape.find(({ name }) => name === 'tollgate_trust')
    expect(field && [0, 1, 2, 3].filter((value) => accepts(field, value))).toEqual([Number(version)])
  })
})

describe('the rules of a session', () => {
  const FIELDS = ['scope_hash', 'scope', 'next_state_hash', 'by', 'because', 'decisions', 'trust']
  const subsets = Array.from({ length: 2 ** FIELDS.length }, (_, mask) =>
    FIELDS.filter((__, i) => (mask >> i) % 2 === 1),
  )

  it.each(tableOf(sectionOf(FORMATS, '### `session`'), '`op`').rows)(
    'allow these fields for %s',
    (op, cell = '') => {
      const stated = cell.split('; or ').map((set) => [...set.matchAll(/`([^`]+)`/g)].map(([, name]) => name))
      const allowed = subsets.filter((names) => {
        const members = Object.fromEntries(names.map((name) => [name, 1]))
        // Sound: `contradictionIn` of a session reads only its `op` and which members it has.
        return (
          contradictionIn({ kind: 'session', op: codeIn(op), ...members } as unknown as Receipt) === undefined
        )
      })
      const sorted = (sets: readonly (readonly (string | undefined)[])[]): string[] =>
        sets.map((set) => [...set].sort().join(' ')).sort()
      expect(sorted(allowed)).toEqual(sorted(stated))
    },
  )
})

describe('the limits', () => {
  const LIMITS: Readonly<Record<string, readonly number[]>> = {
    'bytes of a strict JSON document': [DEFAULT_MAX_BYTES],
    'values of a JSON document': [MAX_VALUES],
    'levels of a JSON document': [MAX_DEPTH],
    'bytes of the payload of a receipt or a delegation, for a writer': [MAX_PAYLOAD_BYTES, MAX_PAYLOAD],
    'bytes of the envelope of a receipt or a delegation': [MAX_ENVELOPE_BYTES, MAX_ENVELOPE],
    'further delegations below a delegation': [MAX_DELEGATION_DEPTH],
    'bytes of a note': [MAX_NOTE_BYTES],
    'signature lines of a note': [MAX_SIGNATURES],
    'bytes of a proof text': [MAX_PROOF_BYTES],
    'hashes of a proof text': [MAX_HASHES],
    'hashes of a list in `range.json` or `consistency.json`': [MAX_LISTED_HASHES],
    'members of a pack': [MAX_MEMBERS],
    'selected entries of a pack': [MAX_SELECTED],
    'entries of a bundle': [BUNDLE_SIZE],
    'bytes of `manifest.json`': [MAX_MANIFEST_BYTES, maxSize('manifest.json')],
    'bytes of `manifest.json` without its list of members': [MAX_REST_BYTES],
    'bytes of a bundle': [maxSize('receipts/a')],
    'bytes of a member of `payloads/`': [maxSize('payloads/a')],
    'bytes of a member of `policy/`': [maxSize('policy/a')],
    'bytes of a member of `keys/`': [maxSize('keys/a')],
    'bytes of any other member': [maxSize('checkpoint'), maxSize('proofs/range.json'), maxSize('a')],
    'members of `keys/` that a verifier keeps': [MAX_KEYS],
    'links of a delegation that a verifier follows': [MAX_LINKS],
    'references to entries outside of the pack that a verifier keeps': [MAX_ABSENT],
    'findings that a report lists': [MAX_FINDINGS],
    'findings of each code that a report lists in any case': [MIN_LISTED_PER_CODE],
  }
  const rows = tableOf(sectionOf(FORMATS, '## Limits'), 'limit').rows

  it('are all in the table', () => {
    expect(rows.map(([limit]) => limit)).toEqual(Object.keys(LIMITS))
  })

  it.each(rows)('%s: %s', (limit = '', value = '') => {
    for (const stated of LIMITS[limit] ?? []) expect(stated).toBe(Number(value.replaceAll(',', '')))
  })

  it('are the same in sentences', () => {
    const stated = new Set(Object.values(LIMITS).flat())
    const prose = `${FORMATS}${VERIFICATION}`.replaceAll(/^```[^]*?^```$/gm, '')
    const numbers = [...prose.matchAll(/[0-9]{1,3}(?:,[0-9]{3})+/g)]
    const unknown = numbers.map(([text]) => Number(text.replaceAll(',', ''))).filter((n) => !stated.has(n))
    // The length of a day in milliseconds.
    expect([...new Set(unknown)]).toEqual([86_400_000])
  })
})

describe('the steps', () => {
  const steps = sectionOf(VERIFICATION, '## Steps')

  it('give every finding', () => {
    expect(Object.keys(FINDINGS).filter((code) => !steps.includes(`\`${code}\``))).toEqual([])
  })

  it('give no other finding', () => {
    const OTHER =
      /^(?:NOTE_.*|CHECKPOINT_ORIGIN_WRONG|ALLOW|ESCALATE|DENY|UNKNOWN|GRANTED|REFUSED|HASH|ID|PAYLOAD|SIG|KEYID)$/
    const codes = [...steps.matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, code = '']) => code)
    expect(codes.filter((code) => !Object.hasOwn(FINDINGS, code) && !OTHER.test(code))).toEqual([])
  })
})

describe('the report', () => {
  const section = sectionOf(VERIFICATION, '## Report')

  it('has the members of the tables', async () => {
    const reports: Report[] = []
    for (const { name, pack, trust = '' } of readPackCases()) {
      const shown = ['range-complete', 'selection', 'witnessed', 'payload-changed', 'signature-flipped']
      if (shown.includes(name)) reports.push(await verifyPack(pack, { trust: await parseTrust(trust) }))
    }
    const namesIn = (head: string): string[] =>
      tableOf(section, head)
        .rows.map(([name]) => codeIn(name))
        .sort()
    const found = (objects: readonly object[]): string[] => [...new Set(objects.flatMap(Object.keys))].sort()
    expect(found(reports)).toEqual(namesIn('member'))
    expect(found(reports.map(({ summary }) => summary))).toEqual(namesIn('member of `summary`'))
    expect(found(reports.flatMap(({ findings }) => findings))).toEqual([
      'code',
      'index',
      'member',
      'sentence',
    ])
  })

  it.each([
    ['### Proved', provedBy],
    ['### Not proved', notProvedBy],
  ] as const)('has the sentences of %s', (heading, sentencesOf) => {
    const { rows } = tableOf(sectionOf(VERIFICATION, heading), 'condition')
    const patterns = rows.map(([, sentence = '']) => patternOf(sentence))
    const lines = new Set(BASES.flatMap(sentencesOf))
    const unknown = [...lines].filter((line) => !patterns.some((pattern) => pattern.test(line)))
    expect(unknown).toEqual([])
    const unused = patterns.filter((pattern) => ![...lines].some((line) => pattern.test(line)))
    expect(unused).toEqual([])
  })
})

/** Bases of reports that together lead to every sentence, in the singular and in the plural. */
const BASES: readonly Basis[] = [1, 2].flatMap((n) =>
  [undefined, { start: 0, end: 5 }, { start: 1, end: 5 }].flatMap((range) =>
    (['verified', 'integrity only'] as const).flatMap((level) =>
      [undefined, 3].flatMap((continues) =>
        [[], [{ name: 'w', time: 0 }]].map((witnesses) => ({
          ...{ level, ledger: 'ledger.example/x', size: 5, range, selected: n, witnesses, continues },
          summary: { receipts: 5, kinds: {}, verdicts: {}, effects: {}, open: n },
          ...{ unknown: n, unseen: { references: n, policies: n }, policiesMissing: n },
        })),
      ),
    ),
  ),
)

const SINGULAR: readonly (readonly [many: string, one: string])[] = [
  ['entries are', 'entry is'],
  ['allowed calls', 'allowed call'],
  ['calls', 'call'],
  ['references', 'reference'],
  ['decisions', 'decision'],
  ['policies', 'policy'],
]

/** The pattern of a sentence with `{…}` for a value. */
function patternOf(sentence: string): RegExp {
  const plain = sentence.replaceAll('\\`', '`').replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&')
  const [many = '', one = ''] =
    SINGULAR.find(([words]) => new RegExp(`\\{.*\\} (?:further |selected )?${words}`).test(plain)) ?? []
  const counted = many === '' ? plain : plain.replace(many, `(?:${many}|${one})`)
  return new RegExp(`^${counted.replaceAll(/\{[^}]*\}/g, '.+')}$`)
}
