// The door for agents that are built on a model's API: they change their base URL, and every call that the model proposes is
// judged before they see it. `/openai/v1/…` and `/anthropic/v1/…`.

import type { Entrant, Kernel } from '@tollgate/kernel'
import { createBudget, type Budget } from '../budget.ts'
import type { DoorRequest, Door, Reply } from '../exchange.ts'
import type { Log } from '../log.ts'
import { callerBy, type KnownCaller, type Tokens } from '../tokens.ts'
import { Refused, TooMuch, type Provider } from './dialect.ts'
import type { Entered } from './entered.ts'
import { faultReply } from './errors.ts'
import { faultOf } from './fault.ts'
import { createFlights, requireThawed } from './frozen.ts'
import { createGovern } from './governed.ts'
import { answerPlain } from './plain.ts'
import { sizeOf } from './receive.ts'
import { createCapacity } from './capacity.ts'
import { providerOf, routeOf } from './routes.ts'
import { summaryHeaders } from './summary.ts'
import { createUpstream, type LlmUpstream, type UpstreamAddress } from './upstream.ts'
import { createTally } from './request-context.ts'

/** What the door is made of. */
interface LlmOptions {
  readonly kernel: Kernel
  readonly tokens: Pick<Tokens, 'identify'>
  readonly log: Log
  readonly upstreams: ReadonlyMap<Provider, UpstreamAddress>
  /** Most bytes of a body. */
  readonly body: number
  /** How many receipts the ledger has, as far as it is durable. */
  readonly size: () => number
  /** How much each principal may have the gateway read; the default limits if not given. */
  readonly budget?: Budget
}

/** Opens the door. */
export function createLlmDoor(options: LlmOptions): Door {
  const { tokens, log, size, budget = createBudget() } = options
  const govern = createGovern(options)
  const room = createCapacity()
  const flights = createFlights(options.kernel)
  const upstreams = new Map<Provider, { address: UpstreamAddress; upstream: LlmUpstream }>(
    [...options.upstreams].map(([provider, address]) => [
      provider,
      { address, upstream: createUpstream(address) },
    ]),
  )
  let closing = false

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
    const caller = callerOf(asked, tokens, known.address)
    const route = routeOf(provider, asked.method, rest, asked.search)
    if (closing) throw new Refused(503, 'STOPPING', 'the gateway is being stopped')
    const { tenant, principal } = caller.identity
    const entrant: { -readonly [name in keyof Entrant]: Entrant[name] } = {
      tenant,
      principal,
      session: asked.header('tollgate-session'),
    }
    await requireThawed(options.kernel, entrant)
    const admit = (bytes: number): void => {
      const share = budget.take(caller.identity, bytes)
      if (!share.ok) throw new TooMuch(share.after)
    }
    // Who is in debt is sent away before anything is read; what is sent is charged once it is known how much of it is text.
    if (route.method === 'POST') admit(0)
    const place = room.enter(caller.owner, route.method === 'POST' ? sizeOf(asked, options.body) : 0)
    const flight = new AbortController()
    const stay = asked.onGone(() => flight.abort())
    const landed = flights.add(flight, entrant)
    asked.mayTakeLong()
    const over = (): void => {
      place.leave()
      stay()
      landed()
    }
    const entered: Entered = {
      ...{ asked, caller, provider, route, ...known, over },
      signal: flight.signal,
      requireThawed: (session = entrant.session) => {
        // What is under way is ended by a freeze of this session too.
        entrant.session = session
        return requireThawed(options.kernel, entrant)
      },
      abort: () => flight.abort(),
      weigh: (bytes) => place.resize(bytes),
      admit,
      failed: (fault) => {
        if (fault instanceof Refused && fault.code === 'AMBIGUOUS_INPUT') budget.fine(caller.identity)
      },
    }
    return route.dialect ? govern(entered, route.dialect) : answerPlain(entered, options)
  }

  return {
    answer,
    end: () => void (closing = true),
    async close() {
      flights.close()
      await Promise.all([...upstreams.values()].map(({ upstream }) => upstream.close()))
    },
  }
}

function notConfigured(provider: Provider): Refused {
  const message = `there is no model server here; set \`llm.${provider}.url\` in tollgate.yaml, and start the gateway again`
  return new Refused(404, 'ROUTE_NOT_GOVERNED', message)
}

const BEARER = /^bearer +([\w-]{1,128})$/i

/**
 * Who asks. The token comes where a client puts its key; where the client's own key goes on, in a header of its own.
 *
 * @throws Refused
 */
function callerOf(
  asked: DoorRequest,
  tokens: Pick<Tokens, 'identify'>,
  { key }: UpstreamAddress,
): KnownCaller {
  const bearer = BEARER.exec(asked.header('authorization') ?? '')?.[1]
  const given =
    asked.header('tollgate-token') ?? (key === undefined ? undefined : (bearer ?? asked.header('x-api-key')))
  const caller = callerBy(tokens, given ?? '')
  if (!caller) throw unknownToken(key === undefined)
  const { role } = caller.identity
  if (role === 'agent') return caller
  const message = `the token has the role \`${role}\`; agents come with the role \`agent\``
  throw new Refused(403, 'ROLE_FORBIDDEN', message)
}

function unknownToken(ownKey: boolean): Refused {
  const where = ownKey ? 'in the header `tollgate-token`' : 'as the API key of the client'
  const message = `the token is missing, unknown, revoked or has ended; give one of the gateway's ${where} (\`tollgate tokens issue --role agent --principal agent:NAME\` makes one)`
  return new Refused(401, 'TOKEN_UNKNOWN', message)
}
