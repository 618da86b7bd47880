// Issues, checks and revokes access tokens. A token is shown once and stored as a hash. Each issue and revocation is a
// receipt.

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { isList, isObject, parseJson, sha256Hex, type Json, type TokenChange } from '@tollgate/evidence'
import type { Caller, Kernel } from '@tollgate/kernel'
import { GatewayError } from './error.ts'

/** The roles of tokens. */
export const ROLES = ['agent', 'host', 'sentinel', 'operator', 'admin', 'auditor', 'metrics'] as const
export type Role = (typeof ROLES)[number]

/** The owner of a token. It comes from the gateway's records, never from the caller. */
export interface Identity {
  readonly role: Role
  readonly tenant: string
  /** The principal of the token, such as `agent:ci` or `user:olga`. */
  readonly principal: string
  /** The groups that rules name as approvers. */
  readonly groups: readonly string[]
  /** Whether the token belongs to a host application, which may open sessions and set their scopes. */
  readonly mayOpen?: boolean
  /** The person that the principal acts for, if its issuer names one. */
  readonly person?: string
}

/** Callers that an issuer of access tokens knows. */
export interface Subjects {
  /** The owner of a verified access token; undefined if it is not valid. */
  identify(token: string): Identity | undefined
  /** Verifies an access token, so that `identify` knows it. Never rejects. */
  verify(token: string): Promise<unknown>
}

/** Begins the names of principals that an issuer knows. No token of the gateway gets such a name. */
export const AGENT_PREFIX = 'oidc:'
/** Begins the names of people that an issuer knows. */
export const PERSON_PREFIX = 'oidc-user:'

/** The caller of a call for the kernel. */
export function kernelCaller({
  tenant,
  principal,
  person,
}: Pick<Identity, 'tenant' | 'principal' | 'person'>): Caller & Pick<Identity, 'principal'> {
  return { tenant, principal, ...(person !== undefined && { person }) }
}

/** A token as listed. The token itself is not stored. */
export interface TokenInfo extends Identity {
  /** SHA-256 of the token, in hexadecimal. */
  readonly hash: string
  /** When it was issued, in milliseconds. */
  readonly issued: number
  /** When it expires, in milliseconds; undefined if never. */
  readonly expires: number | undefined
  /** Whether the token is valid for one run of the gateway only. */
  readonly run: boolean
}

interface TokenRequest extends Omit<Identity, 'groups'> {
  readonly groups?: readonly string[]
  /** Lifetime in milliseconds; unlimited if not given. */
  readonly lasts?: number
  readonly run?: boolean
}

/** An authenticated caller. */
export interface KnownCaller {
  readonly identity: Identity
  /** A unique name for the principal within its tenant. */
  readonly owner: string
  /** Whether the token is still valid. */
  known(): boolean
}

/** The caller that owns a token; undefined if the token is not valid. */
export function callerBy(tokens: Pick<Tokens, 'identify'>, token: string): KnownCaller | undefined {
  const identity = tokens.identify(token)
  if (!identity) return undefined
  const { role, tenant, principal, mayOpen = false } = identity
  return {
    identity,
    owner: ownerOf(identity),
    known() {
      const now = tokens.identify(token)
      const same = now?.role === role && now.tenant === tenant && now.principal === principal
      return same && (now.mayOpen ?? false) === mayOpen
    },
  }
}

/** An agent token must not continue what a host token began, and no token what another person or other groups began. */
function ownerOf({ tenant, principal, mayOpen = false, person, groups }: Identity): string {
  const behind = person === undefined ? '' : `\n${[person, ...groups].join('\n')}`
  return `${tenant}\n${principal}${mayOpen ? '\nhost' : ''}${behind}`
}

// Local tokens are short; access tokens of an issuer have at most 8 KiB.
const BEARER = /^bearer +([\w.-]{1,8192})$/i

/** The token in the header `authorization`. */
export function bearerIn(authorization: string | undefined): string | undefined {
  return BEARER.exec(authorization ?? '')?.[1]
}

