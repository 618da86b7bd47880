// Keeps the registered delegations and checks calls against their chains. A chain only restricts: every link must be valid at the time
// of the call, and every link must grant the call.

import type { DelegationStatement, EffectClass, OpenedDelegation, PublicKey } from '@tollgate/evidence'
import type { Appended } from '../../ledger/ledger.ts'
import { glob, type Glob } from '../../policy/glob.ts'
import type { Policy } from '../../policy/parse/parse.ts'
import { rememberedAs } from '../../names.ts'

/** A delegation that is registered with this ledger. */
export interface RegisteredDelegation {
  /** SHA-256 of the signed statement. */
  readonly id: string
  /** The id of its newest receipt. */
  readonly receipt: string
  /** The clock of that receipt. */
  readonly clock: number
  readonly tenant: string
  readonly statement: DelegationStatement
  /** The tools of the statement, as patterns. */
  readonly tools: readonly Glob[]
  /** The last millisecond at which it is valid. */
  readonly until: number
  /** The id of the key that signed it. */
  readonly keyId: string
  readonly revoked: boolean
}

/** The delegations of a kernel. */
export interface Delegations {
  add(delegation: RegisteredDelegation): void
  /** Marks a delegation as revoked by this receipt. All delegations below it become invalid, too. */
  revoke(tenant: string, id: string, receipt: Appended): void
  /** Removes a delegation. It must have expired. */
  forget(delegation: RegisteredDelegation): void
  get(tenant: string, id: string): RegisteredDelegation | undefined
  /** All delegations of a tenant, oldest receipt first. */
  list(tenant: string): readonly RegisteredDelegation[]
  readonly size: number
}

/** Creates an empty store. */
export function createDelegations(): Delegations {
  const byTenant = new Map<string, Map<string, RegisteredDelegation>>()
  const of = (tenant: string): Map<string, RegisteredDelegation> => {
    const known = byTenant.get(tenant) ?? new Map<string, RegisteredDelegation>()
    byTenant.set(tenant, known)
    return known
  }
  return {
    add: (delegation) => void of(delegation.tenant).set(delegation.id, delegation),
    revoke(tenant, id, { id: receipt, clock }) {
      const known = of(tenant).get(id)
      if (known) of(tenant).set(id, { ...known, receipt, clock, revoked: true })
    },
    forget: ({ tenant, id }) => void byTenant.get(tenant)?.delete(id),
    get: (tenant, id) => byTenant.get(tenant)?.get(id),
    list: (tenant) => [...(byTenant.get(tenant)?.values() ?? [])].sort((a, b) => a.clock - b.clock),
    get size() {
      return [...byTenant.values()].reduce((sum, { size }) => sum + size, 0)
    },
  }
}

/** The stored form of an opened delegation. */
export function registered(
  { id, statement, keyId }: Omit<OpenedDelegation, 'envelope'>,
  receipt: Appended,
  revoked: boolean,
): RegisteredDelegation {
  return {
    id,
    receipt: receipt.id,
    clock: receipt.clock,
    tenant: statement.tenant,
    statement,
    tools: statement.tools.map((tool) => glob(tool)),
    until: Date.parse(statement.until),
    keyId,
    revoked,
  }
}

/** The newest receipt of a delegation, as a cause of another receipt. */
export function receiptOn({ receipt, clock }: RegisteredDelegation): Appended {
  return { id: receipt, clock }
}

/** The maximum length of a chain: a first delegation of depth 8, and 8 below it. */
const MAX_LINKS = 9

/** A delegation and its ancestors, root last; undefined if a link is missing or there are too many. */
export function chainOf(
  delegations: Pick<Delegations, 'get'>,
  tenant: string,
  id: string,
): readonly RegisteredDelegation[] | undefined {
  const chain: RegisteredDelegation[] = []
  let next: string | null = id
  while (next !== null) {
    const link = delegations.get(tenant, next)
    if (!link || chain.length === MAX_LINKS) return undefined
    chain.push(link)
    next = link.statement.parent
  }
  return chain
}

/** The first delegator of a chain; undefined if the chain is empty. */
export function rootDelegator(chain: readonly RegisteredDelegation[]): string | undefined {
  return chain.at(-1)?.statement.delegator
}

/** The facts of a call that are checked against a chain. */
export interface DelegatedCall {
  readonly principal: string | undefined
  readonly tool: string
  readonly effect: EffectClass
  readonly session: string
  readonly time: number
}

/** The current state of the principals on a chain, not the state at the time of signing. */
interface Parties {
  readonly frozen: (principal: string) => boolean
  /** The id of the key that the policy registers for a principal. */
  keyIdOf(principal: string): string | undefined
  /** Whether a principal may act only under a delegation. */
  delegateOnly(principal: string): boolean
}

