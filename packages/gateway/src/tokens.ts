// Access tokens: shown once, kept as hashes, each issue and revocation a receipt on the ledger.

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { isList, isObject, parseJson, sha256Hex, type Json, type TokenChange } from '@tollgate/evidence'
import type { Kernel } from '@tollgate/kernel'
import { GatewayError } from './error.ts'

/** What a token's holder may do. */
export const ROLES = ['agent', 'host', 'sentinel', 'operator', 'admin', 'auditor'] as const
/** What a token's holder may do. */
export type Role = (typeof ROLES)[number]

/** Who holds a token: what the gateway knows of a caller, none of it the caller's own word. */
export interface Identity {
  readonly role: Role
  readonly tenant: string
  /** Whom the token is bound to, such as `agent:ci` or `user:olga`. */
  readonly principal: string
  /** Groups that rules name as approvers. */
  readonly groups: readonly string[]
  /** The application that an agent runs in: it may say what sessions of its principal are for. */
  readonly mayOpen?: boolean
}

/** A token as it is listed. The token itself is nowhere. */
export interface TokenInfo extends Identity {
  /** SHA-256 of the token, in hexadecimal. */
  readonly hash: string
  /** When it was issued, in milliseconds. */
  readonly issued: number
  /** When it ends, in milliseconds; undefined if never. */
  readonly expires: number | undefined
  /** It is good for one run of the gateway, and revoked by the next. */
  readonly run: boolean
}

/** What a new token is to be. */
interface TokenRequest extends Omit<Identity, 'groups'> {
  readonly groups?: readonly string[]
  /** How long it is good for, in milliseconds; forever if not given. */
  readonly lasts?: number
  readonly run?: boolean
}

/** The tokens of a gateway. */
export interface Tokens {
  /** Whom a token belongs to; undefined if it is unknown, revoked or ended. Takes the same time for every unknown token. */
  identify(token: string): Identity | undefined
  /** Issues a token, on the record. The answer is the only time it is seen. */
  issue(request: TokenRequest, by: string): Promise<{ readonly token: string; readonly info: TokenInfo }>
  /** Revokes the token with this hash, or the only one whose hash begins so. @throws GatewayError `TOKEN_INVALID`. */
  revoke(hash: string, by: string): Promise<TokenInfo>
  /** Revokes the tokens that were made for this run. */
  endRun(): Promise<void>
  /** Every token that is in force, oldest first. */
  list(): readonly TokenInfo[]
}

/** Who asks. */
export interface KnownCaller {
  readonly identity: Identity
  /** One name for a principal of a tenant. */
  readonly owner: string
  /** Whether the token still holds. */
  known(): boolean
}

/** Who comes with a token; undefined if it is not in force. */
export function callerBy(tokens: Pick<Tokens, 'identify'>, token: string): KnownCaller | undefined {
  const identity = tokens.identify(token)
  if (!identity) return undefined
  const { role, tenant, principal, mayOpen = false } = identity
  return {
    identity,
    // What was begun with a host's token is not gone on with by an agent's.
    owner: `${tenant}\n${principal}${mayOpen ? '\nhost' : ''}`,
    known() {
      const now = tokens.identify(token)
      const same = now?.role === role && now.tenant === tenant && now.principal === principal
      return same && (now.mayOpen ?? false) === mayOpen
    },
  }
}

const RECORD = 'token\n'
const FORM = /^tg_(?:agent|host|sentinel|operator|admin|auditor)_[A-Za-z0-9_-]{43}$/

