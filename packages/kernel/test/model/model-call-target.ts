// Whom a call aims at and who has named that, in the model. Shares nothing but types with the kernel.

import type { EffectClass } from '@tollgate/evidence'
import type { TargetOrigin } from '../../src/gates/session-risk/call-target.ts'
import type { Axes } from '../../src/gates/session-risk/risk.ts'
import { fieldName, type Data } from './model-taint.ts'
import type { TextFacts } from './model-texts.ts'
import type { ModelTool } from './model-policy.ts'
import type { ModelCall } from './model-world.ts'

const SILENT = [
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

/** The words of a text, as names are compared. */
function tokens(text: string): readonly string[] {
  const spread = text.normalize('NFKC').replace(/(\p{Ll})(\p{Lu})/gu, '$1_$2')
  const words = spread.toLowerCase().split(/[^\p{L}\p{M}\p{N}_]+/u)
  return words.filter((word) => word !== '' && !SILENT.includes(word))
}

/** What is asked for by the verbs that are in texts. Where there is a dollar, there is money. */
const VERBS: Readonly<Record<string, readonly string[]>> = {
  send: ['send'],
  tell: ['send'],
  write: ['send', 'make'],
  book: ['make'],
  pay: ['pay'],
}

/** What is remembered of the first words of a user. */
export function namesOf({ text, values, words: said }: TextFacts): readonly string[] {
  const words = tokens(text)
  const deeds = [...said.flatMap((word) => VERBS[word] ?? []), ...(text.includes('$') ? ['pay'] : [])]
  const parts = words.flatMap((word) => (word.includes('_') ? word.split('_') : []))
  return ['', ...values, ...words, ...parts, ...deeds.map((deed) => `to ${deed}`)].map(
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

/** Whether half of the words of a text, or more, are such. */
function mostly(text: string, holds: (token: string) => boolean): boolean {
  const words = text.length > 400 ? [] : tokens(text)
  return words.length > 0 && words.length <= 16 && words.filter(holds).length >= words.length / 2
}

function said(data: Data, words: readonly string[]): boolean {
  const pairs = words.slice(1).map((word, i) => `${words[i]} ${word}`)
  return words.length > 0 && [...words, ...pairs].every((each) => isPhrase(data, each))
}

/** From the best to the worst. */
const ORDER: readonly TargetOrigin[] = [
  'named',
  'beside',
  'inside',
  'returned',
  'loose',
  'claimed',
  'told',
  'nobody',
]
const worse = (a: TargetOrigin, b: TargetOrigin): TargetOrigin =>
  ORDER.indexOf(a) > ORDER.indexOf(b) ? a : b

function standingOf(value: string, data: Data, internal: readonly string[]): TargetOrigin {
  if (isName(data, value)) return 'named'
  if (internal.some((host) => value.endsWith(`@${host}`))) return 'inside'
  const origin = data.values.get(value)?.origin ?? 'said'
  if (origin === 'output') return 'returned'
  if (origin !== 'said') return 'told'
  if (isPhrase(data, value.toLowerCase())) return 'claimed'
  return value.startsWith('ord-') ? 'loose' : 'nobody'
}

function standingInWords({ text, words }: TextFacts, data: Data): TargetOrigin {
  if (mostly(text, (token) => isNamed(data, token))) return 'named'
  if (data.values.get(fieldName(text))?.origin === 'output') return 'returned'
  return mostly(text, (token) => isPhrase(data, token)) || said(data, words) ? 'claimed' : 'nobody'
}

/** What a call aims at. */
export interface ModelAim {
  readonly standing: TargetOrigin
  readonly unnamed: readonly string[]
  /** It was written down before because it stood somewhere. */
  readonly stored: boolean
}

/** The texts that say what a call is about. */
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

/** What a call writes down that stood somewhere; of what stood there as data, no numbers of records, and nothing it acts on. */
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

/** What a person agrees to with a call, by name. */
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
): ModelAim | undefined {
  const targets = targetsIn(call, tool)
  const [first] = targets
  if (!first) return undefined
  const values = targets.flatMap((each) => each.values)
  const plain = values.map((value) => standingOf(value, data, internal))
  const kept = values.map(
    (value, i) => stored.includes(value) && !['named', 'inside', 'claimed'].includes(plain[i] ?? ''),
  )
  const standings = plain.map((each, i) => (kept[i] ? 'nobody' : each))
  const standing = standings.reduce(worse, 'named')
  const unnamed = values.filter((_, i) => standings[i] !== 'named')
  const inWords = targets.filter((each) => each.values.length === 0)
  if (first.values.length > 0) {
    const whole = inWords.every((each) => standingInWords(each, data) === 'named')
    return {
      standing: standing === 'named' && !whole ? 'beside' : standing,
      unnamed,
      stored: kept.includes(true),
    }
  }
  const told = standingInWords(first, data)
  const counts =
    values.length > 0 && (told === 'named' || ORDER.indexOf(standing) >= ORDER.indexOf('returned'))
  if (counts) return { standing, unnamed, stored: kept.includes(true) }
  const beside = told !== 'named' && told !== 'claimed' && isBeside(first.text, call, data)
  return { standing: beside ? 'beside' : told, unnamed: [], stored: false }
}

function isBeside(text: string, { texts }: ModelCall, data: Data): boolean {
  if (mostly(text.replaceAll('_', ' '), (token) => isName(data, token))) return true
  if (!/^\p{L}{1,16}$/u.test(text)) return false
  return texts.some(({ facts: { text: other, values } }) => {
    if (other.length > 64 || other.includes(' ')) return false
    return values.some((value) => isName(data, value)) || mostly(other, (token) => isNamed(data, token))
  })
}

/** What is known of a call in a session whose user has said something. */
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
  /** Something sensitive was read before. */
  readonly sensitive: boolean
  /** Nothing is done in the session until somebody agrees. */
  readonly held: boolean
  /** There was something to be seen in other sessions. */
  readonly wary: boolean
  readonly data: Data
}

const ACTION_WORDS: Readonly<Partial<Record<EffectClass, readonly string[]>>> = {
  pay: ['pay', 'change', 'send'],
  delete: ['delete', 'change'],
  admin: ['admin', 'change', 'invite', 'make', 'delete'],
}
const SENT: Readonly<Partial<Record<TargetOrigin, readonly [number, number]>>> = {
  loose: [0, 60],
  claimed: [60, 200],
  told: [150, 300],
  nobody: [150, 350],
}
const CHANGED = { inside: 200, loose: 200, claimed: 200, told: 250, nobody: 300 }
const DONE: Readonly<Partial<Record<EffectClass, Readonly<Partial<Record<TargetOrigin, number>>>>>> = {
  execute: { told: 120, nobody: 120 },
  pay: { claimed: 200, told: 60, nobody: 350 },
  delete: CHANGED,
  admin: CHANGED,
}

/** The facts of a call that aims at this, or at nothing. */
export function factsOf(aim: ModelAim | undefined, around: Around): ModelFacts | undefined {
  const { effect, acts, goes, outward, sensitive, held, wary, data } = around
  if (effect === 'read' && !goes) return undefined
  const deeds = ACTION_WORDS[effect]
  const matters = deeds !== undefined || outward
  const axes = (exfiltration: number, privilege: number): Axes => ({
    exfiltration: exfiltration * 1000,
    privilege: privilege * 1000,
    compliance: 0,
  })
  if (!aim) return held && acts ? { unnamed: [], strange: true, grave: true, axes: axes(0, 0) } : undefined
  const { standing } = aim
  const bad: readonly TargetOrigin[] =
    effect === 'pay'
      ? ['claimed', 'nobody']
      : effect === 'delete' || effect === 'admin'
        ? ['inside', 'loose', 'claimed', 'told', 'nobody']
        : ['claimed', 'told', 'nobody']
  const unnamed = bad.includes(standing)
  const unheardOf = standing === 'returned' && deeds?.every((deed) => !isName(data, `to ${deed}`)) === true
  const doubtful = matters && standing !== 'named' && standing !== 'beside' && (wary || unheardOf)
  const unasked = !unnamed && (held ? acts || outward : doubtful)
  const after = outward && (sensitive || aim.stored)
  const sent = outward && effect !== 'pay' ? (SENT[standing]?.[after ? 1 : 0] ?? 0) : 0
  return {
    unnamed: aim.unnamed,
    strange: ['loose', 'claimed', 'told', 'nobody'].includes(standing),
    grave:
      ((after || (aim.stored && effect === 'execute')) && unnamed && effect !== 'pay') ||
      (unnamed && deeds !== undefined) ||
      unasked,
    axes: axes(sent, unasked && matters ? 150 : (DONE[effect]?.[standing] ?? 0)),
  }
}
