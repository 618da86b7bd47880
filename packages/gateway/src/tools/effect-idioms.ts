// The verbs of names whose class depends on the words beside them: `run_search` searches, `open_shell` starts a program.

import type { EffectClass } from '@tollgate/evidence'
import { headOf, raised } from './effect-object.ts'
import { READING_LANGUAGES, setOf, type VagueVerb } from './effect-verbs.ts'
import { claimsReading } from './effect-words.ts'

/** The word of a name that implies an effect class. `vague` is set if the word alone does not decide the class. */
export interface NameWord {
  readonly word: string
  readonly effect: EffectClass
  readonly vague?: VagueVerb
  /** Whether it is often a noun: `message_from_link` reads a message. The first word of the description can tell. */
  readonly isNoun?: boolean
  /** Whether it is a thing that is shown. A description has to confirm it: `wreck_history` may also be a verb and a thing. */
  readonly isShown?: boolean
}

/** A verb of a name, and the words beside it. */
interface Use {
  readonly word: string
  /** The place of the verb. */
  readonly at: number
  readonly words: readonly string[]
  readonly after: readonly string[]
  /** The words with the name of the server. */
  readonly all: readonly string[]
}

/** The class of a verb whose neighbours decide; undefined for other verbs. */
export function idiomOf(use: Use): NameWord | undefined {
  const { word, at, words, after } = use
  if (word === OPEN) return { word, effect: opened(at, headOf(after)) }
  if (word === 'test' && CONNECTIONS.has(headOf(after))) return { word, effect: 'read' }
  if (RUNNING.has(word) && onlyLooks(after)) return { word, effect: 'read' }
  if (word === 'run') return runOf(use)
  if (SHOTS.has(word)) return { word, effect: 'read' }
  if (at > 0) return words[0] === 'api' && HTTP.has(word) ? unclear(word, 'write', 'write') : undefined
  if (word === PREVIEW) return { ...unclear(word, 'read', 'read'), isNoun: true }
  if (word === 'request') return requestOf(use)
  if (word === 'log' && MOVING.has(after[0] ?? '')) return { word: 'log in', effect: 'admin' }
  // `log_time` records something, `check_in` too.
  if ((word === 'log' && after.length > 0) || (word === 'check' && MOVING.has(after[0] ?? '')))
    return { word, effect: 'write' }
  return undefined
}

export const OPEN = 'open'
export const PREVIEW = 'preview'
export const RUNNING: ReadonlySet<string> = setOf('run start perform execute')
const SHOTS = setOf('screenshot snapshot')
const HTTP = setOf('post put patch')
const MOVING = setOf('in out')
const CONNECTIONS = setOf('connection connectivity auth authentication credentials')

function unclear(word: string, floor: EffectClass, otherwise: EffectClass): NameWord {
  return { word, effect: otherwise, vague: { floor, otherwise } }
}

/** Opening a page reads it, opening a program starts it, and opening a ticket or an account creates one. */
function opened(at: number, head: string): EffectClass {
  if (STARTED.has(head)) return 'execute'
  return at > 0 || OPENED.has(head) ? 'read' : 'write'
}

const STARTED = setOf('terminal shell simulator emulator app application program')
const OPENED = setOf(
  'node nodes note notes file files page url link document mail message email site attachment',
)

/** Whether what is run cannot write: a search, a query in PromQL, a query that is said to be read-only. */
function onlyLooks(after: readonly string[]): boolean {
  const isReadQuery = after.some((word, i) => word === 'query' && after[i - 1] === 'read')
  return (
    isReadQuery ||
    claimsReading(after) ||
    after.some((each) => LOOKS.has(each) || READING_LANGUAGES.has(each))
  )
}

const LOOKS = setOf(
  'search lookup audit analysis check lint review diagnostics diagnostic comparison simulation backtest calculation',
)

/** `run_details` shows a run, and `pipeline_run` may show one: its description decides. */
function runOf({ word, at, after }: Use): NameWord | undefined {
  if (PARTS_OF_RUN.has(after[0] ?? '')) return { word, effect: 'read' }
  return at > 0 && after.length === 0 ? unclear(word, 'read', 'execute') : undefined
}

const PARTS_OF_RUN = setOf('details status info history results logs summary events metrics')

/** `request_clarification` may only ask: its description decides. `request_access` asks for rights. */
function requestOf({ word, after, all }: Use): NameWord {
  const { effect } = raised(word, 'write', after, all)
  return effect === 'write' ? { ...unclear(word, effect, effect), isNoun: true } : { word, effect }
}
