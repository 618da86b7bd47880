// The targets of a call and their origins, in the model. Shares only types with the kernel.

import type { EffectClass } from '@tollgate/evidence'
import type { TargetOrigin } from '../../src/gates/session-risk/call-target.ts'
import type { Axes } from '../../src/gates/session-risk/risk.ts'
import { fieldName, type Data } from './model-taint.ts'
import type { TextFacts } from './model-texts.ts'
import type { ModelTool } from './model-policy.ts'
import type { ModelCall } from './model-world.ts'

const STOP_WORDS = [
  'a',
  'an',
  'the',
  'to',
  'from',
  'for',
  'of',
  'in',
  'on',
  'at',
  'by',
  'with',
  'and',
  'or',
  'where',
  'is',
]

/** The words of a text, normalised for comparison. */
function tokens(text: string): readonly string[] {
  const spread = text.normalize('NFKC').replace(/(\p{Ll})(\p{Lu})/gu, '$1_$2')
  const words = spread.toLowerCase().split(/[^\p{L}\p{M}\p{N}_]+/u)
  return words.filter((word) => word !== '' && !STOP_WORDS.includes(word))
}

/** The actions that the verbs of the texts request. */
const VERBS: Readonly<Record<string, readonly string[]>> = {
  send: ['send'],
  tell: ['send'],
  write: ['send', 'make'],
  book: ['make'],
  pay: ['pay'],
}

/** The names that a session keeps of the first user message. A `$` counts as a request to pay. */
export function namesOf({ text, values, words: said }: TextFacts): readonly string[] {
  const words = tokens(text)
  const actions = [...said.flatMap((word) => VERBS[word] ?? []), ...(text.includes('$') ? ['pay'] : [])]
  const parts = words.flatMap((word) => (word.includes('_') ? word.split('_') : []))
  return ['', ...values, ...words, ...parts, ...actions.map((action) => `to ${action}`)].map(
    (name) => `name ${name}`,
  )
}

export function isVoiced(data: Data | undefined): boolean {
  return data?.values.has('name ') === true
}

const isName = (data: Data, name: string): boolean => data.values.has(`name ${name}`)
const isPhrase = (data: Data, words: string): boolean => data.values.get(`words ${words}`)?.origin === 'said'

function isNamed(data: Data, token: string): boolean {
  const parts = token.split('_').filter((part) => part !== '')
  return isName(data, token) || (parts.length > 1 && parts.every((part) => isName(data, part)))
}

/** Whether the predicate is true for at least half of the words. */
function mostly(text: string, holds: (token: string) => boolean): boolean {
  const words = text.length > 400 ? [] : tokens(text)
  return words.length > 0 && words.length <= 16 && words.filter(holds).length >= words.length / 2
}

function said(data: Data, words: readonly string[]): boolean {
  const pairs = words.slice(1).map((word, i) => `${words[i]} ${word}`)
  return words.length > 0 && [...words, ...pairs].every((each) => isPhrase(data, each))
}

/** From the most to the least trusted. */
const ORDER: readonly TargetOrigin[] = [
  'named',
  'context',
  'inside',
  'returned',
  'record',
  'claimed',
  'text',
  'unknown',
]
const worse = (a: TargetOrigin, b: TargetOrigin): TargetOrigin =>
  ORDER.indexOf(a) > ORDER.indexOf(b) ? a : b

function originOf(value: string, data: Data, internal: readonly string[]): TargetOrigin {
  if (isName(data, value)) return 'named'
  if (internal.some((host) => value.endsWith(`@${host}`))) return 'inside'
  const origin = data.values.get(value)?.origin ?? 'said'
  if (origin === 'output') return 'returned'
  if (origin !== 'said') return 'text'
  if (isPhrase(data, value.toLowerCase())) return 'claimed'
  return value.startsWith('ord-') ? 'record' : 'unknown'
}

function originInWords({ text, words }: TextFacts, data: Data): TargetOrigin {
  if (mostly(text, (token) => isNamed(data, token))) return 'named'
  if (data.values.get(fieldName(text))?.origin === 'output') return 'returned'
  return mostly(text, (token) => isPhrase(data, token)) || said(data, words) ? 'claimed' : 'unknown'
}

/** The targets of a call, summarised. */
export interface ModelTarget {
  readonly origin: TargetOrigin
  readonly unnamed: readonly string[]
  /** An earlier call copied it from tool output. */
  readonly stored: boolean
}

/** The texts that contain targets. */
export function targetsIn({ texts }: ModelCall, tool: ModelTool | undefined): readonly TextFacts[] {
  const declared = tool && tool.sinks.length > 0 ? tool.sinks : tool && !tool.offline ? ['to'] : []
  if (declared.length > 0) {
    return declared.flatMap((sink) => texts.filter(({ path }) => path === sink).map(({ facts }) => facts))
  }
  const clear = (value: string): boolean => !value.startsWith('ord-') && !value.startsWith('AKIA')
  return texts.flatMap(({ facts }) => {
    const values = facts.values.filter(clear)
    return values.length > 0 ? [{ ...facts, values }] : []
  })
}

/** The values that a call copies from tool output. Separate values count only if they are neither record numbers nor at a sink. */
export function copiedIn({ texts }: ModelCall, tool: ModelTool | undefined, data: Data): readonly string[] {
  if (!isVoiced(data)) return []
  return texts.flatMap(({ path, facts }) =>
    facts.values.filter((value) => {
      const origin = data.values.get(value)?.origin ?? 'said'
      const isData = tool?.sinks.includes(path) !== true && !value.startsWith('ord-')
      return !isName(data, value) && origin !== 'said' && (origin !== 'output' || isData)
    }),
  )
}

