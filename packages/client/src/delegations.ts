// Registers, lists and revokes delegations.

import type { Json, JsonObject, SignedDelegation } from '@tollgate/evidence'
import { jsonOf } from './answer.ts'
import { exchange } from './exchange.ts'
import { count, flag, id, listOf, object, orNull, text, time, word } from './reading.ts'
import type { Connection } from './transport.ts'

const STATUSES = ['in force', 'revoked', 'ended'] as const

/** A delegation that the gateway knows. */
export interface RegisteredDelegation {
  /** The id that calls use as `delegation`. */
  readonly id: string
  readonly delegator: string
  readonly delegate: string
  readonly tools: readonly string[]
  /** Allowed effect classes; null for all. */
  readonly effects: readonly string[] | null
  /** The only session in which it is valid; null for any. */
  readonly session: string | null
  readonly until: string
  readonly depth: number
  readonly parent: string | null
  /** Its status and that of all its parents. */
  readonly standing: (typeof STATUSES)[number]
  /** Id of its newest receipt. */
  readonly receipt: string
}

/** One delegation of a chain. */
export interface DelegationLink {
  readonly delegation: string
  readonly delegator: string
  readonly delegate: string
  readonly until: string
  readonly revoked: boolean
}

/** The delegations of a gateway. */
export interface Delegations {
  /**
   * Registers a delegation from `signDelegation` of `@tollgate/evidence`, or its envelope. Retried: registering the same delegation
   * again returns the first receipt.
   *
   * @throws TollgateError `delegation-refused`.
   */
  register(
    signed: SignedDelegation | Uint8Array | string,
  ): Promise<{ readonly delegation: string; readonly receipt: string }>
  /** All delegations. An agent sees those that it is part of. */
  list(): Promise<readonly RegisteredDelegation[]>
  /** One delegation with its chain of parents, the root last. */
  get(delegation: string): Promise<RegisteredDelegation & { readonly lineage: readonly DelegationLink[] }>
  /** Revokes a delegation and all below it. Not retried: after an error, check its status. */
  revoke(delegation: string): Promise<{ readonly receipt: string }>
}

/** The delegations of the gateway of a connection. */
export function delegationsOf(connection: Connection): Delegations {
  const read = async (path: string): Promise<JsonObject> =>
    object(jsonOf(await exchange(connection, { method: 'GET', path })), 'answer')
  const change = async (path: string, body?: object, retries?: number): Promise<JsonObject> => {
    const content = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await exchange(connection, { method: 'POST', path, ...content }, retries)
    return object(jsonOf(answer), 'answer')
  }
  return {
    async register(signed) {
      const answer = await change('/v1/delegations', { envelope: envelopeOf(signed) })
      return {
        delegation: id(answer['delegation'], 'delegation'),
        receipt: id(answer['receipt'], 'receipt'),
      }
    },
    list: async () => listOf(readDelegation)((await read('/v1/delegations'))['delegations'], 'delegations'),
    async get(delegation) {
      const answer = await read(pathOf(delegation))
      const lineage = listOf(readLink)(answer['lineage'], 'lineage')
      return { ...readDelegation(answer, 'answer'), lineage }
    },
    async revoke(delegation) {
      const answer = await change(`${pathOf(delegation)}/revoke`, undefined, 0)
      return { receipt: id(answer['receipt'], 'receipt') }
    },
  }
}

function pathOf(delegation: string): string {
  return `/v1/delegations/${encodeURIComponent(delegation)}`
}

function envelopeOf(signed: SignedDelegation | Uint8Array | string): string {
  if (typeof signed === 'string') return signed
  return new TextDecoder().decode(signed instanceof Uint8Array ? signed : signed.envelope)
}

function readDelegation(value: Json | undefined, name: string): RegisteredDelegation {
  const delegation = object(value, name)
  return {
    id: id(delegation['id'], 'id'),
    delegator: text(delegation['delegator'], 'delegator'),
    delegate: text(delegation['delegate'], 'delegate'),
    tools: listOf(text)(delegation['tools'], 'tools'),
    effects: orNull(listOf(text))(delegation['effects'], 'effects'),
    session: orNull(text)(delegation['session'], 'session'),
    until: time(delegation['until'], 'until'),
    depth: count(delegation['depth'], 'depth'),
    parent: orNull(id)(delegation['parent'], 'parent'),
    standing: word(...STATUSES)(delegation['standing'], 'standing'),
    receipt: id(delegation['receipt'], 'receipt'),
  }
}

function readLink(value: Json | undefined, name: string): DelegationLink {
  const link = object(value, name)
  return {
    delegation: id(link['delegation'], 'delegation'),
    delegator: text(link['delegator'], 'delegator'),
    delegate: text(link['delegate'], 'delegate'),
    until: time(link['until'], 'until'),
    revoked: flag(link['revoked'], 'revoked'),
  }
}
