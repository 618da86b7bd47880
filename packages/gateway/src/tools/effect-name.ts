// Finds the verb of a tool's name, and the class of that verb with its object.

import type { EffectClass } from '@tollgate/evidence'
import { idiomOf, OPEN, PREVIEW, RUNNING, type NameWord } from './effect-idioms.ts'
import { BINDING, headOf, isKeeper, raised } from './effect-object.ts'
import { stricter, wordsOf } from './effect-words.ts'
import { COMPUTED, firm, loose, setOf, shown, VAGUE, type VagueVerb } from './effect-verbs.ts'

const MAX_NAME = 256

/** Finds the word of a tool's name that implies its effect class; undefined if it has no verb. Ignores `server` at its start. */
export function effectWordInName(name: string, server = ''): NameWord | undefined {
  const all = wordsOf(name.slice(0, MAX_NAME))
  const words = asVerb(without(all, wordsOf(server.slice(0, MAX_NAME))))
  const at = verbAt(words)
  if (at === -1) return shownBy(words.at(-1) ?? '')
  const main = effectWordAt(words, at, all)
  // `get_or_create` and `get_and_delete` do both, and `get_delete_all` may.
  return words.reduce((worst, word, i) => {
    const isNext = i > at && (JOINING.has(words[i - 1] ?? '') || isWorse(main, words, word))
    const effect = isNext ? (firm.get(word) ?? loose.get(word)) : undefined
    return effect !== undefined && stricter(worst.effect, effect) !== worst.effect ? { word, effect } : worst
  }, main)
}

/** Whether a later word makes a name worse: `get_delete_all` may delete, and `run_rollback` rolls back. */
function isWorse({ word: verb, effect }: NameWord, words: readonly string[], word: string): boolean {
  if (effect === 'read') return GRIM.has(word) && words[0] !== PREVIEW
  return RUNNING.has(verb) && firm.get(word) === 'admin'
}

/** `order_status` shows a status. */
function shownBy(word: string): NameWord | undefined {
  return shown.has(word) ? { word, effect: 'read', isShown: true } : undefined
}

const JOINING = setOf('and or then')
const GRIM = setOf('delete remove destroy erase purge wipe execute send pay')

function without(words: readonly string[], server: readonly string[]): readonly string[] {
  const isPrefix =
    server.length > 0 && words.length > server.length && server.every((word, i) => words[i] === word)
  return isPrefix ? words.slice(server.length) : words
}

/** `CategorySearchTool` is a search, and `log_reader` reads. */
function asVerb(words: readonly string[]): readonly string[] {
  const last = words.at(-1) ?? ''
  if (words.length > 1 && last === 'tool') return words.slice(0, -1)
  const verb = [last.slice(0, -2), last.slice(0, -1)].find((each) => firm.has(each))
  const isDoer = last.endsWith('er') || last.endsWith('or')
  const hasVerb = words.some((word) => firm.has(word) || loose.has(word) || VAGUE.has(word))
  return isDoer && !hasVerb && verb !== undefined ? [...words.slice(0, -1), verb] : words
}

/** The place of the verb: a firm one, else one at the beginning, else one in the middle or at the end. */
function verbAt(words: readonly string[]): number {
  const isVerb = (word: string): boolean => loose.has(word) || VAGUE.has(word)
  // `mark_as_read` does not read, and in `text_to_search` something else is the verb.
  const first = words.findIndex(
    (word, i) => (firm.has(word) || (VAGUE.has(word) && word !== 'type')) && !BINDING.has(words[i - 1] ?? ''),
  )
  const last = words.length - 1
  const end = words[last] ?? ''
  // `preview_charge_create` creates nothing.
  if (words[0] === PREVIEW) return 0
  // `list_subscribe` subscribes to a list, and `run_update` updates a run.
  if (first < last && words[first] === 'list' && (firm.get(end) ?? 'read') !== 'read') return last
  if (first < last && RUNNABLE.has(words[first] ?? '') && RECORDING.has(end)) return last
  if (first !== -1 || words.length === 0) return first
  // `transfer_status` shows a transfer. `post_status` may post one.
  if (end === OPEN && last > 0) return last
  if (end === AGENT) return last
  if (shown.has(end) && isThing(words[0] ?? '')) return -1
  if (isVerb(words[0] ?? '') || words[0] === OPEN) return 0
  // `build_log` shows a log. `mail_open` opens a mail to read it.
  if (loose.get(end) === 'read') return last
  return shown.has(end) ? -1 : words.findIndex(isVerb)
}

/** Whether a verb is as often a noun: `order_status` shows, `change_status` changes. */
function isThing(word: string): boolean {
  return THINGS.has(loose.get(word) ?? 'admin') && !ONLY_VERBS.has(word)
}

const THINGS: ReadonlySet<EffectClass> = new Set(['pay', 'write'])
const ONLY_VERBS = setOf('change close stop swap select override exit merge refresh use place')
const AGENT = 'agent'
// Verbs that often name a thing, and the verbs that act on its record.
const RUNNABLE = setOf('run trigger signal')
const RECORDING = setOf('create get update upsert delete remove complete cancel describe')

function effectWordAt(words: readonly string[], at: number, all: readonly string[]): NameWord {
  const word = words[at] ?? ''
  const after = words.slice(at + 1)
  const objects = after.length > 0 ? after : words.slice(0, at)
  const idiom = idiomOf({ word, at, words, after, all })
  if (idiom !== undefined) return idiom
  const vague = VAGUE.get(word)
  if (vague !== undefined) return vagueAt(word, vague, objects, all)
  const effect = firm.get(word) ?? loose.get(word) ?? 'admin'
  if (effect === 'read' && at > 0 && (loose.has(words[0] ?? '') || loose.has(word))) {
    // `order_list` lists orders, `share_list` shares a list, `zoom_view` shows none: only the description tells.
    return { word, effect, isNoun: true, vague: { floor: 'read', otherwise: 'read' } }
  }
  return softened(raised(word, effect, objects, all), firm.has(word), at)
}

/** A vague verb with its object: `generate_url` only computes, and an object such as `access` decides more than the verb. */
function vagueAt(
  word: string,
  vague: VagueVerb,
  objects: readonly string[],
  all: readonly string[],
): NameWord {
  const head = headOf(objects)
  if (COMPUTED.get(word)?.has(head) === true && !isKeeper(head)) return { word, effect: 'read' }
  const base = stricter(vague.floor, 'write')
  const { effect: floor } = raised(word, base, objects, all)
  return floor === base
    ? { word, effect: vague.otherwise, vague }
    : { word, effect: floor, vague: { floor, otherwise: floor } }
}

/** A word that is often a noun: the description can raise it at the beginning, and decides elsewhere. */
function softened(found: NameWord, isFirm: boolean, at: number): NameWord {
  if (isFirm || found.effect === 'read' || found.word.includes(' ')) return found
  const { effect } = found
  return { ...found, isNoun: true, vague: { floor: at === 0 ? effect : 'read', otherwise: effect } }
}
