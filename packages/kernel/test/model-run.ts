// Drives the kernel and the model through the same worlds, and stops at the first thing that they do differently.

import { canonicalize } from '@tollgate/evidence'
import { activatePolicy, answerRequest, pinTool, setFreeze, unpinTool } from '../src/administer.ts'
import { definitionOf } from '../src/catalogue.ts'
import { authorize, type Authorization } from '../src/enforce.ts'
import { KernelError } from '../src/error.ts'
import { foundingBatch } from '../src/genesis.ts'
import { openKernel, type Kernel, type KernelOptions } from '../src/kernel.ts'
import type { Policy } from '../src/policy/parse.ts'
import type { Batch } from '../src/store.ts'
import { makeWorld, Random } from './model-cases.ts'
import {
  createPlainStore,
  modelCallOf,
  policyOf,
  toolCallOf,
  withReplaced,
  type PlainStore,
} from './model-kernel.ts'
import { NO_MODEL_POLICY } from './model-world.ts'
import type { CallSpec, Event, FreezeTarget, Lost, World } from './model-world.ts'
import { Model, type ModelDecision } from './model.ts'
import { fixedKey, ORIGIN, START, WRITER } from './rig.ts'

/** One line that both sides must agree on. */
function lineOf(parts: readonly (string | number | undefined)[]): string {
  return parts.map((part) => String(part ?? '-')).join(' ')
}

function modelLine({ verdict, reason, rung, rule, score, window, seq, request }: ModelDecision): string {
  const places = score === undefined ? undefined : String(Math.floor(score / 100)).padStart(5, '0')
  const decimal = places?.replace(/(?=.{4}$)/, '.')
  return lineOf([verdict, reason, rung, rule?.id, decimal, window, seq, request])
}

/** The two of them, side by side. */
class Pair {
  readonly model: Model
  readonly #world: World
  readonly #options: KernelOptions
  readonly #store: PlainStore
  readonly #policies: readonly Policy[]
  /** Ids of the requests, by the number that they have in the model. */
  readonly #requests: string[] = []
  #kernel: Kernel
  #clock = START

  private constructor(world: World, options: KernelOptions, store: PlainStore, kernel: Kernel) {
    this.#world = world
    this.#options = options
    this.#store = store
    this.#kernel = kernel
    this.#policies = world.policies.map(policyOf)
    this.model = new Model(NO_MODEL_POLICY, world.quota)
    this.model.time = START
  }

  static async open(world: World): Promise<Pair> {
    const { batch, key } = await founding()
    const store = createPlainStore(batch)
    const options: KernelOptions = {
      store,
      host: { now: () => pair.now, salt: () => new Uint8Array(32), after: () => () => undefined },
      origin: ORIGIN,
      writer: WRITER,
      key,
      commit: world.salted ? 'salted' : 'plain',
      quota: world.quota,
      maxRemembered: world.remembered,
    }
    const pair: Pair = new Pair(world, options, store, await openKernel(options))
    return pair
  }

  now: number = START

