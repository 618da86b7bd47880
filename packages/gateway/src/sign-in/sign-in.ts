// Accepts access tokens of the configured issuer. A token is verified once, when it first arrives; later requests find it in a
// bounded cache, until it expires or its key is no longer a key of the issuer.

import { sha256Hex } from '@tollgate/evidence'
import type { Kernel } from '@tollgate/kernel'
import type { SignInConfig } from '../config/sign-in.ts'
import type { Log } from '../log.ts'
import { Recent } from '../recent.ts'
import { asCaller, type Identity, type Subjects } from '../tokens.ts'
import { isJwt, verifyAccessToken } from './access-token.ts'
import { fetchJson, type FetchJson } from './fetch-json.ts'
import { FirstUse } from './first-use.ts'
import { IssuerKeys, type IssuerState } from './issuer-keys.ts'
import { SignInRefusal } from './refusal.ts'
import { subjectOf } from './subject.ts'

interface SignInOptions {
  readonly config: SignInConfig
  readonly kernel: Kernel
  readonly tenant: string
  readonly log: Log
  readonly fetch?: FetchJson
}

/** A verified token. */
interface Accepted {
  readonly identity: Identity
  readonly key: string
  /** When it expires, in milliseconds. */
  readonly expires: number
}

const MAX_ACCEPTED = 10_000

/** The callers that an issuer knows. */
export class SignIn implements Subjects {
  readonly config: SignInConfig
  readonly #options: SignInOptions
  readonly #keys: IssuerKeys
  readonly #firstUse: FirstUse
  readonly #accepted = new Recent<Accepted>(MAX_ACCEPTED)
  /** The tokens that are being verified. */
  readonly #running = new Map<string, Promise<SignInRefusal | undefined>>()

  constructor(options: SignInOptions) {
    const { config, kernel, tenant, log, fetch = fetchJson } = options
    const { issuer } = config
    this.config = config
    this.#options = options
    this.#keys = new IssuerKeys({ issuer, fetch, log, now: () => kernel.host.now() })
    this.#firstUse = new FirstUse({ kernel, issuer, tenant })
  }

  get state(): IssuerState {
    return this.#keys.state
  }

  /** The owner of a token that `verify` has accepted; undefined if there is none, or it is no longer valid. */
  identify(token: string): Identity | undefined {
    return isJwt(token) ? this.#find(sha256Hex(token)) : undefined
  }

  #find(hash: string): Identity | undefined {
    const found = this.#accepted.get(hash)
    if (!found) return undefined
    if (this.#options.kernel.host.now() <= found.expires && this.#keys.has(found.key)) return found.identity
    this.#accepted.delete(hash)
    return undefined
  }

  /** Verifies a token, so that `identify` knows it. Returns why it is refused; undefined if it is accepted or no JWT. Never rejects. */
  async verify(token: string): Promise<SignInRefusal | undefined> {
    if (!isJwt(token)) return undefined
    const hash = sha256Hex(token)
    if (this.#find(hash)) return undefined
    const running = this.#running.get(hash) ?? this.#accept(token, hash)
    this.#running.set(hash, running)
    return running.finally(() => this.#running.delete(hash))
  }

  async #accept(token: string, hash: string): Promise<SignInRefusal | undefined> {
    const { config, kernel, tenant, log } = this.#options
    try {
      const { claims, key, expires } = await verifyAccessToken(
        token,
        config,
        (wanted) => this.#keys.find(wanted),
        kernel.host.now(),
      )
      const subject = subjectOf(claims, config)
      await this.#firstUse.record(subject)
      const { person, ...caller } = subject
      const identity = asCaller({ ...caller, tenant, ...(person !== undefined && { person }) })
      this.#accepted.set(hash, { identity, key, expires })
      return undefined
    } catch (fault) {
      if (fault instanceof SignInRefusal) return fault
      // The ledger cannot record the first use, or an error of our own: the caller stays unknown.
      log('error', 'an access token could not be checked', {
        fault: fault instanceof Error ? fault.name : typeof fault,
      })
      return new SignInRefusal(
        'unavailable',
        'the gateway cannot check the access token now; try again later',
      )
    }
  }
}
