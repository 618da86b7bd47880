// Observe mode: for hours, on the record, a call that no rule matches may pass. Everything else binds as ever.

import { DOORS, NEVER_OBSERVED, OBSERVE_RULE, type Door, type Observe } from '@tollgate/evidence/core'
import { isName } from '../names.ts'
import type { Intent } from '../road/capture.ts'
import { DETECTORS } from '../gates/index.ts'
import { KernelError } from '../error.ts'
import type { Kernel } from '../kernel.ts'
import type { Appended } from '../ledger/ledger.ts'
import type { Rule } from '../policy/parse/parse.ts'
import type { Snapshot } from '../road/snapshot.ts'

/** What observe mode is on for. */
interface Observed {
  readonly scope: Observe['scope']
  readonly target: string
  readonly tenant: string
  /** When it was switched on, and when it ends by itself, in milliseconds. */
  readonly since: number
  readonly until: number
}

/** Where observe mode is on. */
export interface Observing {
  /** Takes note of it being switched on or off. */
  apply(observe: Pick<Observe, 'scope' | 'target' | 'tenant' | 'until' | 'time'>): void
  /** Whether it is on for this call at a time of the ledger, while the clock says `now`. */
  includes(intent: Intent, time: number, now: number): boolean
  /** Everything that it is on for at a time. */
  list(time: number): readonly Observed[]
}

/** The name that the newest receipt on a door or a principal anchors. */
function observingName({ scope, target, tenant }: Pick<Observed, 'scope' | 'target' | 'tenant'>): string {
  return `${OBSERVING}${tenant}\n${scope}\n${target}`
}

/** What the names of all of them begin with. */
export const OBSERVING = 'observe\n'

/** How far a clock may go back and still count as the same. */
const TOLERANCE = 60_000

/** It is on for nobody. */
export function createObserving(): Observing {
  const on = new Map<string, Observed>()
  const has = (name: string, time: number, now: number): boolean => {
    const observed = on.get(name)
    if (!observed) return false
    if (observed.until <= time) on.delete(name)
    // The ledger's time stands still while the clock is behind it: a day would last until the clock has caught up.
    return observed.until > time && now >= observed.since - TOLERANCE
  }
  return {
    apply({ scope, target, tenant, until, time }) {
      const name = observingName({ scope, target, tenant })
      const since = Date.parse(time)
      if (until === undefined) on.delete(name)
      else on.set(name, { scope, target, tenant, since, until: Date.parse(until) })
    },
    includes({ tenant, door, principal = '' }, time, now) {
      // Almost always.
      if (on.size === 0) return false
      const names = [
        observingName({ scope: 'door', tenant, target: door }),
        observingName({ scope: 'principal', tenant, target: principal }),
      ]
      return names.some((name) => has(name, time, now))
    },
    list: (time) => [...on.values()].filter(({ until }) => until > time),
  }
}

/** What a call that no rule matches is allowed by. */
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
  expires: 0,
}

/** Whether a call that no rule matches passes: never if it deletes, pays or administers, or would go somewhere new. */
export function isObserved(snapshot: Snapshot): boolean {
  if (!snapshot.observing || NEVER_OBSERVED.has(snapshot.effect)) return false
  const destinations = snapshot.destinations()
  if (destinations.length === 0) return staysHere(snapshot)
  // New is every host that the policy does not name itself: a `*` names nobody.
  return DETECTORS.egress.isNamed(destinations, snapshot)
}

/** Whether a call without a destination goes nowhere, as far as the policy says: what runs or sends somewhere unsaid may be new. */
function staysHere({ tool, effect }: Snapshot): boolean {
  const declared = tool?.declared?.destinations ?? []
  return declared === 'none' || (declared.length === 0 && (effect === 'read' || effect === 'write'))
}

/** Switching observe mode on, or off. */
export interface ObserveOrder {
  readonly scope: Observe['scope']
  /** A door, or the whole name of a principal. */
  readonly target: string
  readonly tenant?: string
  /** For how long, in milliseconds, at most a day; undefined switches it off. */
  readonly lasts: number | undefined
  readonly by: string
}

const DAY = 86_400_000
const MOST_OBSERVED = 100

/**
 * Switches observe mode on for a door or a principal, or off again.
 *
 * @throws KernelError `REQUEST_INVALID` if it is for longer than a day, for no door or principal, or for too many at once.
 */
export async function setObserve(kernel: Kernel, order: ObserveOrder): Promise<Appended> {
  const { scope, target, lasts, by, tenant = kernel.tenant } = order
  refuseUnfit(order)
  return kernel.ledger.append({
    reserved: true,
    run: (turn) => {
      if (lasts !== undefined && kernel.observing.list(turn.time).length >= MOST_OBSERVED) {
        throw refused(`observe mode is on for ${MOST_OBSERVED} doors and principals already; end some first`)
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
    throw refused('observe mode lasts at most 24 hours')
  if (scope === 'door' && !isDoor(target))
    throw refused(`there is no such door; the doors are ${DOORS.join(', ')}`)
  if (!isName(target) || target.includes('*')) {
    throw refused('observe mode is for one principal; write its whole name, without `*`')
  }
}

function isDoor(name: string): name is Door {
  return DOORS.some((door) => door === name)
}

function refused(message: string): KernelError {
  return new KernelError('REQUEST_INVALID', message)
}
