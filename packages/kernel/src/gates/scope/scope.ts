// The scope of a task: what a session was opened for. Outside of it side effects are asked about, whatever the words say.

import {
  canonicalize,
  sha256Hex,
  type EffectClass,
  type ScopeShown,
  type ScopeSource,
} from '@tollgate/evidence'

/** What a session was opened for. What is left out is not limited; an empty list allows none. */
export interface Scope {
  readonly effects?: readonly EffectClass[]
  /** Names of tools, `*` for any characters. */
  readonly tools?: readonly string[]
  /** Where side effects may go: addresses, hosts, accounts, paths, names; `*` for any characters. */
  readonly sinks?: readonly string[]
  /** A tool of the scope may also act on what the session has looked up as data, see `looked-up.ts`. */
  readonly looked_up?: true
  /** RFC 3339; from then on every side effect is outside. */
  readonly until?: string
  /** Where it comes from. */
  readonly by: ScopeSource
}

/** What a person has added to a scope: one tool, with what it may act on. */
export interface Widening {
  readonly tool: string
  readonly sinks: readonly string[]
}

/** A scope as it is remembered. */
export interface HeldScope extends Scope {
  readonly also?: readonly Widening[]
  /** 64 hexadecimal digits: nobody can guess sinks from the hash that receipts have. */
  readonly salt: string
}

/** Most additions to one scope. */
export const MOST_WIDENINGS: number = 256

interface Written {
  readonly text: string
  readonly hash: string
}

const known = new WeakMap<HeldScope, Written>()

/** Every decision of the session writes it, and few change it. */
function written(scope: HeldScope): Written {
  let own = known.get(scope)
  if (!own) {
    const text = canonicalize(scope)
    own = { text, hash: sha256Hex(text) }
    known.set(scope, own)
  }
  return own
}

/** The canonical text of a scope. */
export function scopeText(scope: HeldScope): string {
  return written(scope).text
}

/** The hash that receipts have of a scope. */
export function scopeHash(scope: HeldScope): string {
  return written(scope).hash
}

/** What a receipt may tell of a scope. */
export function shownScope({
  effects,
  tools,
  sinks,
  looked_up,
  until,
  by,
  also = [],
}: Omit<HeldScope, 'salt'>): ScopeShown {
  const added = also.reduce((sum, each) => sum + each.sinks.length, 0)
  return {
    ...(effects && { effects }),
    ...(tools && { tools }),
    ...(sinks && { sinks: sinks.length + added }),
    ...(looked_up && { looked_up }),
    ...(until !== undefined && { until }),
    by,
  }
}

/** The scope as it was given: without what people have added, and without its salt. */
export function givenScope({ effects, tools, sinks, looked_up, until, by }: Scope): Scope {
  return {
    ...(effects && { effects }),
    ...(tools && { tools }),
    ...(sinks && { sinks }),
    ...(looked_up && { looked_up }),
    ...(until !== undefined && { until }),
    by,
  }
}

/** Whether two scopes were given as the same. */
export function isSameScope(a: Scope, b: Scope): boolean {
  return canonicalize(givenScope(a)) === canonicalize(givenScope(b))
}
