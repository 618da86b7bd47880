// Defines the scope of a session. Side effects outside it are escalated.

import {
  canonicalize,
  sha256Hex,
  type EffectClass,
  type ScopeShown,
  type ScopeSource,
} from '@tollgate/evidence'

/** The effect classes, tools and sinks of a session. A missing member is not limited; an empty list allows nothing. */
export interface Scope {
  readonly effects?: readonly EffectClass[]
  /** Tool names. `*` matches any characters. */
  readonly tools?: readonly string[]
  /** Allowed targets: addresses, hostnames, accounts, paths, names. `*` matches any characters. */
  readonly sinks?: readonly string[]
  /** Tools of the scope may also act on values that the session looked up as data, see `looked-up.ts`. */
  readonly looked_up?: true
  /** RFC 3339. Later side effects are outside the scope. */
  readonly until?: string
  /** The party that stated the scope. */
  readonly by: ScopeSource
}

/** An addition of a person to a scope: one tool with its sinks. */
export interface Widening {
  readonly tool: string
  readonly sinks: readonly string[]
}

/** A scope as it is stored. */
export interface HeldScope extends Scope {
  readonly also?: readonly Widening[]
  /** 64 hexadecimal digits. They prevent guessing sinks from the hash in receipts. */
  readonly salt: string
}

/** The maximum number of additions to one scope. */
export const MAX_WIDENINGS: number = 256

interface Written {
  readonly text: string
  readonly hash: string
}

const known = new WeakMap<HeldScope, Written>()

/** Cached, because every decision of the session writes the scope. */
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

/** The hash of a scope in receipts. */
export function scopeHash(scope: HeldScope): string {
  return written(scope).hash
}

/** The parts of a scope that a receipt may contain. */
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

/** The scope as given, without additions and salt. */
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

/** Whether two scopes are equal, apart from additions and salt. */
export function isSameScope(a: Scope, b: Scope): boolean {
  return canonicalize(givenScope(a)) === canonicalize(givenScope(b))
}
