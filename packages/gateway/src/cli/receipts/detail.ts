// Formats a receipt with one line per field, important fields first.

import process from 'node:process'
import { reasonOf } from '@tollgate/evidence'
import { THREAT_CODES } from '@tollgate/kernel/detection'
import { sentence, type ShownEntry } from './describe.ts'
import { fitted } from '../program/fit.ts'
import { moment, pairs, shown } from '../program/table.ts'
import type { Colors } from '../program/terminal.ts'

// These fields come first. The others follow in the order of the receipt.
const FIRST = [
  'kind',
  'time',
  'tenant',
  'principal',
  'session',
  'door',
  'assurance',
  'tool',
  'effect_class',
  'verdict',
  'reason_code',
  'rung',
  'rule',
  'decision',
  'status',
  'delivery',
  'labels',
  'findings',
  'compliance',
  'elevation',
  'trust',
  'delegation',
  'approval',
]

/** Formats all fields of a receipt. */
export function detail(entry: ShownEntry, paint: Colors): string {
  // Sound: a receipt is plain data, and the type of each value is checked before use.
  const receipt = entry.receipt as unknown as Readonly<Record<string, unknown>>
  const rest = Object.keys(receipt).filter((name) => !FIRST.includes(name))
  const names = [...FIRST.filter((name) => receipt[name] !== undefined), ...rest]
  const rows = names.flatMap((name) => rowsOf(name, receipt[name]))
  const head = fitted(sentence(entry, paint), 4, process.stdout.columns)
  return [head, '', pairs([['id', entry.id], ...rows])].join('\n')
}

type DetailRow = readonly [name: string, value: string]

/** Returns the lines of a field: one per value for lists, one in total for labels. */
function rowsOf(name: string, value: unknown): readonly DetailRow[] {
  if (!Array.isArray(value)) return [[name, inWords(name, value)]]
  if (name === 'labels' || name === 'compliance') return [[name, value.map(spread).join(', ')]]
  return value.length === 0
    ? [[name, 'none']]
    : value.map((each, i) => [i === 0 ? name : '', inWords(name, each)] as const)
}

const DELIVERY_TEXTS: Readonly<Record<string, string>> = {
  full: 'the whole result is forwarded',
  redacted: 'the result is forwarded without some parts',
  withheld: 'the result is not forwarded',
}

function inWords(name: string, value: unknown): string {
  if (typeof value !== 'string') return spread(value)
  if (name === 'trust') return `${pointsOf(value)} of 1000, after this receipt`
  const text = shown(value)
  const about = meaningOf(name, value)
  return about === undefined ? text : `${text}: ${about}`
}

function meaningOf(name: string, value: string): string | undefined {
  switch (name) {
    case 'reason_code':
      return reasonOf(value)?.sentence
    case 'findings':
      return Object.hasOwn(THREAT_CODES, value) ? THREAT_CODES[value]?.about : undefined
    case 'delivery':
      return DELIVERY_TEXTS[value]
    default:
      return undefined
  }
}

function spread(value: unknown): string {
  if (typeof value === 'string') return shown(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return Object.entries(value)
    .map(
      ([name, each]) => `${name} ${shown(typeof each === 'string' ? momentIn(each) : JSON.stringify(each))}`,
    )
    .join(', ')
}

function momentIn(text: string): string {
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) ? moment(text) : text
}

/** Returns a trust score without its fraction. */
export function pointsOf(trust: string): string {
  return trust.split('.', 1)[0] ?? trust
}
