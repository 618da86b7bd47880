// Observe mode allows calls that no rule matches, for some hours and recorded. Every other check still applies.

import { DOORS, NEVER_OBSERVED, OBSERVE_RULE, type Door, type Observe } from '@tollgate/evidence/core'
import { isName } from '../names.ts'
import type { Intent } from '../road/capture.ts'
import { DETECTORS } from '../gates/index.ts'
import { KernelError } from '../error.ts'
import type { Kernel } from '../kernel.ts'
import type { Appended } from '../ledger/ledger.ts'
import type { Rule } from '../policy/parse/parse.ts'
import type { Snapshot } from '../road/snapshot.ts'

/** A door or principal in observe mode. */
interface Observed {
  readonly scope: Observe['scope']
  readonly target: string
  readonly tenant: string
  /** When it was switched on and when it expires, in milliseconds. */
  readonly since: number
  readonly until: number
}

/** The doors and principals in observe mode. */
export interface Observing {
  /** Applies an observe receipt. */
  apply(observe: Pick<Observe, 'scope' | 'target' | 'tenant' | 'until' | 'time'>): void
  /** Removes what was set under this name. */
  forget(name: string): void
  /** Returns whether observe mode covers this call. `time` is the time of the ledger, `now` that of the clock. */
  includes(intent: Intent, time: number, now: number): boolean
  /** Returns when it ends for this call, in milliseconds; undefined if it is off. */
  endOf(intent: Intent, time: number): number | undefined
  /** Returns everything that is in observe mode at a time. */
  list(time: number): readonly Observed[]
}

/** Returns the name that the newest observe receipt for a door or principal anchors. */
function observingName({ scope, target, tenant }: Pick<Observed, 'scope' | 'target' | 'tenant'>): string {
  return `${OBSERVING}${tenant}\n${scope}\n${target}`
}

/** The prefix of all observe names. */
export const OBSERVING = 'observe\n'

/** How far a clock may go back, in milliseconds, before observe mode is ignored. */
const TOLERANCE = 60_000

/** Returns an empty set. */
export function createObserving(): Observing {
  const on = new Map<string, Observed>()
  const has = (name: string, time: number, now: number): boolean => {
    const observed = on.get(name)
    if (!observed) return false
    if (observed.until <= time) on.delete(name)
    // While the clock is behind the ledger, ledger time does not advance and observe mode would not expire.
    return observed.until > time && now >= observed.since - TOLERANCE
  }
  return {
    apply({ scope, target, tenant, until, time }) {
      const name = observingName({ scope, target, tenant })
      const since = Date.parse(time)
      if (until === undefined) on.delete(name)
      else on.set(name, { scope, target, tenant, since, until: Date.parse(until) })
    },
    forget: (name) => void on.delete(name),
    includes: (intent, time, now) => on.size > 0 && namesOf(intent).some((name) => has(name, time, now)),
    endOf(intent, time) {
      const ends = namesOf(intent).map((name) => on.get(name)?.until ?? 0)
      const last = Math.max(...ends)
      return last > time ? last : undefined
    },
    list: (time) => [...on.values()].filter(({ until }) => until > time),
  }
}

function namesOf({ tenant, door, principal = '' }: Intent): readonly string[] {
  return [
    observingName({ scope: 'door', tenant, target: door }),
    observingName({ scope: 'principal', tenant, target: principal }),
  ]
}

/** Says when observe mode ends, for the answer to a call that it allowed. */
export function observedUntil({ observing }: Kernel, intent: Intent, time: number): string | undefined {
  const end = observing.endOf(intent, time)
  return end === undefined ? undefined : `observe mode ends at ${new Date(end).toISOString()}`
}

/** The rule that allows a call in observe mode if no other rule matches. */
export const OBSERVE: Rule = {
  id: OBSERVE_RULE,
  line: 0,
  action: 'allow',
  tools: [],
  principals: [],
  sessions: [],
  doors: [],
  when: undefined,
  because: undefined,
  approvers: [],
  answer: 'approver',
  expires: 0,
}

/** Returns whether observe mode allows the call. It never allows delete, pay or admin effects, or a new destination. */
export function isObserved(snapshot: Snapshot): boolean {
  if (!snapshot.observing || NEVER_OBSERVED.has(snapshot.effect)) return false
  const destinations = snapshot.destinations()
  if (destinations.length === 0) return staysHere(snapshot)
  // A destination is new unless the policy names it exactly: `*` does not count.
  return DETECTORS.egress.isNamed(destinations, snapshot)
}

/** Returns whether a call without a destination stays local. `execute` or `send` without declared destinations may not. */
function staysHere({ tool, effect }: Snapshot): boolean {
  const declared = tool?.declared?.destinations ?? []
  return declared === 'none' || (declared.length === 0 && (effect === 'read' || effect === 'write'))
}

/** An order to switch observe mode on or off. */
export interface ObserveOrder {
  readonly scope: Observe['scope']
  /** A door, or the full name of a principal. */
  readonly target: string
  readonly tenant?: string
  /** The duration in milliseconds, at most a day; undefined switches it off. */
  readonly lasts: number | undefined
  readonly by: string
}

const DAY = 86_400_000
const MAX_OBSERVED = 100

/**
 * Switches observe mode on or off for a door or a principal.
 *
 * @throws KernelError `REQUEST_INVALID` if the duration exceeds a day, the target is not a door or principal, or too many are on.
 */
export async function setObserve(kernel: Kernel, order: ObserveOrder): Promise<Appended> {
  const { scope, target, lasts, by, tenant = kernel.tenant } = order
  refuseUnfit(order)
  return kernel.ledger.append({
    reserved: true,
    run: (turn) => {
      if (lasts !== undefined && kernel.observing.list(turn.time).length >= MAX_OBSERVED) {
        throw refused(
          `observe mode is on for ${MAX_OBSERVED} doors and principals already; switch some off first`,
        )
      }
      const until = lasts === undefined ? {} : { until: new Date(turn.time + lasts).toISOString() }
      const anchors = [observingName({ scope, target, tenant })]
      const appended = turn.append({ anchors }, (header): Observe => ({
        ...header,
        kind: 'observe',
        tenant,
        scope,
        target,
        on: lasts !== undefined,
        ...until,
        by,
      }))
      kernel.observing.apply({ scope, target, tenant, time: new Date(turn.time).toISOString(), ...until })
      return appended
    },
  })
}

function refuseUnfit({ scope, target, lasts }: ObserveOrder): void {
  if (lasts !== undefined && !(lasts > 0 && lasts <= DAY))
    throw refused('observe mode can be on for at most 24 hours; give a shorter time')
  if (scope === 'door' && !isDoor(target))
    throw refused(`there is no such door; the doors are ${DOORS.join(', ')}`)
  if (!isName(target) || target.includes('*')) {
    throw refused('observe mode needs the full name of one principal, without `*`')
  }
}

function isDoor(name: string): name is Door {
  return DOORS.some((door) => door === name)
}

function refused(message: string): KernelError {
  return new KernelError('REQUEST_INVALID', message)
}
