// Operations of people on a gateway: freezes, policies, status. Changes are not retried: after an error, check the status first.

import { canonicalize, type Json, type JsonObject } from '@tollgate/evidence'
import { jsonOf } from './answer.ts'
import { exchange } from './exchange.ts'
import { count, id, listOf, object, orNull, text, time, word } from './reading.ts'
import type { Connection, Request } from './transport.ts'

const SCOPES = ['all', 'principal', 'tool', 'session'] as const
const ROLES = ['agent', 'host', 'sentinel', 'operator', 'admin', 'auditor', 'metrics'] as const

/** A freeze to set or lift. */
export interface FreezeOrder {
  readonly scope: (typeof SCOPES)[number]
  /** The principal, tool or session; missing for `all`. */
  readonly target?: string
  readonly frozen: boolean
  readonly because?: string
}

/** A freeze in force. */
export interface Frozen {
  readonly scope: (typeof SCOPES)[number]
  readonly target: string | null
  readonly tenant: string | null
  readonly by: string
  readonly because: string | null
  readonly since: string
}

/** The active policy. */
export interface ActivePolicy {
  /** Null if no policy is active. */
  readonly name: string | null
  readonly hash: string | null
  readonly text: string | null
  /** The status of every step of the ladder. */
  readonly rungs: readonly { readonly rung: string; readonly standing: string }[]
  /** The policy file, if it differs from what is active. */
  readonly pending: JsonObject | null
}

/** A policy that was activated. */
export interface Activated {
  readonly receipt: string
  readonly name: string
  readonly hash: string
}

/** The status of a gateway, and the identity of the token. */
export interface GatewayStatus {
  readonly version: string
  readonly ledger: string
  /** Number of entries of the ledger. */
  readonly size: number
  /** Why the ledger is poisoned and every call is denied; null if it is not. */
  readonly poisoned: string | null
  readonly since: string
  readonly tenant: string
  readonly principal: string | null
  readonly role: (typeof ROLES)[number]
}

/** The policy of a gateway. */
export interface Policies {
  get(): Promise<ActivePolicy>
  /** Puts a policy in force. @throws TollgateError `policy-invalid` with `problem.mistakes`. */
  activate(text: string): Promise<Activated>
  /** Explains the answer of each step and each rule to a call. Writes no receipt. */
  explain(call: object): Promise<JsonObject>
}

/** The operations of people on a gateway. */
export interface Operations {
  /** Sets or lifts a freeze. */
  freeze(order: FreezeOrder): Promise<{ readonly receipt: string }>
  freezes(): Promise<readonly Frozen[]>
  readonly policy: Policies
  status(): Promise<GatewayStatus>
}

/** The operations on the gateway of a connection. */
export function operationsOf(connection: Connection): Operations {
  const read = async (path: string): Promise<JsonObject> => ask(connection, { method: 'GET', path })
  const change = async (path: string, body: object): Promise<JsonObject> =>
    ask(connection, { method: 'POST', path, body: canonicalize(body) }, 0)
  return {
    freeze: async (order) => ({ receipt: id((await change('/v1/freeze', order))['receipt'], 'receipt') }),
    freezes: async () => listOf(readFrozen)((await read('/v1/freeze'))['freezes'], 'freezes'),
    policy: {
      get: async () => readPolicy(await read('/v1/policy')),
      async activate(policy) {
        const answer = await change('/v1/policy', { text: policy })
        return {
          receipt: id(answer['receipt'], 'receipt'),
          name: text(answer['name'], 'name'),
          hash: text(answer['hash'], 'hash'),
        }
      },
      explain: (call) => change('/v1/policy/explain', call),
    },
    status: async () => readStatus(await read('/v1/status')),
  }
}

async function ask(connection: Connection, request: Request, retries?: number): Promise<JsonObject> {
  return object(jsonOf(await exchange(connection, request, retries)), 'answer')
}

function readFrozen(value: Json | undefined, name: string): Frozen {
  const frozen = object(value, name)
  return {
    scope: word(...SCOPES)(frozen['scope'], 'scope'),
    target: orNull(text)(frozen['target'], 'target'),
    tenant: orNull(text)(frozen['tenant'], 'tenant'),
    by: text(frozen['by'], 'by'),
    because: orNull(text)(frozen['because'], 'because'),
    since: time(frozen['since'], 'since'),
  }
}

function readPolicy(policy: JsonObject): ActivePolicy {
  return {
    name: orNull(text)(policy['name'], 'name'),
    hash: orNull(text)(policy['hash'], 'hash'),
    text: orNull(text)(policy['text'], 'text'),
    rungs: listOf((value, name) => {
      const rung = object(value, name)
      return { rung: text(rung['rung'], 'rung'), standing: text(rung['standing'], 'standing') }
    })(policy['rungs'], 'rungs'),
    pending: orNull(object)(policy['pending'], 'pending'),
  }
}

function readStatus(status: JsonObject): GatewayStatus {
  return {
    version: text(status['version'], 'version'),
    ledger: text(status['ledger'], 'ledger'),
    size: count(status['size'], 'size'),
    poisoned: orNull(text)(status['poisoned'], 'poisoned'),
    since: time(status['since'], 'since'),
    tenant: text(status['tenant'], 'tenant'),
    principal: orNull(text)(status['principal'], 'principal'),
    role: word(...ROLES)(status['role'], 'role'),
  }
}
