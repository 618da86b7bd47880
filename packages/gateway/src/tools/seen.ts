// Collects tools from recorded calls: their names, effect classes, argument names and a few harmless sample values.

import type { EffectClass, Json } from '@tollgate/evidence'
import { readKeptCall, UNREADABLE } from '@tollgate/kernel'
import { readTexts } from '@tollgate/kernel/detection'
import type { TraceEntry } from '@tollgate/kernel/workbench'
import { excerpt } from './hidden.ts'
import { lookOf, mostly, type Looks } from './looks.ts'
import { isList, isObject } from './offer.ts'
import { mentionsSecrets, stricter, wordsOf } from './effect-words.ts'

/** A tool that was seen in calls. */
export interface SeenTool {
  readonly name: string
  /** The strictest effect class it was called under; `admin` if it was not declared. */
  readonly effect: EffectClass
  readonly calls: number
  /** The number of calls whose arguments were kept. */
  readonly kept: number
  readonly arguments: readonly SeenArgument[]
}

export interface SeenArgument {
  readonly name: string
  /** The types of its values: `text`, `number`, `true or false`, `list`, `object`, `null`. */
  readonly types: readonly string[]
  /** The number of calls that had it. */
  readonly calls: number
  /** A few values, one line each, without secrets and personal data. */
  readonly samples: readonly string[]
  /** The form of its values. */
  readonly looks: Looks
}

/** Collects tools from ledger entries. */
export interface SeenTools {
  take(entry: TraceEntry): void
  /** Adds a call that no policy has decided. */
  see(tool: string, args: Json): void
  /** The tools, most called first. */
  list(): readonly SeenTool[]
}

const MAX_TOOLS = 2000
const MAX_ARGUMENTS = 50
const MAX_SAMPLES = 3
// This many values are enough to classify an argument.
const MAX_LOOKED_AT = 500
const MAX_SAMPLE = 40
// Longer values are no samples, because they are not scanned completely.
const MAX_READ = 10_000

interface Argument {
  readonly types: Set<string>
  readonly samples: Set<string>
  /** The forms of its values, with their counts. */
  readonly looks: Map<Looks, number>
  looked: number
  calls: number
}

interface Tool {
  effect: EffectClass
  calls: number
  kept: number
  readonly arguments: Map<string, Argument>
}

export function createSeenTools(): SeenTools {
  const tools = new Map<string, Tool>()
  return {
    take({ receipt, kept }) {
      if (receipt.kind !== 'decision' || receipt.tool === UNREADABLE) return
      const call = readKeptCall(kept)
      note(tools, receipt.tool, receipt.effect_class, call?.unreadable === undefined ? call?.args : undefined)
    },
    see: (tool, args) => note(tools, tool, 'admin', args),
    list: () => [...tools].map(seenTool).sort((a, b) => b.calls - a.calls || (a.name < b.name ? -1 : 1)),
  }
}

function note(tools: Map<string, Tool>, name: string, effect: EffectClass, args: Json | undefined): void {
  const tool = tools.get(name) ?? newTool(tools.size < MAX_TOOLS)
  if (!tool) return
  tools.set(name, tool)
  tool.calls++
  tool.effect = stricter(tool.effect, effect)
  if (!isObject(args)) return
  tool.kept++
  for (const [argument, value] of Object.entries(args)) noteArgument(tool.arguments, argument, value)
}

function newTool(isAllowed: boolean): Tool | undefined {
  return isAllowed ? { effect: 'read', calls: 0, kept: 0, arguments: new Map() } : undefined
}

function noteArgument(known: Map<string, Argument>, name: string, value: Json): void {
  const fresh: Argument = { types: new Set(), samples: new Set(), looks: new Map(), looked: 0, calls: 0 }
  const argument = known.get(name) ?? (known.size < MAX_ARGUMENTS ? fresh : undefined)
  if (!argument) return
  known.set(name, argument)
  argument.calls++
  argument.types.add(typeOf(value))
  for (const text of textsIn(value)) {
    if (argument.looked++ >= MAX_LOOKED_AT) break
    const look = lookOf(text)
    argument.looks.set(look, (argument.looks.get(look) ?? 0) + 1)
  }
  if (argument.samples.size >= MAX_SAMPLES || !isHarmless(name, value)) return
  argument.samples.add(excerpt(JSON.stringify(value), MAX_SAMPLE))
}