/** The names that a person approves with a call. */
export function vouchedFor(call: ModelCall, tool: ModelTool | undefined): readonly string[] {
  const names = targetsIn(call, tool).flatMap(({ text, values }) =>
    values.length > 0 ? values : tokens(text),
  )
  return names.slice(0, 32).map((name) => `name ${name}`)
}

export function callTargetOf(
  call: ModelCall,
  tool: ModelTool | undefined,
  data: Data,
  internal: readonly string[],
  stored: readonly string[],
): ModelTarget | undefined {
  const targets = targetsIn(call, tool)
  const [first] = targets
  if (!first) return undefined
  const values = targets.flatMap((each) => each.values)
  const plain = values.map((value) => originOf(value, data, internal))
  const kept = values.map(
    (value, i) => stored.includes(value) && !['named', 'inside', 'claimed'].includes(plain[i] ?? ''),
  )
  const origins = plain.map((each, i) => (kept[i] ? 'unknown' : each))
  const origin = origins.reduce(worse, 'named')
  const unnamed = values.filter((_, i) => origins[i] !== 'named')
  const inWords = targets.filter((each) => each.values.length === 0)
  if (first.values.length > 0) {
    const whole = inWords.every((each) => originInWords(each, data) === 'named')
    return {
      origin: origin === 'named' && !whole ? 'context' : origin,
      unnamed,
      stored: kept.includes(true),
    }
  }
  const firstInWords = originInWords(first, data)
  const counts =
    values.length > 0 && (firstInWords === 'named' || ORDER.indexOf(origin) >= ORDER.indexOf('returned'))
  if (counts) return { origin, unnamed, stored: kept.includes(true) }
  const isContext =
    firstInWords !== 'named' && firstInWords !== 'claimed' && isFromContext(first.text, call, data)
  return { origin: isContext ? 'context' : firstInWords, unnamed: [], stored: false }
}

function isFromContext(text: string, { texts }: ModelCall, data: Data): boolean {
  if (mostly(text.replaceAll('_', ' '), (token) => isName(data, token))) return true
  if (!/^\p{L}{1,16}$/u.test(text)) return false
  return texts.some(({ facts: { text: other, values } }) => {
    if (other.length > 64 || other.includes(' ')) return false
    return values.some((value) => isName(data, value)) || mostly(other, (token) => isNamed(data, token))
  })
}

/** The facts of a call in a session with a user message. */
export interface ModelFacts {
  readonly unnamed: readonly string[]
  readonly strange: boolean
  readonly grave: boolean
  readonly axes: Axes
}

interface Around {
  readonly effect: EffectClass
  readonly acts: boolean
  readonly goes: boolean
  /** Data leaves. */
  readonly outward: boolean
  /** Sensitive data was read before. */
  readonly sensitive: boolean
  /** Side effects of the session need an approval. */
  readonly suspect: boolean
  /** A call in another session needed an approval. */
  readonly wary: boolean
  readonly data: Data
}

const ACTION_WORDS: Readonly<Partial<Record<EffectClass, readonly string[]>>> = {
  pay: ['pay', 'change', 'send'],
  delete: ['delete', 'change'],
  admin: ['admin', 'change', 'invite', 'make', 'delete'],
}
const SENT: Readonly<Partial<Record<TargetOrigin, readonly [number, number]>>> = {
  record: [0, 60],
  claimed: [60, 200],
  text: [150, 300],
  unknown: [150, 350],
}
const CHANGED = { inside: 200, record: 200, claimed: 200, text: 250, unknown: 300 }
const DONE: Readonly<Partial<Record<EffectClass, Readonly<Partial<Record<TargetOrigin, number>>>>>> = {
  execute: { text: 120, unknown: 120 },
  pay: { claimed: 200, text: 60, unknown: 350 },
  delete: CHANGED,
  admin: CHANGED,
}

/** The facts of a call with or without a target. */
export function factsOf(target: ModelTarget | undefined, around: Around): ModelFacts | undefined {
  const { effect, acts, goes, outward, sensitive, suspect, wary, data } = around
  if (effect === 'read' && !goes) return undefined
  const actions = ACTION_WORDS[effect]
  const matters = actions !== undefined || outward
  const axes = (exfiltration: number, privilege: number): Axes => ({
    exfiltration: exfiltration * 1000,
    privilege: privilege * 1000,
    compliance: 0,
  })
  if (!target)
    return suspect && acts ? { unnamed: [], strange: true, grave: true, axes: axes(0, 0) } : undefined
  const { origin } = target
  const bad: readonly TargetOrigin[] =
    effect === 'pay'
      ? ['claimed', 'unknown']
      : effect === 'delete' || effect === 'admin'
        ? ['inside', 'record', 'claimed', 'text', 'unknown']
        : ['claimed', 'text', 'unknown']
  const unnamed = bad.includes(origin)
  const unrequested =
    origin === 'returned' && actions?.every((action) => !isName(data, `to ${action}`)) === true
  const doubtful = matters && origin !== 'named' && origin !== 'context' && (wary || unrequested)
  const unasked = !unnamed && (suspect ? acts || outward : doubtful)
  const after = outward && (sensitive || target.stored)
  const sent = outward && effect !== 'pay' ? (SENT[origin]?.[after ? 1 : 0] ?? 0) : 0
  return {
    unnamed: target.unnamed,
    strange: ['record', 'claimed', 'text', 'unknown'].includes(origin),
    grave:
      ((after || (target.stored && effect === 'execute')) && unnamed && effect !== 'pay') ||
      (unnamed && actions !== undefined) ||
      unasked,
    axes: axes(sent, unasked && matters ? 150 : (DONE[effect]?.[origin] ?? 0)),
  }
}
