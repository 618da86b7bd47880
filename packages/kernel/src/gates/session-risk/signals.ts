// Computes the three risk axes of one call from its words and from facts about it.

import type { EffectClass, Json, JsonObject } from '@tollgate/evidence'
import type { Axes } from './risk.ts'
import { ONE } from '../../units.ts'
import { BIT, topicsIn, type Topic, type Topics } from './risk-terms.ts'

/** The facts of a call besides its words. */
export interface Facts {
  /** The policy declares the effect class of the tool. If not, the strictest class applies, but adds no risk itself. */
  readonly declared: boolean
  readonly effect: EffectClass
  /** It names a destination that the egress gate does not allow. */
  readonly outside: boolean
  /** It names a destination. */
  readonly leaves: boolean
  /** This session, or recently its principal, read sensitive data before. */
  readonly afterSource: boolean
  /** The number of recently denied calls of the session. */
  readonly denials: number
}

const NOTHING: Axes = { exfiltration: 0, privilege: 0, compliance: 0 }

// The weight of words by effect class, in percent. Reading about a password is not sending one.
const WEIGHT: Readonly<Record<EffectClass, number>> = {
  read: 25,
  write: 50,
  delete: 50,
  execute: 75,
  send: 100,
  pay: 100,
  admin: 100,
}

// The privilege risk of the effect class alone.
const CLASS_RISK: Readonly<Record<EffectClass, number>> = {
  read: 0,
  write: 20_000,
  delete: 60_000,
  execute: 50_000,
  send: 20_000,
  pay: 100_000,
  admin: 200_000,
}

/** Whether the call can send data or commands, so that its long texts are scanned, too. */
export function isSink(effect: EffectClass): boolean {
  return effect === 'send' || effect === 'pay' || effect === 'admin' || effect === 'execute'
}

/** The axes of a call in a session without a known user message. */
export function axesOf(topics: Topics, facts: Facts): Axes {
  const has = (topic: Topic): boolean => (topics & BIT[topic]) !== 0
  const worth = (topic: Topic, value: number): number => (has(topic) ? value : 0)
  const weighed = (value: number): number => Math.floor((value * WEIGHT[facts.effect]) / 100)
  const out = facts.leaves || has('movement')
  const exfiltration =
    weighed(
      worth('credentials', 300_000) +
        worth('personal', 120_000) +
        worth('movement', 200_000) +
        worth('packing', 100_000),
    ) +
    (facts.outside ? 350_000 : 0) +
    (facts.afterSource && out && isSink(facts.effect) ? 250_000 : 0)
  const privilege =
    weighed(worth('authority', 300_000) + worth('rules', 250_000) + worth('operation', 50_000)) +
    (facts.declared ? CLASS_RISK[facts.effect] : 0)
  const regime = worth('regime', 200_000) + worth('audit', 150_000)
  const compliance = weighed(
    regime === 0 ? 0 : regime + worth('operation', 150_000) + worth('movement', 150_000),
  )
  const axes = { exfiltration, privilege, compliance }
  return bounded(axes, 50_000 * Math.min(facts.denials, 4))
}

// With a known user message, the words of a call alone stay below `QUIET`.
const MAX_BY_WORDS = 60_000

/** The axes of a call in a session with a known user message. Facts decide; words add little. */
export function axesOfFacts(topics: Topics, facts: Facts, weighed: Axes | undefined): Axes {
  const words = axesOf(topics, { ...facts, outside: false, afterSource: false, denials: 0 })
  const known = weighed ?? NOTHING
  const strange = known.exfiltration + (facts.outside ? 350_000 : 0)
  return bounded(
    {
      exfiltration: Math.max(strange, Math.min(words.exfiltration, MAX_BY_WORDS)),
      privilege: Math.max(known.privilege, Math.min(words.privilege, MAX_BY_WORDS)),
      compliance: Math.max(known.compliance, Math.min(words.compliance, MAX_BY_WORDS)),
    },
    strange + known.privilege === 0 ? 0 : 50_000 * Math.min(facts.denials, 4),
  )
}

/** The axes, capped. Earlier denials raise only axes that are not zero. */
function bounded(axes: Axes, denied: number): Axes {
  const raise = (value: number): number => (value === 0 ? 0 : Math.min(ONE, value + denied))
  const { exfiltration, privilege, compliance } = axes
  if (exfiltration + privilege + compliance === 0) return NOTHING
  return {
    exfiltration: raise(exfiltration),
    privilege: raise(privilege),
    compliance: raise(compliance),
  }
}

/** Whether a call with these topics reads sensitive data. */
export function isSource(topics: Topics): boolean {
  return (topics & (BIT.credentials | BIT.personal)) !== 0
}

// Longer texts are content, not a name, path, command or address.
const LONG = 200

/**
 * The topics of a call: of the tool's name, and of the names and values of its arguments.
 *
 * The operation in the tool's name is ignored, because the effect class already counts it.
 */
export function topicsOfCall(tool: string, args: Json, sink: boolean): Topics {
  return (topicsIn(tool) & ~BIT.operation) | topicsOfValue(args, sink)
}

function topicsOfValue(value: Json, sink: boolean): Topics {
  if (typeof value === 'string') return value.length > LONG && !sink ? 0 : topicsIn(plain(value))
  if (typeof value !== 'object' || value === null) return 0
  let topics = 0
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) topics |= topicsOfValue(item, sink)
    return topics
  }
  // Sound: what is neither a list nor a scalar is an object.
  const object = value as JsonObject
  for (const name of Object.keys(object)) {
    topics |= topicsIn(plain(name)) | topicsOfValue(object[name] ?? null, sink)
  }
  return topics
}

const BEYOND_ASCII = /[^\u0000-\u007f]/

/** Replaces full-width and styled letters with plain letters. */
function plain(text: string): string {
  return BEYOND_ASCII.test(text) ? text.normalize('NFKC') : text
}