/** The reason why a chain does not grant a call. */
interface DelegationProblem {
  readonly code: 'DELEGATION_INVALID' | 'DELEGATION_SCOPE_VIOLATION'
  readonly detail: string
}

/** The problem of a call under this chain; undefined if the chain grants it. */
export function problemOf(
  chain: readonly RegisteredDelegation[],
  call: DelegatedCall,
  parties: Parties,
): DelegationProblem | undefined {
  const invalid = invalidity(chain, call, parties)
  if (invalid !== undefined) return { code: 'DELEGATION_INVALID', detail: invalid }
  for (const link of chain) {
    const outside = outsideOf(link, call)
    if (outside !== undefined) return { code: 'DELEGATION_SCOPE_VIOLATION', detail: outside }
  }
  return undefined
}

/** The reason why a principal cannot act under this chain at this time; undefined if it can. */
export function invalidity(
  chain: readonly RegisteredDelegation[],
  { principal, time }: Pick<DelegatedCall, 'principal' | 'time'>,
  parties: Parties,
): string | undefined {
  const [newest] = chain
  const root = rootDelegator(chain)
  if (!newest || root === undefined) return 'there is no such delegation'
  if (newest.statement.delegate !== principal) return 'the delegation is for another principal'
  for (const [i, link] of chain.entries()) {
    const problem = problemOfLink(link, time, parties)
    if (problem !== undefined) return problem
    if (!follows(link, chain[i + 1])) return 'a link of the delegation does not follow from the one above it'
  }
  return parties.delegateOnly(root) ? 'the first delegator may act only under a delegation' : undefined
}

function problemOfLink(
  { statement: { delegator }, revoked, until, keyId }: RegisteredDelegation,
  time: number,
  parties: Parties,
): string | undefined {
  if (revoked) return 'the delegation, or one above it, is revoked'
  if (!(time <= until)) return 'the delegation, or one above it, has expired'
  if (parties.keyIdOf(delegator) !== keyId)
    return 'the delegation, or one above it, is not signed with a key of the policy'
  return parties.frozen(delegator) ? 'a delegator is frozen' : undefined
}

/** Whether a link follows from the one above it. The root must have no parent. */
function follows(
  { tenant, statement }: RegisteredDelegation,
  above: RegisteredDelegation | undefined,
): boolean {
  if (statement.tenant !== tenant || statement.parent !== (above?.id ?? null)) return false
  if (!above) return true
  return (
    statement.tenant === above.statement.tenant &&
    statement.ledger === above.statement.ledger &&
    statement.delegator === above.statement.delegate &&
    statement.depth < above.statement.depth
  )
}

function outsideOf(
  { statement: { effects, session }, tools }: RegisteredDelegation,
  call: DelegatedCall,
): string | undefined {
  if (!tools.some((each) => each.matches(call.tool))) return 'the tool is not delegated'
  if (effects && !effects.includes(call.effect)) return `the effect class \`${call.effect}\` is not delegated`
  return session === undefined || session === call.session || session === rememberedAs(call)
    ? undefined
    : 'the delegation is for another session'
}

/** The member in which a statement grants more than its parent; undefined if it only narrows. */
export function wideningOf(statement: DelegationStatement, parent: RegisteredDelegation): string | undefined {
  const { until, depth, tools, effects, session } = statement
  const { effects: allowed, session: only } = parent.statement
  if (!(Date.parse(until) <= parent.until)) return '`until`'
  if (depth >= parent.statement.depth) return '`depth`'
  // If one pattern matches the text of another, the other matches nothing more.
  if (!tools.every((tool) => parent.tools.some((each) => each.matches(tool)))) return '`tools`'
  if (allowed && !effects?.every((effect) => allowed.includes(effect))) return '`effects`'
  return only === undefined || only === session ? undefined : '`session`'
}

/** The state of principals according to a policy and to freezes. */
export function partiesIn(policy: Policy, frozen: Parties['frozen']): Parties {
  return {
    frozen,
    keyIdOf: (principal) => keyIn(policy, principal)?.id,
    delegateOnly: (principal) => isDelegateOnly(policy, principal),
  }
}

/** The key that a policy registers for exactly this principal. */
export function keyIn({ principals }: Policy, principal: string): PublicKey | undefined {
  return principals.find(({ name }) => name.exact && name.source === principal)?.key
}

/** Whether a principal may act only under a delegation. An entry with exactly this name decides, otherwise any matching pattern. */
export function isDelegateOnly({ principals }: Policy, principal: string): boolean {
  let found = false
  for (const { name, delegateOnly } of principals) {
    if (name.exact && name.source === principal) return delegateOnly
    found ||= delegateOnly && name.matches(principal)
  }
  return found
}
