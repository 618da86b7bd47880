// What one call looks like on the three axes of session risk: from its words, and from facts about it.

import type { EffectClass, Json, JsonObject } from '@tollgate/evidence'
import type { Axes } from './risk.ts'
import { ONE } from '../../units.ts'
import { BIT, topicsIn, type Topic, type Topics } from './risk-terms.ts'

/** What is known of a call besides its words. */
export interface Facts {
  /** The policy says what the tool does. If not, it counts as the strictest class, but the class alone says nothing. */
  readonly declared: boolean
  readonly effect: EffectClass
  /** It names a destination that the egress rung does not allow. */
  readonly outside: boolean
  /** It names a destination at all. */
  readonly leaves: boolean
  /** Something sensitive was read before it, by this session or lately by its principal. */
  readonly afterSource: boolean
  /** How many calls of the session were lately denied. */
  readonly denials: number
}

const NOTHING: Axes = { exfiltration: 0, privilege: 0, compliance: 0 }

// How much words weigh by what the call does: to read about a password is not to send one.
const WEIGHT: Readonly<Record<EffectClass, number>> = {
  read: 25,
  write: 50,
  delete: 50,
  execute: 75,
  send: 100,
  pay: 100,
  admin: 100,
}

// What the class alone says about privilege.
const CLASS_ALONE: Readonly<Record<EffectClass, number>> = {
  read: 0,
  write: 20_000,
  delete: 60_000,
  execute: 50_000,
  send: 20_000,
  pay: 100_000,
  admin: 200_000,
}

/** Whether the call lets data or orders out, so that also its long texts are read. */
export function isSink(effect: EffectClass): boolean {
  return effect === 'send' || effect === 'pay' || effect === 'admin' || effect === 'execute'
}

/** The axes of a call with these topics. */
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
    (facts.declared ? CLASS_ALONE[facts.effect] : 0)
  const regime = worth('regime', 200_000) + worth('audit', 150_000)
  const compliance = weighed(
    regime === 0 ? 0 : regime + worth('operation', 150_000) + worth('movement', 150_000),
  )
  const axes = { exfiltration, privilege, compliance }
  return bounded(axes, 50_000 * Math.min(facts.denials, 4))
}

// In a session whose user's words are known, words of a call alone say nothing: they stay below what leaves a trace.
const MOST_BY_WORDS = 60_000

/** The axes of a call in a session whose user's words are known: facts, and words only as far as they do not decide. */
export function axesOfFacts(topics: Topics, facts: Facts, weighed: Axes | undefined): Axes {
  const words = axesOf(topics, { ...facts, outside: false, afterSource: false, denials: 0 })
  const known = weighed ?? NOTHING
  const strange = known.exfiltration + (facts.outside ? 350_000 : 0)
  return bounded(
    {
      exfiltration: Math.max(strange, Math.min(words.exfiltration, MOST_BY_WORDS)),
      privilege: Math.max(known.privilege, Math.min(words.privilege, MOST_BY_WORDS)),
      compliance: Math.max(known.compliance, Math.min(words.compliance, MOST_BY_WORDS)),
    },
    strange + known.privilege === 0 ? 0 : 50_000 * Math.min(facts.denials, 4),
  )
}

/** Earlier denials make a risky call riskier, never a harmless one risky. */
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

/** Whether a call with these topics brings something sensitive into the session. */
export function isSource(topics: Topics): boolean {
  return (topics & (BIT.credentials | BIT.personal)) !== 0
}

// A body of text, not a name, a path, a command or an address.
const LONG = 200

/**
 * The topics of a call: of its tool and of its arguments, names and values.
 *
 * A tool's name says what it does, and so does its effect class; that must not count twice.
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

/** Full-width and styled letters as plain ones. */
function plain(text: string): string {
  return BEYOND_ASCII.test(text) ? text.normalize('NFKC') : text
}
