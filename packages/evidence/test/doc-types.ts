// The types of `docs/formats.md`, read from the page itself: whether a value belongs to a type, and sample values of it.

import { isList, isObject, type Json } from '../src/index.ts'
import { codeIn, exampleOf, type DocTable } from './doc-page.ts'

/** Returns the table of the members of an object, by the name of its field. */
export type Nested = (field: string) => DocTable

const patterns = new Map(
  exampleOf('patterns').map(([type, pattern]) => [type, new RegExp(`^(?:${pattern})$`)]),
)
const words = new Map(exampleOf('words').map(([type, list]) => [type, list.split(' ')]))
const reasons = exampleOf('reasons').flatMap(([, list]) => list.split(' '))

/** A type of the page, for one field. */
interface DocType {
  readonly holds: (value: Json) => boolean
  /** A valid value. */
  readonly sample: Json
}

/** Reads the cell of a type. `field` names the table of an object. */
export function typeOf(cell: string, field: string, nested: Nested): DocType {
  if (cell.endsWith(', at least one')) return atLeastOne(typeOf(codeIn(cell), field, nested))
  if (cell.endsWith(', or null')) return orNull(typeOf(codeIn(cell), field, nested))
  if (cell.startsWith('one of ')) return oneOf([...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word))
  const type = codeIn(cell) || cell
  const [, kind, of, most] = /^(list|array)\((.+), ([0-9]+)\)$/.exec(type) ?? []
  if (kind !== undefined)
    return listOf(typeOf(`\`${of ?? ''}\``, field, nested), Number(most), kind === 'list')
  const [, name = type, limit] = /^(text|count)(?:\(([0-9]+)\))?$/.exec(type) ?? []
  if (name === 'text') return textOf(Number(limit ?? Infinity))
  if (name === 'count') return countOf(Number(limit ?? Number.MAX_SAFE_INTEGER))
  if (name === 'object') return objectOf(nested(field), nested)
  return named(type)
}

function named(type: string): DocType {
  const pattern = patterns.get(type)
  if (words.has(type)) return oneOf(words.get(type) ?? [])
  switch (type) {
    case '1':
      return only(1)
    case 'true':
      return only(true)
    case 'flag':
      return { holds: (value) => typeof value === 'boolean', sample: false }
    case 'reason':
      return oneOf(reasons)
    case 'origin':
      return { holds: (value) => isText(value, 120) && !NOT_IN_NAMES.test(value), sample: 'ledger.example/x' }
    case 'moment':
      return { holds: (value) => matches(value, pattern) && isDay(value), sample: SAMPLES[type] ?? '' }
    case 'member name':
      return { holds: (value) => matches(value, pattern) && value.length <= 100, sample: 'keys/a' }
  }
  if (!pattern) throw new Error(`the page does not say what \`${type}\` is`)
  return { holds: (value) => matches(value, pattern), sample: SAMPLES[type] ?? '' }
}

const NOT_IN_NAMES = /[+\p{Cc}\p{Cf}\p{Cs}\p{Zs}\p{Zl}\p{Zp}]/u
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

const SAMPLES: Readonly<Record<string, string>> = {
  hash: 'a'.repeat(64),
  bytes32: `${'A'.repeat(43)}=`,
  moment: '2026-01-31T12:00:00.000Z',
  day: '2026-01-31',
  decimal: '0.5000',
  writer: 'gw-1',
  label: 'personal',
  finding: 'HIDDEN_TEXT',
  'request type': 'image',
  author: 'server:files',
}

function isText(value: Json, most: number): value is string {
  return typeof value === 'string' && value.length >= 1 && value.length <= most
}

function matches(value: Json, pattern: RegExp | undefined): value is string {
  return typeof value === 'string' && pattern?.test(value) === true
}

function isDay(moment: string): boolean {
  const time = Date.parse(moment)
  return !Number.isNaN(time) && new Date(time).toISOString() === moment
}

function only(word: Json): DocType {
  return { holds: (value) => value === word, sample: word }
}

function oneOf(allowed: readonly string[]): DocType {
  return { holds: (value) => allowed.some((word) => word === value), sample: allowed[0] ?? '' }
}

function textOf(most: number): DocType {
  const isAny = most === Infinity
  return {
    holds: (value) => (isAny ? typeof value === 'string' : isText(value, most) && !CONTROL.test(value)),
    sample: 'a text',
  }
}

function countOf(most: number): DocType {
  return {
    holds: (value) => typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most,
    sample: most,
  }
}

function listOf(item: DocType, most: number, isSet: boolean): DocType {
  return {
    holds: (value) =>
      isList(value) &&
      value.length <= most &&
      value.every(item.holds) &&
      (!isSet || new Set(value).size === value.length),
    sample: [item.sample],
  }
}