// The headers besides `authorization` that doors read a token from.
const KEY_HEADERS = ['x-api-key', 'api-key', 'tollgate-token']

/** Everything in the headers of a request that can be a token. */
export function tokensIn(header: (name: string) => string | undefined): readonly string[] {
  const given = [bearerIn(header('authorization')), ...KEY_HEADERS.map(header)]
  return given.filter((token) => token !== undefined)
}

const RECORD = 'token\n'

/** The name that the receipts of a token anchor. */
export function tokenAnchor(hash: string): string {
  return RECORD + hash
}

const FORM = /^tg_(?:agent|host|sentinel|operator|admin|auditor|metrics)_[A-Za-z0-9_-]{43}$/

/** Loads the tokens from the ledger of a kernel. Revokes those of earlier runs. `subjects` has the callers of an issuer. */
export async function openTokens(kernel: Kernel, subjects?: Subjects): Promise<Tokens> {
  const tokens = new Tokens(kernel, await knownTokens(kernel), subjects)
  kernel.followers.add((names) => tokens.takeUp(names))
  await tokens.endRun()
  return tokens
}

/** The tokens of a ledger. */
export class Tokens {
  readonly #kernel: Kernel
  readonly #known: Map<string, TokenInfo>
  readonly #subjects: Subjects | undefined

  constructor(kernel: Kernel, known: readonly TokenInfo[], subjects?: Subjects) {
    this.#kernel = kernel
    this.#subjects = subjects
    this.#known = new Map(known.map((info) => [info.hash, info]))
  }

