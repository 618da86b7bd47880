// The LLM door, such as `/openai/v1/…` and `/anthropic/v1/…`. Agents change their base URL, and every call that the model proposes is
// judged before they see it.

import type { Kernel } from '@tollgate/kernel'
import { createBudget, type Budget, type Spender } from '../budget.ts'
import type { DoorRequest, Door, Reply } from '../exchange.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { bearerIn, callerBy, type KnownCaller, type Tokens } from '../tokens.ts'
import { Refused, TooMuch } from './dialect.ts'
import type { Entered } from './entered.ts'
import { faultReply } from './errors.ts'
import { faultOf } from './fault.ts'
import { ActiveRequests, requireNotFrozen } from './frozen.ts'
import { GovernedRequests } from './governed.ts'
import { meteredUpstream } from './metered.ts'
import { answerPlain } from './plain.ts'
import { sizeOf } from './receive.ts'
import { createCapacity } from './capacity.ts'
import { KEY_HEADERS, TRAITS, type Provider } from './providers.ts'
import { takeKey } from './query-key.ts'
import { providerOf, routeOf } from './routes.ts'
import { createUpstream, type UpstreamAddress } from './upstream.ts'
import { createTally, summaryHeaders } from './request-context.ts'

interface LlmOptions {
  readonly kernel: Kernel
  readonly tokens: Pick<Tokens, 'identify'>
  readonly log: Log
  readonly upstreams: ReadonlyMap<Provider, UpstreamAddress>
  /** Largest body in bytes. */
  readonly body: number
  /** The number of durable receipts in the ledger. */
  readonly size: () => number
  /** Milliseconds that a request waits for the approval of its calls; 0 if not given. */
  readonly wait?: number
  /** Milliseconds without text after which a stream gets a ping. */
  readonly quiet?: number
  /** Calls back after each change of the ledger. Returns a function that stops it. */
  readonly watch: (listener: () => void) => () => void
  /** Limits how much the gateway reads for each principal; the default limits if not given. */
  readonly budget?: Budget
  /** Counts and times requests to model servers. */
  readonly metrics?: Pick<Metrics, 'upstream'>
}

/** Opens the door. */
export function createLlmDoor(options: LlmOptions): Door {
  const { tokens, log, size, wait = 0, budget = createBudget(), metrics } = options
  const ending = new AbortController()
  const governed = new GovernedRequests({ ...options, wait, ending: ending.signal })
  const capacity = createCapacity()
  const active = new ActiveRequests(options.kernel)
  const upstreams = new Map<Provider, Pick<Entered, 'address' | 'upstream'>>()
  for (const [provider, address] of options.upstreams) {
    const own = createUpstream(address)
    const upstream = metrics ? meteredUpstream(own, provider, metrics.upstream) : own
    upstreams.set(provider, { address, upstream })
  }

  async function answer(asked: DoorRequest): Promise<Reply | undefined> {
    const found = providerOf(asked.path)
    if (!found) return undefined
    const { provider, rest } = found
    try {
      return await enter(asked, provider, rest)
    } catch (fault) {
      return faultReply(provider, faultOf(fault, log), summaryHeaders(createTally(), size()))
    }
  }

  async function enter(asked: DoorRequest, provider: Provider, rest: string): Promise<Reply> {
    const known = upstreams.get(provider)
    if (!known) throw notConfigured(provider)
    const { search, key: queryKey } = takeKey(asked.search, TRAITS[provider].keyParameter)
    const caller = callerOf(asked, tokens, known.address, queryKey)
    const route = routeOf(provider, asked.method, rest, search)
    if (ending.signal.aborted) throw new Refused(503, 'STOPPING', 'the gateway is stopping')
    const { tenant, principal } = caller.identity
    const session: unknown = asked.header('tollgate-session')
    const entrant = { tenant, principal, session }
    await requireNotFrozen(options.kernel, entrant)
    const spending = spendingOf(budget, caller.identity)
    // A caller in debt is refused before its body is read. The body is charged when the amount of text is known.
    if (route.method === 'POST') spending.admit(0)
    const place = capacity.enter(caller.owner, route.method === 'POST' ? sizeOf(asked, options.body) : 0)
    const abort = new AbortController()
    const unwatch = asked.onGone(() => abort.abort())
    active.set(abort, entrant)
    asked.mayTakeLong()
    const over = (): void => {
      place.leave()
      unwatch()
      active.delete(abort)
    }
    const address = { ...known.address, key: known.address.own?.get(principal) ?? known.address.key }
    const entered: Entered = {
      ...{ asked, caller, provider, route, queryKey, ...known, address, over },
      signal: abort.signal,
      requireNotFrozen: (named = entrant.session) => {
        // A freeze of this session now ends the request too.
        entrant.session = named
        return requireNotFrozen(options.kernel, entrant)
      },
      abort: () => abort.abort(),
      resize: (bytes) => place.resize(bytes),
      ...spending,
    }
    return route.dialect ? governed.answer(entered, route.dialect) : answerPlain(entered, options)
  }

  return {
    name: 'llm',
    answer,
    end: () => ending.abort(),
    async close() {
      active.close()
      await Promise.all([...upstreams.values()].map(({ upstream }) => upstream.close()))
    },
  }
}

/** Charges a caller for what it sends. */
function spendingOf(budget: Budget, who: Spender): Pick<Entered, 'admit' | 'failed'> {
  return {
    admit(bytes) {
      const share = budget.take(who, bytes)
      if (!share.ok) throw new TooMuch(share.after)
    },
    failed(fault) {
      if (fault instanceof Refused && fault.code === 'AMBIGUOUS_INPUT') budget.fine(who)
    },
  }
}

function notConfigured(provider: Provider): Refused {
  const message = `no model server is configured; set \`llm.${provider}.url\` in tollgate.yaml and restart the gateway`
  return new Refused(404, 'ROUTE_NOT_GOVERNED', message)
}

/**
 * The authenticated caller. The token comes in place of the API key; if the client's own key is forwarded, in the header
 * `tollgate-token`.
 * @throws Refused
 */
function callerOf(
  asked: DoorRequest,
  tokens: Pick<Tokens, 'identify'>,
  { key }: UpstreamAddress,
  queryKey: string | undefined,
): KnownCaller {
  const bearer = bearerIn(asked.header('authorization'))
  const [apiKey] = KEY_HEADERS.flatMap((name) => asked.header(name) ?? [])
  const given =
    asked.header('tollgate-token') ?? (key === undefined ? undefined : (bearer ?? apiKey ?? queryKey))
  const caller = callerBy(tokens, given ?? '')
  if (!caller) throw unknownToken(asked, key === undefined)
  const { role } = caller.identity
  if (role === 'agent') return caller
  const message = `the token has the role \`${role}\`: use a token with the role \`agent\``
  throw new Refused(403, 'ROLE_FORBIDDEN', message)
}

function unknownToken({ signIn }: DoorRequest, ownKey: boolean): Refused {
  const { refusal } = signIn ?? {}
  if (refusal?.kind === 'unavailable') return new Refused(503, 'SIGN_IN_UNAVAILABLE', refusal.message)
  if (refusal) return new Refused(401, 'TOKEN_UNKNOWN', refusal.message)
  const where = ownKey ? 'in the header `tollgate-token`' : 'as the API key of the client'
  const message = `the token is missing, unknown, revoked or expired; send a Tollgate token ${where}; an admin issues one`
  return new Refused(401, 'TOKEN_UNKNOWN', message)
}