  /** Lets something happen to both, and answers with what each made of it. */
  async meet(event: Event): Promise<{ kernel: string; model: string }> {
    this.now = this.#clock
    switch (event.do) {
      case 'call':
        return this.#call(event.call, event.behind)
      case 'wait':
        this.#clock += event.ms
        return SAME
      case 'answer': {
        const number = this.#requests.length - 1 - event.request
        const request = this.#requests[number] ?? NO_REQUEST
        return {
          model: String(this.model.answer({ ...event, request: number }, this.now)),
          kernel: await succeeds(answerRequest(this.#kernel, { ...event, request })),
        }
      }
      case 'freeze':
        this.model.freeze(freezeName(event.target), event.frozen)
        await setFreeze(this.#kernel, { ...event.target, frozen: event.frozen, by: 'user:olga' })
        return this.#recorded()
      case 'activate':
        return this.#activate(event.policy, event.tenants)
      case 'restart':
        return this.#restart(event.lost)
      case 'offer':
        this.model.offers.set(event.tool, event.version)
        this.#kernel.catalogue.offer(event.tool, definitionOf({ description: event.version }))
        return SAME
      case 'withdraw':
        this.model.offers.delete(event.tool)
        this.#kernel.catalogue.withdraw(event.tool)
        return SAME
      case 'pin':
      case 'unpin':
        return this.#pin(event.do, event.tool)
    }
  }

  async #call(spec: CallSpec, behind: number): Promise<{ kernel: string; model: string }> {
    this.now = this.#clock - behind
    const number = spec.approval === undefined ? undefined : this.#requests.length - 1 - spec.approval
    const id = number === undefined ? undefined : (this.#requests[number] ?? NO_REQUEST)
    const decision = this.model.judge(modelCallOf(spec, number), this.now)
    const model = modelLine(decision)
    let seen = decision.score
    const kernel = withReplaced(this.#kernel, spec.replaced, (score) => (seen = score))
    const line = this.#kernelLine(await authorize(kernel, toolCallOf(spec, id)), spec.assurance)
    if (seen !== decision.score) {
      return { model: `${model} risk ${decision.score ?? '-'}`, kernel: `${line} risk ${seen ?? '-'}` }
    }
    return { model, kernel: line }
  }

  #kernelLine({ decided, permit }: Authorization, assurance: CallSpec['assurance']): string {
    const { verdict, reason, rung, rule, receipt, approval } = decided
    // Who is only advised gets no permit, because the gateway does not run its tool.
    if ((verdict === 'ALLOW' && assurance === 'enforced') !== (permit !== undefined))
      return 'a permit without an ALLOW, or the other way round'
    if (receipt === undefined)
      return lineOf([verdict, reason, rung, rule, undefined, undefined, undefined, approval])
    const decision = this.#store.decision
    const written = lineOf([decision?.verdict, decision?.reason_code, decision?.rung, decision?.rule])
    if (written !== lineOf([verdict, reason, rung, rule]))
      return `told ${verdict} ${reason}, wrote ${written}`
    const { trajectory_risk_score: score, risk_accumulation_window: window, session } = decision ?? {}
    return lineOf([written, score, window, session?.seq, this.#numberOf(approval)])
  }

  #numberOf(approval: string | undefined): number | undefined {
    if (approval === undefined) return undefined
    const known = this.#requests.indexOf(approval)
    return known === -1 ? this.#requests.push(approval) - 1 : known
  }

  async #activate(number: number, tenants: readonly string[]): Promise<{ kernel: string; model: string }> {
    const [policy, real] = [this.#world.policies[number], this.#policies[number]]
    if (!policy || !real) throw new Error('there is no such policy in this world')
    for (const tenant of tenants) {
      this.model.policies.set(tenant, policy)
      await activatePolicy(this.#kernel, real, 'user:olga', tenant)
    }
    return this.#recorded()
  }

  async #restart(lost: Lost | undefined): Promise<{ kernel: string; model: string }> {
    this.model.restart(lost)
    if (lost) this.#store.lose(recordName(lost))
    this.#kernel = await openKernel(this.#options)
    return SAME
  }

  async #pin(how: 'pin' | 'unpin', tool: string): Promise<{ kernel: string; model: string }> {
    const { offers, pins } = this.model
    const version = offers.get(tool)
    const may = how === 'pin' ? version !== undefined : pins.has(tool)
    if (how === 'unpin') pins.delete(tool)
    else if (version !== undefined) pins.set(tool, version)
    if (may) this.#recorded()
    const hash = definitionOf({ description: version ?? '' }).hash
    const done =
      how === 'pin'
        ? pinTool(this.#kernel, tool, hash, 'user:olga')
        : unpinTool(this.#kernel, tool, 'user:olga')
    return { model: String(may), kernel: await succeeds(done) }
  }

  #recorded(): { kernel: string; model: string } {
    this.model.time = Math.max(this.model.time, this.now)
    return SAME
  }
}

const SAME = { kernel: '', model: '' }
const NO_REQUEST = 'f'.repeat(64)

async function succeeds(done: Promise<unknown>): Promise<string> {
  try {
    await done
    return 'true'
  } catch (fault) {
    if (fault instanceof KernelError && fault.code !== 'LEDGER_POISONED') return 'false'
    throw fault
  }
}

/** The name of the private record. */
function recordName({ tenant, principal = '(nobody)', session }: Lost): string {
  const owner = `${tenant}\n${principal}`
  return session === undefined ? `principal\n${owner}` : `session\n${owner}\n${session}`
}

function freezeName({ scope, tenant, target }: FreezeTarget): string {
  return scope === 'all' ? scope : `${scope} ${tenant} ${target ?? ''}`
}

let first: Promise<{ batch: Batch; key: string }> | undefined

function founding(): Promise<{ batch: Batch; key: string }> {
  return (first ??= Promise.all([fixedKey('ledger'), fixedKey('writer')]).then(([ledger, writer]) => ({
    key: writer.publicKey.id,
    batch: foundingBatch({
      origin: ORIGIN,
      writer: WRITER,
      ledgerKey: ledger.publicKey,
      writerKey: writer.publicKey,
      time: START,
    }),
  })))
}

/** Where the two part: after which events, and what each says. */
interface Difference {
  readonly events: readonly Event[]
  readonly kernel: string
  readonly model: string
}

/** Runs a world. `met` hears what was decided about each call. */
async function runWorld(world: World, met: (line: string) => void): Promise<Difference | undefined> {
  const pair = await Pair.open(world)
  for (const [i, event] of world.events.entries()) {
    const { kernel, model } = await pair.meet(event)
    if (kernel !== model) return { events: world.events.slice(0, i + 1), kernel, model }
    if (event.do === 'call') met(kernel)
  }
  return undefined
}

/** The same difference with as few events as can be, leaving out one after the other. */
async function shrink(world: World, found: Difference): Promise<Difference> {
  let smallest = found
  for (let i = smallest.events.length - 2; i >= 0; i--) {
    const events = smallest.events.toSpliced(i, 1)
    smallest = (await runWorld({ ...world, events }, () => undefined)) ?? smallest
    i = Math.min(i, smallest.events.length - 1)
  }
  return smallest
}

/** What came of a run. */
export interface Run {
  readonly cases: number
  /** How often each reason was given. */
  readonly reasons: ReadonlyMap<string, number>
  /** A difference in words, if there was one. */
  readonly difference: string | undefined
}

/** Compares model and kernel in at least so many cases; each call is one. */
export async function compare(cases: number, seed: number): Promise<Run> {
  const reasons = new Map<string, number>()
  const seeds = new Random(seed)
  let done = 0
  const met = (line: string): void => {
    const reason = line.split(' ')[1] ?? ''
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
    done++
  }
  while (done < cases) {
    const world = makeWorld(seeds.int(2 ** 32))
    const found = await runWorld(world, met)
    if (found) return { cases: done, reasons, difference: tell(world, await shrink(world, found), seed) }
  }
  return { cases: done, reasons, difference: undefined }
}

function tell(world: World, { events, kernel, model }: Difference, seed: number): string {
  const used = new Set(events.map((event) => (event.do === 'activate' ? event.policy : -1)))
  const { quota, remembered, salted } = world
  return [
    `model and kernel differ; run again with TOLLGATE_SEED=${seed}`,
    `world ${canonicalize({ quota, remembered, salted })}`,
    ...world.policies.flatMap((policy, i) => (used.has(i) ? [`policy ${i} ${JSON.stringify(policy)}`] : [])),
    ...events
      .map((event, i) => `${i + 1}. ${JSON.stringify(event)}`)
      .filter((_, i) => i < 30 || i > events.length - 10),
    `kernel: ${kernel}`,
    `model:  ${model}`,
    '(verdict, reason, rung, rule, risk, window, seq, request)',
  ].join('\n')
}

/** The seed that was asked for, if one was. */
export function seedFromOutside(): number | undefined {
  const seed = process.env.TOLLGATE_SEED
  return seed === undefined ? undefined : Number(seed)
}