/** The texts of a value that is a text or a list. */
function textsIn(value: Json): readonly string[] {
  if (typeof value === 'string') return [value]
  return isList(value) ? value.filter((item) => typeof item === 'string') : []
}

function typeOf(value: Json): string {
  if (value === null) return 'null'
  if (typeof value === 'boolean') return 'true or false'
  if (typeof value === 'object') return Array.isArray(value) ? 'list' : 'object'
  return typeof value === 'string' ? 'text' : 'number'
}

/** Whether a value may appear in a policy file: no secret, no personal data, no address or account. */
function isHarmless(name: string, value: Json): boolean {
  if (mentionsSecrets(name, '') || JSON.stringify(value).length > MAX_READ) return false
  if (holdsSecret({ [name]: value })) return false
  return readTexts({ [name]: value }).every(
    ({ marks, values, findings }) =>
      marks.length === 0 && findings.length === 0 && values.every(({ kind }) => PUBLIC.has(kind)),
  )
}

/** Whether a value contains something like a secret: in its text, under the name of a member, or in a URL. */
export function holdsSecret(value: Json): boolean {
  const texts: string[] = []
  if (!collect(value, '', false, texts)) return true
  return (
    texts.some((text) => GIVEN_AWAY.some((pattern) => pattern.test(text))) ||
    [...readTexts(value), ...readTexts(texts)].some(({ marks }) =>
      marks.some(({ label }) => label === 'secret'),
    )
  )
}

// A user in a URL or on a command line, and authorization headers.
const GIVEN_AWAY: readonly RegExp[] = [
  /[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/?#@]{0,512}@/i,
  /(?:^|\s)(?:-u|--user)[ =]?[^\s:]{1,128}:\S/,
  /\b(?:proxy-)?authorization["']?\s{0,3}[:=]/i,
  /\bbearer\s{1,3}[A-Za-z0-9._~+/=-]{20}/i,
]

/** Collects each text with the name of its member, which can mark it as a secret. Returns false if a name alone does. */
function collect(value: Json, name: string, isSecret: boolean, texts: string[]): boolean {
  if (typeof value === 'string') {
    texts.push(name === '' ? value : `${name}: ${JSON.stringify(value)}`)
    return value === '' || !isSecret
  }
  // A number of tokens is not a secret.
  if (typeof value === 'number') return !isSecret || /token/i.test(name)
  if (value === null || typeof value === 'boolean') return true
  if (isList(value)) return value.every((item) => collect(item, name, isSecret, texts))
  const title = titleOf(value)
  return Object.entries(value).every(([own, member]) => {
    const called = title !== undefined && /^value$/i.test(own) ? title : own
    return collect(member, called, isSecret || namesSecret(called), texts)
  })
}

/** The name in an object of the form name and value, such as a header. */
function titleOf(value: Json): string | undefined {
  if (!isObject(value)) return undefined
  return [value['name'], value['key'], value['header']].find((title) => typeof title === 'string')
}

const SECRET_WORDS = new Set(
  (
    'secret secrets password passwords passwd passphrase passcode pwd credential credentials token tokens apikey apikeys ' +
    'authorization bearer cookie cookies keychain'
  ).split(' '),
)
const SECRET_KEYS = new Set([
  'api',
  'access',
  'private',
  'secret',
  'auth',
  'signing',
  'encryption',
  'account',
])

function namesSecret(name: string): boolean {
  const words = wordsOf(name.slice(0, 256))
  return words.some(
    (word, i) => SECRET_WORDS.has(word) || (/^keys?$/.test(word) && SECRET_KEYS.has(words[i - 1] ?? '')),
  )
}

// Of the recognisable values, only these are public.
const PUBLIC: ReadonlySet<string> = new Set(['url', 'host'])

function seenTool([name, { effect, calls, kept, arguments: known }]: [string, Tool]): SeenTool {
  return {
    name,
    effect,
    calls,
    kept,
    arguments: [...known].map(([argument, each]) => ({
      name: argument,
      types: [...each.types].sort(),
      calls: each.calls,
      samples: [...each.samples],
      looks: mostly(each.looks),
    })),
  }
}
