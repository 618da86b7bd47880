// Finds the verb of a tool's name, and the class of that verb with its object.

import type { EffectClass } from '@tollgate/evidence'
import { stricter, wordsOf } from './effect-words.ts'
import {
  COMPUTED,
  firm,
  GRAVE,
  KEEPERS,
  loose,
  MESSAGES,
  MONEY,
  RUNS,
  setOf,
  shown,
  VAGUE,
  type VagueVerb,
} from './effect-verbs.ts'

/** The word of a name that implies an effect class. `vague` is set if the word alone does not decide the class. */
export interface NameWord {
  readonly word: string
  readonly effect: EffectClass
  readonly vague?: VagueVerb
  /** Whether it is often a noun: `message_from_link` reads a message. The first word of the description can tell. */
  readonly isNoun?: boolean
}

const MAX_NAME = 256

/** Finds the word of a tool's name that implies its effect class; undefined if it has no verb. Ignores `server` at its start. */
export function effectWordInName(name: string, server = ''): NameWord | undefined {
  const all = wordsOf(name.slice(0, MAX_NAME))
  const words = without(all, wordsOf(server.slice(0, MAX_NAME)))
  const at = verbAt(words)
  if (at === -1) return shownBy(words.at(-1) ?? '')
  const main = effectWordAt(words, at, all)
  // `get_or_create` and `get_and_delete` do both, and `get_delete_all` may.
  return words.reduce((worst, word, i) => {
    const isNext = i > at && (JOINING.has(words[i - 1] ?? '') || (main.effect === 'read' && GRIM.has(word)))
    const effect = isNext ? (firm.get(word) ?? loose.get(word)) : undefined
    return effect !== undefined && stricter(worst.effect, effect) !== worst.effect ? { word, effect } : worst
  }, main)
}

function shownBy(word: string): NameWord | undefined {
  return shown.has(word) ? { word, effect: 'read', vague: { floor: 'read', otherwise: 'read' } } : undefined
}

const JOINING = setOf('and or then')
const GRIM = setOf('delete remove destroy erase purge wipe execute send pay create update')

function without(words: readonly string[], server: readonly string[]): readonly string[] {
  const isPrefix =
    server.length > 0 && words.length > server.length && server.every((word, i) => words[i] === word)
  return isPrefix ? words.slice(server.length) : words
}

/** The place of the verb: a firm one, else one at the beginning, else one in the middle or at the end. */
function verbAt(words: readonly string[]): number {
  const isVerb = (word: string): boolean => loose.has(word) || VAGUE.has(word)
  // `mark_as_read` does not read, and in `text_to_search` something else is the verb.
  const first = words.findIndex(
    (word, i) => (firm.has(word) || (VAGUE.has(word) && word !== 'type')) && !BINDING.has(words[i - 1] ?? ''),
  )
  // `list_subscribe` subscribes to a list.
  const isList =
    words[first] === 'list' && words.length > first + 1 && (firm.get(words.at(-1) ?? '') ?? 'read') !== 'read'
  if (isList) return words.length - 1
  if (first !== -1 || words.length === 0) return first
  const last = words.length - 1
  const end = words[last] ?? ''
  // `transfer_status` shows a transfer. `post_status` may post one.
  if (end === OPEN && last > 0) return last
  if (shown.has(end) && THINGS.has(loose.get(words[0] ?? '') ?? 'admin')) return -1
  if (isVerb(words[0] ?? '') || words[0] === OPEN) return 0
  // `build_log` shows a log. `mail_open` opens a mail to read it.
  if (loose.get(end) === 'read') return last
  return shown.has(end) ? -1 : words.findIndex(isVerb)
}

const THINGS: ReadonlySet<EffectClass> = new Set(['pay', 'write'])
const OPEN = 'open'
const OPENED = setOf(
  'node nodes note notes file files page url link document mail message email site attachment',
)
const LIKE_SEARCH = setOf('search lookup')
const RUNNING = setOf('run start perform execute')
// Languages in which nothing can be written.
const READING_LANGUAGES = setOf('soql sosl promql logql traceql jql kql')
const HTTP = setOf('post put patch')