  /** Takes up tokens that another gateway of the ledger has issued or revoked. */
  async takeUp(names: readonly string[]): Promise<void> {
    const changed = names.filter((name) => name.startsWith(RECORD))
    if (changed.length === 0) return
    const known = await readTokens(this.#kernel, changed)
    for (const name of changed) this.#known.delete(name.slice(RECORD.length))
    for (const info of known) this.#known.set(info.hash, info)
  }

  /** The owner of a token; undefined if it is unknown, revoked or expired. Takes the same time for every unknown token. */
  identify(token: string): Identity | undefined {
    const subject = this.#subjects?.identify(token)
    if (subject) return subject
    const hash = sha256Hex(FORM.test(token) ? token : '')
    const found = this.#known.get(hash)
    // A map compares in variable time, so the hash is compared again in constant time.
    const same = timingSafeEqual(Buffer.from(found?.hash ?? NO_TOKEN), Buffer.from(hash))
    return found && same && this.#isInForce(found) ? asCaller(found) : undefined
  }

  /** Verifies the access token of an issuer, so that `identify` knows it. Tokens of the gateway need no such step. */
  async verify(token: string): Promise<void> {
    await this.#subjects?.verify(token)
  }

  /**
   * Issues a token and records it. The token is only in this answer.
   *
   * @throws GatewayError `REQUEST_INVALID` if the name belongs to principals of an issuer.
   */
  async issue(
    request: TokenRequest,
    by: string,
  ): Promise<{ readonly token: string; readonly info: TokenInfo }> {
    const { role, tenant, principal, groups = [], lasts, run = false } = request
    refuseReserved(principal)
    const token = `tg_${role}_${randomBytes(32).toString('base64url')}`
    const hash = sha256Hex(token)
    const info = await this.#kernel.ledger.append({
      reserved: true,
      run: (turn): TokenInfo => {
        const expires = lasts === undefined ? undefined : turn.time + lasts
        const made = { hash, role, tenant, principal, groups, issued: turn.time, expires, run }
        const change = {
          op: 'issue',
          ...(groups.length > 0 && { groups }),
          ...(expires !== undefined && { expires: momentOf(expires) ?? '' }),
          by,
        } as const
        turn.append({ anchors: [RECORD + hash] }, (header) => changeOf(made, { ...header, ...change }))
        turn.put(RECORD + hash, JSON.stringify(made))
        return made
      },
    })
    this.#known.set(hash, info)
    return { token, info }
  }

  /** Revokes the token whose hash begins with these digits. @throws GatewayError `TOKEN_INVALID` unless exactly one does. */
  async revoke(digits: string, by: string): Promise<TokenInfo> {
    const [info, ...others] = [...this.#known.values()].filter(({ hash }) => hash.startsWith(digits))
    if (!info || others.length > 0 || digits.length < 8) {
      throw new GatewayError('TOKEN_INVALID', `the hash \`${digits}\` does not match exactly one token`, {
        hints: ['run `tollgate tokens list` to see the hashes; give at least 8 characters of one'],
      })
    }
    // Revoked in memory first: the token must not be accepted while the receipt is being written.
    this.#known.delete(info.hash)
    const name = RECORD + info.hash
    await this.#kernel.ledger.append({
      reserved: true,
      run: (turn) => {
        turn.append({ anchors: [name] }, (header) => changeOf(info, { ...header, op: 'revoke', by }))
        turn.put(name, undefined)
      },
    })
    return info
  }

  /** Revokes the tokens of this run. */
  async endRun(): Promise<void> {
    for (const { hash, run } of [...this.#known.values()]) if (run) await this.revoke(hash, 'tollgate')
  }

  /** All valid tokens, oldest first. */
  list(): readonly TokenInfo[] {
    const valid = [...this.#known.values()].filter((info) => this.#isInForce(info))
    return valid.sort((a, b) => a.issued - b.issued)
  }

  #isInForce({ expires }: TokenInfo): boolean {
    return expires === undefined || this.#kernel.host.now() <= expires
  }
}

/** A host token acts as an agent token that may also open sessions. */
export function asCaller(owner: Identity): Identity {
  return owner.role === 'host' ? { ...owner, role: 'agent', mayOpen: true } : owner
}

function refuseReserved(principal: string): void {
  if (![AGENT_PREFIX, PERSON_PREFIX].some((prefix) => principal.startsWith(prefix))) return
  throw new GatewayError('REQUEST_INVALID', `\`${principal}\` is a name of principals that sign in`, {
    hints: [`choose a name that does not begin with \`${AGENT_PREFIX}\` or \`${PERSON_PREFIX}\``],
  })
}

type ChangeOnly = Omit<TokenChange, 'kind' | 'tenant' | 'token_hash' | 'role' | 'principal'>

function changeOf({ hash, tenant, role, principal }: TokenInfo, change: ChangeOnly): TokenChange {
  return { ...change, kind: 'token', tenant, token_hash: hash, role, principal }
}

const NO_TOKEN = '0'.repeat(64)

/** The tokens in force. A record counts only if its newest receipt confirms it. */
async function knownTokens(kernel: Kernel): Promise<readonly TokenInfo[]> {
  return readTokens(kernel, await kernel.store.list(RECORD, 'records'))
}

async function readTokens(
  { store, writer }: Kernel,
  names: readonly string[],
): Promise<readonly TokenInfo[]> {
  const stored = await store.load(names)
  return stored.flatMap(({ record, anchor }, i) => {
    const info = record === undefined ? undefined : readInfo(record)
    // Sound: only token receipts anchor such names.
    const change = anchor && (parseJson(anchor) as unknown as TokenChange)
    const confirmed =
      info !== undefined &&
      RECORD + info.hash === names[i] &&
      change?.op === 'issue' &&
      change.token_hash === info.hash &&
      change.role === info.role &&
      change.principal === info.principal &&
      change.tenant === info.tenant &&
      change.expires === momentOf(info.expires) &&
      (change.groups ?? []).join('\n') === info.groups.join('\n')
    if (!confirmed) return []
    // A token for one run ends with the gateway that issued it, not with the others.
    return [{ ...info, run: info.run && (writer === undefined || change.writer === writer) }]
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
    // A damaged record is no token. `fsck` reports it.
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
