// Guards the calls of one browser, one after the other: observes the page, says what the kernel must know, and observes again.

import { isList, isObject, sha256Hex, type JsonObject } from '@tollgate/evidence'
import { policyOf, postObservation, type Kernel, type ToolAnswer } from '@tollgate/kernel'
import { compileSchema } from '@tollgate/kernel/detection'
import type { Bound } from '../binding/bind.ts'
import { adapterOf, type AdapterName, type GuardedPage } from '../servers/adapters.ts'
import type { BrowserCalls, BrowserUse, GuardedCall, Performed } from './browser-calls.ts'
import { stepOf } from './history.ts'
import type { JudgedKind } from './kind.ts'
import type { OpenPage, OpenPages } from './pages.ts'
import { derivePlannerRef, readRequest, type BrowserRequest } from './request.ts'
import type { Targeting } from './targeting.ts'
import type { PageWatch, Watched } from './watch.ts'

/** An allowed call: what it may act on while it runs. */
export interface Act extends JudgedKind {
  readonly page: OpenPage | undefined
  readonly session: string
  /** The elements that were found; empty if it names none, or a person approved an unknown one. */
  readonly elements: readonly Bound[]
  /** Whether it may give files to the page. */
  readonly files: boolean
  /** The hash of the policy that was in force before the decision. */
  readonly policy: string
}

/** Runs an allowed call. */
type Perform = <Answer>(act: Act, dispatch: () => Promise<Answer>) => Promise<Performed<Answer>>

/** The parts that the calls of one browser need. */
interface CallsOptions {
  readonly adapter: AdapterName
  readonly kernel: Kernel
  readonly tenant: string
  readonly pages: OpenPages
  readonly watch: PageWatch
  readonly targeting: Targeting
  /** Runs an allowed call while it may act. */
  readonly perform: Perform
  /** The gateway only attached to the browser. */
  readonly withoutEgress: boolean
}

/** Creates the guard of one browser. */
export function guardCalls(options: CallsOptions): BrowserCalls {
  let turn: Promise<void> = Promise.resolve()
  return {
    async before(use) {
      let end = (): void => undefined
      const before = turn
      turn = new Promise((resolve) => (end = resolve))
      await before
      try {
        return await guardCall(options, use, end)
      } catch (fault) {
        end()
        throw fault
      }
    },
  }
}

async function guardCall(options: CallsOptions, use: BrowserUse, end: () => void): Promise<GuardedCall> {
  const { pages, watch, targeting } = options
  const adapter = adapterOf(options.adapter)
  const tool = adapter.tools.get(use.tool)
  // Not offered, so the kernel denies it: nothing is known of it.
  if (!tool) return { known: { guarded: { acts: 'page' } }, during, after: noPage, end }
  const request = readRequest(adapter, tool, use.args)
  const page = pages.current(request.page)
  const seen = page && request.acts !== 'browser' ? await watch.observe(page) : undefined
  const target = page && (await targeting.find(page, request, seen))
  const step = page && request.history && (await stepOf(page, request.history))
  const destination = request.address ?? step?.address
  const observation = seen && postOf(options, seen.observation)
  const planner = plannerOf(options, use)
  const reads = tool.effect === 'read'
  const guarded: GuardedPage = {
    acts: request.acts,
    ...(planner.derived && { derived: true }),
    ...(target && { target: target.shown }),
    ...(options.withoutEgress && { without_egress: true }),
  }
  const elements = reads ? [] : (target?.bound ?? [])
  const { acts } = request
  const { session } = use
  const { hash: policy } = policyOf(options.kernel, options.tenant)
  const files = tool.files === true
  const act = { reads, acts, step, page, session, destination, elements, files, policy }
  return {
    known: {
      guarded,
      browser: {
        ...observation,
        ...(planner.ref !== undefined && { planner_ref: planner.ref }),
        ...(destination !== undefined && { destination }),
        ...(!reads && { side_effect: true }),
      },
      ...(tool.refused.length > 0 && { demanded: demandOf(tool.refused) }),
    },
    during: (dispatch) => options.perform(act, dispatch),
    after: (result) => afterCall(options, request, page, result),
    end,
  }
}

/** Posts an observation as a Sentinel does, and refers to it. */
function postOf({ kernel, tenant }: CallsOptions, seen: Watched['observation']): object {
  return { observation: { url: seen.url }, observation_id: postObservation(kernel, tenant, seen) }
}

async function during<Answer>(dispatch: () => Promise<Answer>): Promise<{ readonly answer: Answer }> {
  return { answer: await dispatch() }
}

function noPage(): Promise<undefined> {
  return Promise.resolve(undefined)
}

/** The planner reference of a call; a derived one if it has none and the policy accepts it. */
function plannerOf(
  { kernel, tenant }: CallsOptions,
  { plannerRef, session, tool, args }: BrowserUse,
): { readonly ref: unknown; readonly derived: boolean } {
  const derived = plannerRef === undefined && policyOf(kernel, tenant).gates.browser.plannerRef === 'derived'
  return { ref: derived ? derivePlannerRef(session, tool, args) : plannerRef, derived }
}

async function afterCall(
  { pages, watch, targeting }: CallsOptions,
  request: BrowserRequest,
  before: OpenPage | undefined,
  result: JsonObject | undefined,
): Promise<ToolAnswer['page']> {
  const text = textsIn(result)
  pages.learn(text, request.tool.acts === 'browser')
  if (request.acts === 'browser') return undefined
  // Whose text it is cannot be said, so the agent does not get it.
  if (request.page === undefined && pages.uncertain()) return { url: '', findings: ['PAGE_NOT_SCANNED'] }
  const page = pages.current(request.page) ?? (request.acts === 'navigation' ? pages.newest() : before)
  if (!page) return undefined
  const seen = await watch.observe(page)
  await targeting.learn(page, text, request, seen)
  return { url: seen.observation.url, findings: seen.observation.sentinel_findings }
}

/** The texts of a result. */
function textsIn(result: JsonObject | undefined): string {
  const content = result?.['content']
  if (!isList(content)) return ''
  return content
    .map((part) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('\n')
}

const demands = new Map<string, ReturnType<typeof makeDemand>>()

/** A schema that refuses some arguments. */
function demandOf(refused: readonly string[]): ReturnType<typeof makeDemand> {
  const text = JSON.stringify({
    type: 'object',
    additionalProperties: true,
    properties: Object.fromEntries(refused.map((name) => [name, false])),
  })
  const demand = demands.get(text) ?? makeDemand(text)
  demands.set(text, demand)
  return demand
}

function makeDemand(text: string): {
  readonly hash: string
  readonly text: string
  readonly schema: ReturnType<typeof compileSchema>
} {
  // Sound: the text was just written as JSON.
  return { hash: sha256Hex(text), text, schema: compileSchema(JSON.parse(text) as JsonObject) }
}