function effectWordAt(words: readonly string[], at: number, all: readonly string[]): NameWord {
  const word = words[at] ?? ''
  const after = words.slice(at + 1)
  const objects = after.length > 0 ? after : words.slice(0, at)
  // Opening a ticket or an account creates one.
  if (word === OPEN) return { word, effect: at > 0 || OPENED.has(after[0] ?? '') ? 'read' : 'write' }
  if (RUNNING.has(word) && LIKE_SEARCH.has(words.at(-1) ?? '')) return { word, effect: 'read' }
  if (RUNNING.has(word) && after.some((each) => READING_LANGUAGES.has(each))) return { word, effect: 'read' }
  // `run_details` shows a run, and `pipeline_run` may show one: its description decides.
  if (word === 'run' && shown.has(after[0] ?? '')) return { word, effect: 'read' }
  if (word === 'run' && at > 0 && after.length === 0)
    return { word, effect: 'execute', vague: { floor: 'read', otherwise: 'execute' } }
  if (words[0] === 'api' && HTTP.has(word))
    return { word, effect: 'write', vague: { floor: 'write', otherwise: 'write' } }
  if (word === 'request' && at === 0) return { word, effect: 'write' }
  const vague = VAGUE.get(word)
  const effect = firm.get(word) ?? loose.get(word) ?? 'admin'
  if (vague === undefined && effect === 'read' && at > 0 && loose.has(words[0] ?? '')) {
    // `order_list` lists orders, `share_list` shares a list: only the description tells.
    return { word, effect, vague: { floor: 'read', otherwise: 'read' } }
  }
  if (vague === undefined) return softened(raised(word, effect, objects, all), firm.has(word), at)
  if (COMPUTED.get(word)?.has(headOf(objects)) === true && !isGrave(objects)) return { word, effect: 'read' }
  // An object such as `access` decides more than the verb.
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

const MAKING = setOf(
  'create add make new place initiate issue start perform process write put insert register replace submit capture post apply close',
)
const KEEPING = setOf(
  'create add put insert register delete remove rotate manage generate replace write issue assign unassign set attach detach',
)
const CHANGING = setOf('update edit change modify')
const SETTING = setOf('set put update edit change')

/** The class of a verb with its object. A read is not raised: `get_order` orders nothing. */
function raised(
  word: string,
  effect: EffectClass,
  objects: readonly string[],
  all: readonly string[],
): NameWord {
  if (effect === 'read') return { word, effect }
  const head = headOf(objects)
  const to = (raise: EffectClass, object: string): NameWord =>
    stricter(effect, raise) === effect ? { word, effect } : { word: `${word} … ${object}`, effect: raise }
  // A comment that is posted in a tracker is a write. One that is sent goes to a person.
  if (effect === 'send' && word !== 'send' && COMMENTS.has(objects.at(-1) ?? ''))
    return { word, effect: 'write' }
  // Taking a label off a thing deletes nothing.
  if (DELETING.has(word) && word !== 'delete' && MARKS.has(head)) return { word, effect: 'write' }
  if (word === 'push' && PUBLISHED.has(head)) return { word, effect: 'send' }
  const grave = objects.find((each) => GRAVE.has(each))
  if (grave !== undefined) return to('admin', grave)
  if (SETTING.has(word) && objects.some((each) => CONFIG.has(each))) return to('admin', 'config')
  if (CLIENTS.has(head) && all.some((each) => IDENTITY.has(each))) return to('admin', head)
  if (isKept(word, head)) return to('admin', head)
  if (MONEY.has(head) && (MAKING.has(word) || (head === 'subscription' && CHANGING.has(word))))
    return to('pay', head)
  if (isPaid(word, head)) return to('pay', head)
  if (RUNS.has(head) && MAKING.has(word)) return to('execute', head)
  if (word === 'forward' && objects.includes('port')) return { word: 'port … forward', effect: 'execute' }
  if (MESSAGES.has(head) && (MAKING.has(word) || word === 'push')) return to('send', head)
  return { word, effect }
}

const COMMENTS = setOf('comment comments note notes review')
const CONFIG = setOf('config configuration')
// The parts of a login service that decide who may enter.
const IDENTITY = setOf('auth iam oauth identity sso okta')
const CLIENTS = setOf('application client server connection')
const HOOKS = setOf('webhook webhooks deployment deployments')
const ROLES = setOf(
  'role roles policy policies member members membership memberships secret secrets token tokens certificate certificates key keys',
)
const DELETING = setOf('delete remove')

const MARKS = setOf(
  'tag tags label labels reaction reactions favorite favorites star watcher watchers assignee attendee attendees',
)
const PUBLISHED = setOf('image package artifact registry release')
const ASSIGNING = setOf('assign unassign')
const PEOPLE = setOf('user users member members')

function isKept(word: string, head: string): boolean {
  if (!KEEPERS.has(head)) return false
  // A person who is assigned to a card gets no rights.
  if (ASSIGNING.has(word) && PEOPLE.has(head)) return false
  if (DELETING.has(word)) return !HOOKS.has(head)
  return KEEPING.has(word) || (CHANGING.has(word) && (ROLES.has(head) || HOOKS.has(head)))
}

// Changing one of these changes what is paid.
const DUE = setOf('subscription transaction transfer payment')
const MOVED = setOf('money funds payment payments payout')

function isPaid(word: string, head: string): boolean {
  if (word === 'send') return MOVED.has(head)
  return (MONEY.has(head) && MAKING.has(word)) || (DUE.has(head) && CHANGING.has(word))
}

function isGrave(objects: readonly string[]): boolean {
  return KEEPERS.has(headOf(objects))
}

const BINDING = setOf('by to from for of in with on at as into via against')

/** The thing that a verb acts on: the last word before a preposition. */
function headOf(objects: readonly string[]): string {
  const end = objects.findIndex((word) => BINDING.has(word))
  // `convert_to_markdown` has its object after the preposition.
  return (end > 0 ? objects.slice(0, end) : objects).at(-1) ?? ''
}
