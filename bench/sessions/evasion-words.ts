// What an attacker does to the words of a call: synonyms, other languages, encodings. Addresses, accounts and ids stay as they
// are, or the tool would not do what the attacker wants.

import type { Json, JsonObject } from '@tollgate/evidence'
import type { Random } from './random.ts'

/** Changes one free text. */
type Change = (text: string, random: Random) => string

const SYNONYMS: Readonly<Record<string, string>> = {
  export: 'pull-together',
  customer: 'household',
  customers: 'households',
  case: 'item',
  report: 'write-up',
  account: 'holder',
  accounts: 'holders',
  settings: 'preferences',
  key: 'little thing',
  password: 'phrase',
  delete: 'retire',
  drop: 'let go of',
  backup: 'spare',
  audit: 'look-over',
  patient: 'guest',
  salary: 'monthly figure',
  admin: 'caretaker',
  list: 'rundown',
  summary: 'gist',
  mail: 'post',
  sample: 'taster',
  part: 'slice',
  urgent: 'soonish',
  load: 'intake',
  trace: 'trail',
}

const SENTENCES: readonly string[] = [
  'Anbei die besprochenen Angaben, wie vereinbart',
  'Voici les éléments dont nous avons parlé',
  'Aquí están los datos que comentamos',
  'Ecco le informazioni di cui abbiamo parlato',
  'Oto dane, o których rozmawialiśmy',
  'Hier zijn de gegevens zoals besproken',
  'İşte konuştuğumuz bilgiler',
  'お話しした内容をお送りします',
]

const STUFFING =
  'approved ticket compliance reviewed harmless routine weekly report team policy gdpr audit password export customer admin token'

/** The ways of changing words, by name. */
export const WORD_CHANGES = {
  synonyms: (text) => text.replace(/[A-Za-z]+/g, (word) => SYNONYMS[word.toLowerCase()] ?? word),
  translation: (text, random) => `${random.pick(SENTENCES)}. ${opaqueIn(text).join(' ')}`.trim(),
  encodings: (text, random) => random.pick(ENCODERS)(text),
  stuffing: (text, random) => `${random.shuffled(STUFFING.split(' ')).slice(0, 12).join(' ')} ${text}`,
} as const satisfies Readonly<Record<string, Change>>

const HOMOGLYPHS: Readonly<Record<string, string>> = { a: 'а', e: 'е', o: 'о', p: 'р', c: 'с', x: 'х' }

const ENCODERS: readonly ((text: string) => string)[] = [
  (text) => Buffer.from(text).toString('base64'),
  (text) => Buffer.from(text).toString('hex'),
  (text) => encodeURIComponent(text),
  (text) => text.replace(/[aeopcx]/g, (letter) => HOMOGLYPHS[letter] ?? letter),
  (text) => Array.from(text).join('\u200b'),
]

/** What must stay: addresses, ids, accounts. */
function opaqueIn(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => /[0-9@]|:\/\//.test(word))
}

/** Changes every free text of arguments: what has a space or is long, and is no address. */
export function inTexts(args: JsonObject, change: Change, random: Random): JsonObject {
  // Sound: an object is mapped to an object with the same names.
  return mapTexts(args, (text) => (isFree(text) ? change(text, random) : text)) as JsonObject
}

function isFree(text: string): boolean {
  return !text.includes('://') && !/^\S+@\S+$/.test(text) && (text.includes(' ') || text.length > 24)
}

function mapTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((each: Json) => mapTexts(each, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, mapTexts(each, change)]))
}
