// A call of a browser server: its page is observed before the decision and after the result, and the server acts only in between.

import { isList, type JsonObject } from '@tollgate/evidence'
import type { Dispatched, Govern, Order, OrderOutcome } from './govern.ts'
import type { ServerLink } from './link.ts'
import { UpstreamFault, type UpstreamAnswer, type UpstreamFaultCode } from './server/upstream.ts'

/** A tool call for a browser server. */
interface BrowserOrder {
  readonly link: ServerLink
  /** The name of the tool at the server. */
  readonly own: string
  readonly order: Order
  readonly session: string
  readonly plannerRef: unknown
  /** Cancels the call. */
  readonly signal: AbortSignal
}

/** The faults after which the server may still do the call. */
const UNANSWERED = new Set<UpstreamFaultCode>(['CANCELLED', 'SILENT', 'LOST', 'GARBLED'])

/** Judges a call with what its browser shows and, if allowed, runs it. */
export async function runGuarded(
  through: Govern,
  { link, own, order, session, plannerRef, signal }: BrowserOrder,
  run: (judged: JsonObject) => Promise<UpstreamAnswer>,
): Promise<OrderOutcome> {
  const { browser } = link.upstream
  if (!browser) throw new UpstreamFault('UNREACHABLE', `the browser of \`${link.name}\` is not running`)
  const call = await browser.before({ tool: own, args: order.args, session, plannerRef })
  let ending: Promise<void> | undefined
  const dispatch = async (judged: JsonObject): Promise<UpstreamAnswer> => {
    // The call was judged by the pages of this browser, and an earlier call may have ended it.
    if (link.upstream.browser !== browser)
      throw new UpstreamFault('UNREACHABLE', `the browser of \`${link.name}\` has ended`)
    // Nothing is sent then.
    const isCancelled = signal.aborted
    try {
      return await run(judged)
    } catch (fault) {
      const isUnanswered = fault instanceof UpstreamFault && UNANSWERED.has(fault.code)
      // The rest of this call must not run in the window of the next one.
      if (isUnanswered && !isCancelled) ending = link.upstream.abandon?.(browser).catch(() => undefined)
      throw fault
    }
  }
  try {
    return await through.run({ ...order, ...call.known }, async (judged): Promise<Dispatched> => {
      const { answer, stopped, blocked } = await call.during(() => dispatch(judged))
      const page = await call.after(answer.ok ? answer.result : undefined)
      return {
        ...(stopped === undefined ? withNote(answer, blocked) : insteadOf(stopped)),
        ...(page && { page }),
      }
    })
  } finally {
    await ending
    call.end()
  }
}

/** The answer with a note about blocked requests, so that the agent knows why a page is not complete. */
function withNote(answer: UpstreamAnswer, blocked: string | undefined): UpstreamAnswer {
  if (blocked === undefined || !answer.ok) return answer
  const { content } = answer.result
  const note = { type: 'text', text: `[Tollgate] ${blocked}.` }
  return isList(content) ? { ok: true, result: { ...answer.result, content: [...content, note] } } : answer
}

/** The result of an action that the gateway stopped. The server may report success. */
function insteadOf(stopped: string): UpstreamAnswer {
  const text = `[Tollgate] The gateway stopped this action: ${stopped}. Take a new snapshot, and look at the page before you act.`
  return { ok: true, result: { content: [{ type: 'text', text }], isError: true } }
}
