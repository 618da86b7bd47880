// A request for a reply of a model: read, what it reports is closed, what the provider would run is judged; then it goes on, and
// its reply is judged.

import { sha256Hex } from '@tollgate/evidence'
import type { Kernel } from '@tollgate/kernel'
import type { Reply } from '../exchange.ts'
import type { Log } from '../log.ts'
import type { Caller } from '../tokens.ts'
import { errorIn } from './answered.ts'
import { createAnswers, type Attempt } from './answers.ts'
import { readBody } from './body.ts'
import { Refused, type Dialect, type Reading } from './dialect.ts'
import { sendOn, type Entered } from './entered.ts'
import { faultReply, upstreamFault } from './errors.ts'
import { faultOf, translated } from './fault.ts'
import { headersFrom } from './headers.ts'
import { admitHosted, type Hosted } from './hosted.ts'
import { createJudge } from './judge.ts'
import { claimsOf, receive } from './receive.ts'
import { createRecent } from './recent.ts'
import { answerStreamed, answerWhole } from './replies.ts'
import { takeTurns, type Heard } from './results.ts'
import { summaryHeaders } from './summary.ts'
import type { UpstreamReply } from './upstream.ts'
import { createTally, type Tally, type Visit } from './visit.ts'

/** What governed requests need. */
export interface GovernOptions {
  readonly kernel: Kernel
  readonly log: Log
  /** Most bytes of a body. */
  readonly body: number
  /** How many receipts the ledger has, as far as it is durable. */
  readonly size: () => number
}

/** Governs a request. Never rejects, and calls `over` when the last of it has gone out. */
export type Govern = (entered: Entered, dialect: Dialect) => Promise<Reply>

const MOST_REMEMBERED = 20_000
const MOST_ITEMS = 100_000

/** Governs requests through a kernel. */
export function createGovern({ kernel, log, body: limit, size }: GovernOptions): Govern {
  const answers = createAnswers(() => kernel.host.now())
  const heard: Heard = { results: createRecent(MOST_REMEMBERED), words: createRecent(MOST_REMEMBERED) }
  const items = createRecent<true>(MOST_ITEMS)

  /** One that came before with the same key, or a new one; undefined if there is no key. */
  async function begin(
    { asked, caller, route }: Entered,
    bytes: Uint8Array,
  ): Promise<Reply | Attempt | undefined> {
    const key = asked.header('idempotency-key')
    if (key === undefined) return undefined
    return answers.begin(
      `${caller.owner}\n${route.path}\n${asked.header('tollgate-session') ?? ''}`,
      key,
      sha256Hex(bytes),
    )
  }

  async function converse(
    entered: Entered,
    dialect: Dialect,
    { bytes, tally, attempt }: { bytes: Uint8Array; tally: Tally; attempt: Attempt | undefined },
  ): Promise<Reply> {
    const { asked, caller, address } = entered
    const body = readBody(bytes)
    const { claims, stripped } = claimsOf(asked, body.value)
    const reading = dialect.readRequest(body.value, address.parameters)
    requireHandedOut(reading, caller)
    const visit = { kernel, caller, claims, tally, sources: [], onDecided: [], rulings: attempt?.rulings }
    const changed = await takeTurns(visit, reading, body, heard)
    const hosted = await admitHosted(visit, reading.hosted)
    try {
      const reply = await sendOn(
        entered,
        reading.stream,
        body.written(changed || stripped || reading.changed === true),
      )
      if (reply.status !== 200) return await answerFault(entered, reply, visit, hosted, attempt)
      const judge = createJudge(visit, reading.tools, hosted)
      const onItem = (id: string): void => items.set(`${caller.owner}\n${id}`, true)
      const judging = { entered, dialect, reply, visit, judge, hosted, attempt, onItem, log, size }
      return reading.stream ? answerStreamed(judging) : await answerWhole(judging)
    } catch (fault) {
      await hosted.close('unknown')
      throw fault
    }
  }

  /** What lies at the provider and was not handed out here may be what a tool has said, unseen. */
  function requireHandedOut({ references = [] }: Reading, { owner }: Caller): void {
    if (references.every((id) => items.has(`${owner}\n${id}`))) return
    const message =
      'the request rests on an item that was not handed out here since the gateway was started; send items themselves (with `store: false`), and ask for approvals again'
    throw new Refused(400, 'ROUTE_NOT_GOVERNED', message, 'input')
  }

  async function answerFault(
    { address, provider, over }: Entered,
    reply: UpstreamReply,
    { tally }: Visit,
    hosted: Hosted,
    attempt: Attempt | undefined,
  ): Promise<Reply> {
    const { status } = reply
    // What was refused has not run; after a fault nobody knows.
    await hosted.close(status >= 400 && status < 500 ? 'unsent' : 'unknown')
    const fault = translated(upstreamFault(status, await errorIn(reply), address.key), address)
    attempt?.drop()
    over()
    return faultReply(provider, fault, { ...headersFrom(reply.headers), ...summaryHeaders(tally, size()) })
  }

  return async (entered, dialect) => {
    const tally = createTally()
    let attempt: Attempt | undefined
    try {
      const bytes = await receive(entered.asked, limit)
      // A body takes its time, and the token may be gone by now.
      if (!entered.caller.known()) throw new Refused(401, 'TOKEN_UNKNOWN', 'the token is no longer in force')
      const begun = await begin(entered, bytes)
      if (begun && 'status' in begun) {
        entered.over()
        return begun
      }
      attempt = begun
      return await converse(entered, dialect, { bytes, tally, attempt })
    } catch (fault) {
      attempt?.drop()
      entered.over()
      return faultReply(entered.provider, faultOf(fault, log), summaryHeaders(tally, size()))
    }
  }
}