function atLeastOne(list: DocType): DocType {
  return { ...list, holds: (value) => list.holds(value) && isList(value) && value.length > 0 }
}

function orNull(type: DocType): DocType {
  return { ...type, holds: (value) => value === null || type.holds(value) }
}

function objectOf({ rows }: DocTable, nested: Nested): DocType {
  const members = rows.map(([name, cell = '', presence]) => ({
    name: codeIn(name),
    type: typeOf(cell, codeIn(name), nested),
    optional: presence === 'may',
  }))
  return {
    holds: (value) =>
      isObject(value) &&
      Object.keys(value).every((key) => members.some(({ name }) => name === key)) &&
      members.every(({ name, type, optional }) => {
        const member = value[name]
        return member === undefined ? optional : type.holds(member)
      }),
    sample: Object.fromEntries(members.map(({ name, type }) => [name, type.sample])),
  }
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** Values on both sides of every limit and pattern. */
export const PROBES: readonly Json[] = [
  ...[null, true, false, 0, 1, 2, -1, 1.5, 8, 9, 64, 65, 100, 101, 10_000, 10_001, 65_536, 65_537],
  ...[
    2 ** 53 - 1,
    2 ** 53,
    '',
    ' ',
    'a',
    'A',
    'A_1',
    'A-B',
    'a-b',
    '-a',
    'a_b',
    'a.b',
    'a/b',
    '/a',
    'a//b',
    '../a',
  ],
  ...[32, 33, 63, 64, 65, 100, 101, 120, 121, 256, 257, 260, 261, 500, 501, 1000, 1001].map((n) =>
    'x'.repeat(n),
  ),
  ...[64, 65].flatMap((n) => ['A'.repeat(n), '0'.repeat(n), `A${'b'.repeat(n)}`]),
  ...['😀'.repeat(128), '😀'.repeat(129), 'é'.repeat(256), 'a\u007fb', 'a\u009fb', 'a\nb', 'a\u00a0b'],
  ...['a\u00adb', 'a\u200bb', 'a\u2028b', 'a+b', 'a b', 'Ä', 'A'.repeat(43)],
  ...Array.from(BASE64, (letter) => `${'A'.repeat(42)}${letter}=`),
  ...['A'.repeat(44), 'f'.repeat(64), 'F'.repeat(64), 'g'.repeat(64)],
  ...[
    '2024-02-29',
    '2000-02-29',
    '2100-02-29',
    '2023-02-29',
    '0000-02-29',
    '2026-02-30',
    '2026-04-31',
    '2026-00-10',
    '2026-13-01',
  ].flatMap((day) => [day, `${day}T00:00:00.000Z`]),
  ...[
    '2026-01-31T24:00:00.000Z',
    '2026-01-31T23:59:60.000Z',
    '2026-01-31T12:00:00Z',
    '2026-01-31T12:00:00.000z',
  ],
  ...['9999-12-31T23:59:59.999Z', '2026-01-31T12:00:00.000Z\n', '0.0000', '-0.0000', '-0.0001', '00.0000'],
  ...[
    '1.00000',
    '.5000',
    '1234567890.0000',
    '12345678901.0000',
    '+1.0000',
    'server:a',
    'server:',
    'server:A',
  ],
  ...[`server:${'a'.repeat(32)}`, `server:${'a'.repeat(33)}`, 'server:a.b', 'constructor', '__proto__'],
  ...[[], {}, [null], ['a', 'a'], ['a', 'b'], ['read', 'pay'], ['A', 'B'], [0, 1], [0, 0], [[]]],
  ...[7, 8, 16, 17, 32, 33, 64, 65, 256, 257].map((n) =>
    Array.from({ length: n }, (_, i) => i.toString(16).padStart(64, '0')),
  ),
  ...[32, 33].flatMap((n) => [
    Array.from({ length: n }, (_, i) => `l${i}`),
    Array.from({ length: n }, (_, i) => `L${i}`),
  ]),
]

/** The probes, and changes of a valid value of a type. */
export function probesOf({ sample }: DocType): readonly Json[] {
  return [...PROBES, sample, ...changesOf(sample)]
}

function changesOf(value: Json): readonly Json[] {
  if (isList(value)) return [...PROBES, ...changesOf(value[0] ?? null)].map((item) => [item])
  if (!isObject(value)) return []
  const members = Object.entries(value)
  return [
    { ...value, extra: 1 },
    ...members.map(([name]) => Object.fromEntries(members.filter(([other]) => other !== name))),
    ...members.flatMap(([name]) => PROBES.map((probe) => ({ ...value, [name]: probe }))),
  ]
}