/** Takes up the tokens of a kernel's ledger, and revokes those that were made for an earlier run. */
export async function openTokens(kernel: Kernel): Promise<Tokens> {
  const known = new Map<string, TokenInfo>()
  for (const info of await knownTokens(kernel)) known.set(info.hash, info)

  function identify(token: string): Identity | undefined {
    const hash = sha256Hex(FORM.test(token) ? token : '')
    const found = known.get(hash)
    // A map finds by comparing; what it found is compared once more, in constant time.
    const same = timingSafeEqual(Buffer.from(found?.hash ?? NO_TOKEN), Buffer.from(hash))
    return found && same && isInForce(found) ? asCaller(found) : undefined
  }

  /** A host is an agent wherever it comes, and may say what its sessions are for. */
  function asCaller(info: TokenInfo): Identity {
    return info.role === 'host' ? { ...info, role: 'agent', mayOpen: true } : info
  }

  function isInForce({ expires }: TokenInfo): boolean {
    return expires === undefined || kernel.host.now() <= expires
  }

  async function issue(request: TokenRequest, by: string): Promise<{ token: string; info: TokenInfo }> {
    const { role, tenant, principal, groups = [], lasts, run = false } = request
    const token = `tg_${role}_${randomBytes(32).toString('base64url')}`
    const hash = sha256Hex(token)
    const info = await kernel.ledger.append({
      reserved: true,
      run: (turn): TokenInfo => {
        const expires = lasts === undefined ? undefined : turn.time + lasts
        const made = { hash, role, tenant, principal, groups, issued: turn.time, expires, run }
        turn.append({ anchors: [RECORD + hash] }, (header): TokenChange => ({
          ...header,
          kind: 'token',
          tenant,
          op: 'issue',
          token_hash: hash,
          role,
          principal,
          ...(groups.length > 0 && { groups }),
          ...(expires !== undefined && { expires: momentOf(expires) ?? '' }),
          by,
        }))
        turn.put(RECORD + hash, JSON.stringify(made))
        return made
      },
    })
    known.set(hash, info)
    return { token, info }
  }

  async function revoke(hash: string, by: string): Promise<TokenInfo> {
    const found = [...known.values()].filter((info) => info.hash.startsWith(hash))
    const [info] = found
    if (!info || found.length > 1 || hash.length < 8) {
      throw new GatewayError(
        'TOKEN_INVALID',
        `no token, or more than one, has a hash that begins with \`${hash}\``,
        {
          hints: ['`tollgate tokens list` shows the hashes; give at least 8 characters of one'],
        },
      )
    }
    // Out of force at once; the receipt follows. The other way round it would still pass while it is being written.
    known.delete(info.hash)
    const { role, tenant, principal } = info
    await kernel.ledger.append({
      reserved: true,
      run: (turn) => {
        turn.append({ anchors: [RECORD + info.hash] }, (header): TokenChange => ({
          ...header,
          kind: 'token',
          tenant,
          op: 'revoke',
          token_hash: info.hash,
          role,
          principal,
          by,
        }))
        turn.put(RECORD + info.hash, undefined)
      },
    })
    return info
  }

  async function endRun(): Promise<void> {
    for (const { hash, run } of [...known.values()]) if (run) await revoke(hash, 'tollgate')
  }

  await endRun()
  return {
    identify,
    issue,
    revoke,
    endRun,
    list: () => [...known.values()].filter(isInForce).sort((a, b) => a.issued - b.issued),
  }
}

const NO_TOKEN = '0'.repeat(64)

/** The tokens in force. A record is believed only as far as the ledger says the same. */
async function knownTokens({ store }: Kernel): Promise<readonly TokenInfo[]> {
  const names = await store.list(RECORD, 'records')
  const stored = await store.load(names)
  return stored.flatMap(({ record, anchor }, i) => {
    const info = record === undefined ? undefined : readInfo(record)
    // Sound: only token receipts anchor such names.
    const change = anchor && (parseJson(anchor) as unknown as TokenChange)
    const said =
      info !== undefined &&
      RECORD + info.hash === names[i] &&
      change?.op === 'issue' &&
      change.token_hash === info.hash &&
      change.role === info.role &&
      change.principal === info.principal &&
      change.tenant === info.tenant &&
      change.expires === momentOf(info.expires) &&
      (change.groups ?? []).join('\n') === info.groups.join('\n')
    return said ? [info] : []
  })
}

function momentOf(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString()
}

function readInfo(record: string): TokenInfo | undefined {
  let value: Json
  try {
    value = parseJson(record)
  } catch {
    // A damaged record is no token; that it is damaged, `fsck` says.
    return undefined
  }
  if (!isObject(value)) return undefined
  const { hash, role, tenant, principal, groups, issued, expires, run } = value
  const known = ROLES.find((each) => each === role)
  const texts = typeof hash === 'string' && typeof tenant === 'string' && typeof principal === 'string'
  if (known === undefined || !texts || typeof issued !== 'number' || !isList(groups)) return undefined
  return {
    hash,
    role: known,
    tenant,
    principal,
    groups: groups.filter((group) => typeof group === 'string'),
    issued,
    expires: typeof expires === 'number' ? expires : undefined,
    run: run === true,
  }
}
