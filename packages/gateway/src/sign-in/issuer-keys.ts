// Keeps the public keys of the issuer. They are fetched again every ten minutes while they are used, and for an unknown key at
// most every ten seconds. If the issuer cannot be reached, the last keys are valid for an hour.

import type { JsonObject } from '@tollgate/evidence'
import type { SignInAlgorithm } from '../config/sign-in.ts'
import { problemOfUrl } from '../config/value.ts'
import type { Log } from '../log.ts'
import type { FetchJson } from './fetch-json.ts'
import { readKeySet, type IssuerKey } from './key-set.ts'
import { invalid, SignInRefusal } from './refusal.ts'

/** How often keys in use are fetched again, in milliseconds. */
export const REFRESH_MS = 600_000
/** The shortest time between two fetches, in milliseconds. */
export const RETRY_MS = 10_000
/** How long keys are valid after they were fetched, in milliseconds. */
export const VALID_MS = 3_600_000

/** The key that a token names. */
export interface KeyWanted {
  readonly kid: string | undefined
  readonly alg: SignInAlgorithm
}

interface IssuerKeysOptions {
  readonly issuer: string
  readonly fetch: FetchJson
  /** The time in milliseconds. */
  readonly now: () => number
  readonly log: Log
}

/** The state of the keys, for people who look for a fault. */
export interface IssuerState {
  /** The number of usable keys. */
  readonly keys: number
  /** When they were fetched, in milliseconds; undefined if never. */
  readonly fetched: number | undefined
  /** Why the newest fetch failed; undefined if it succeeded. */
  readonly fault: string | undefined
}

/** Fetches the keys of an issuer by its discovery document. @throws Error */
async function fetchKeys(
  issuer: string,
  fetch: FetchJson,
): Promise<{ readonly keys: readonly IssuerKey[]; readonly date: number | undefined }> {
  const { json, date } = await fetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
  const { json: set } = await fetch(addressIn(json, issuer))
  return { keys: await readKeySet(set), date }
}

function addressIn({ issuer: own, jwks_uri: address }: JsonObject, issuer: string): string {
  // Another server that answers for the issuer must not choose the keys (OpenID Connect Discovery, 4.3).
  if (own !== issuer) throw new Error('the discovery document belongs to another `issuer`')
  if (typeof address === 'string' && problemOfUrl(address) === undefined) return address
  throw new Error('the discovery document has no `jwks_uri` with `https://`')
}

/** The keys of one issuer. */
export class IssuerKeys {
  readonly #options: IssuerKeysOptions
  #keys: readonly IssuerKey[] = []
  #fetched: number | undefined
  #tried = -Infinity
  #running: Promise<void> | undefined
  #fault: string | undefined

  constructor(options: IssuerKeysOptions) {
    this.#options = options
  }

  get state(): IssuerState {
    return { keys: this.#keys.length, fetched: this.#fetched, fault: this.#fault }
  }

  /** Whether a key is still a key of the issuer. Fetches the keys in the background if they are old. */
  has(id: string): boolean {
    if (this.#age() > REFRESH_MS) void this.#refresh()
    return this.#isValid() && this.#keys.some((key) => key.id === id)
  }

  /** The key of a token. @throws SignInRefusal */
  async find(wanted: KeyWanted): Promise<IssuerKey> {
    if (!this.#isValid()) await this.#refresh()
    if (!this.#isValid()) throw new SignInRefusal('unavailable', UNAVAILABLE)
    if (this.#age() > REFRESH_MS) void this.#refresh()
    const known = this.#match(wanted)
    if (known) return known
    await this.#refresh()
    const found = this.#match(wanted)
    if (found) return found
    throw invalid('the issuer has no key with the `kid` and `alg` of the access token; get a new token')
  }

  /** Fetches the keys now, unless that was tried just before. Never rejects. */
  #refresh(): Promise<void> {
    if (this.#running) return this.#running
    const { now } = this.#options
    if (now() - this.#tried < RETRY_MS) return Promise.resolve()
    this.#tried = now()
    this.#running = this.#fetch().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #fetch(): Promise<void> {
    const { issuer, fetch, now, log } = this.#options
    try {
      const { keys } = await fetchKeys(issuer, fetch)
      this.#keys = keys
      this.#fetched = now()
      if (this.#fault !== undefined) log('info', 'the keys of the issuer are available again', { issuer })
      this.#fault = undefined
    } catch (cause) {
      this.#fault = cause instanceof Error ? cause.message : 'no reason given'
      log('warn', 'the keys of the issuer cannot be fetched', { issuer, because: this.#fault })
    }
  }

  #age(): number {
    return this.#options.now() - (this.#fetched ?? -Infinity)
  }

  #isValid(): boolean {
    const age = this.#age()
    // A clock that was set back must not make old keys valid for longer.
    return age <= VALID_MS && age >= -RETRY_MS
  }

  /** Exactly one key must fit: the gateway does not try several. */
  #match({ kid, alg }: KeyWanted): IssuerKey | undefined {
    const fitting = this.#keys.filter(
      (key) => key.algorithms.includes(alg) && (kid === undefined || key.kid === kid),
    )
    return fitting.length === 1 ? fitting[0] : undefined
  }
}

const UNAVAILABLE =
  'the gateway cannot get the keys of the issuer, so it accepts no access token now; try again later, or ask an operator to check the issuer'
