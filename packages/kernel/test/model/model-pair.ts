// Applies every event to both the kernel and the model.

import type { DelegationStatement } from '@tollgate/evidence'
import { activatePolicy, pinTool, setFreeze, unpinTool } from '../../src/admin/administer.ts'
import { answerRequest } from '../../src/admin/answers.ts'
import { definitionOf } from '../../src/admin/catalogue.ts'
import { revokeDelegation } from '../../src/admin/delegate.ts'
import { delegationName } from '../../src/gates/delegation/records.ts'
import { authorize } from '../../src/road/enforce.ts'
import { type Kernel } from '../../src/kernel.ts'
import { openKernel, type KernelOptions } from '../../src/open/open.ts'
import { setObserve } from '../../src/admin/observing.ts'
import type { Policy } from '../../src/policy/parse/parse.ts'
import { sessionName } from '../../src/ledger/records.ts'
import { closeSessions } from '../../src/ledger/retention.ts'
import { setScope } from '../../src/admin/scopes.ts'
import { parseScope } from '../../src/gates/scope/parse.ts'
import { endCallIn, submitDelegation, NO_ID, recordName, succeeds, type Allowed } from './model-actions.ts'
import { founding } from './model-founding.ts'
import { policyOf, type Keys } from './model-kernel-policy.ts'
import { modelCallOf, toolCallOf, withReplaced } from './model-kernel.ts'
import { effectLine, kernelEffectLine, kernelLine, modelLine, seenIn } from './model-lines.ts'
import { NEW_SESSION, sessionOf } from './model-memory.ts'
import { NO_MODEL_POLICY } from './model-policy.ts'
import { createPlainStore, type PlainStore } from './model-store.ts'
import type {
  CallSpec,
  DelegationSpec,
  EffectSpec,
  Event,
  FreezeTarget,
  Lost,
  ScopeSpec,
  World,
} from './model-world.ts'
import { Model } from './model.ts'
import { ORIGIN, START, WRITER } from '../rig.ts'

/** The answers of both. `seen` has the observations for the coverage. */
export interface Answers {
  readonly kernel: string
  readonly model: string
  readonly seen?: readonly string[]
}

const SAME: Answers = { kernel: '', model: '' }

/** A kernel and a model in the same world. */
export class Pair {
  readonly #model: Model
  readonly #world: World
  readonly #options: KernelOptions
  readonly #store: PlainStore
  readonly #policies: readonly Policy[]
  /** The ids of requests, delegations and allowed calls, by their number in the model. */
  readonly #requests: string[] = []
  readonly #delegations: { readonly id: string; readonly tenant: string }[] = []
  readonly #allowed: Allowed[] = []
  #kernel: Kernel
  #clock = START

  private constructor(world: World, options: KernelOptions, store: PlainStore, kernel: Kernel, keys: Keys) {
    this.#world = world
    this.#options = options
    this.#store = store
    this.#kernel = kernel
    this.#policies = world.policies.map((policy, i) => policyOf(policy, i, keys))
    this.#model = new Model(NO_MODEL_POLICY, world.quota)
    this.#model.memory.time = START
  }

  /** Opens both. `keep` stores the calls for a replay. */
  static async open(world: World, keep = false): Promise<Pair> {
    const { batch, key, keys } = await founding()
    const store = createPlainStore(batch)
    let salts = 0
    const options: KernelOptions = {
      store,
      host: {
        now: () => pair.now,
        salt: () => new Uint8Array(32).fill(salts++),
        after: () => () => undefined,
      },
      origin: ORIGIN,
      writer: WRITER,
      key,
      commit: world.salted ? 'salted' : 'plain',
      quota: world.quota,
      maxRemembered: world.remembered,
      keep,
    }
    const pair: Pair = new Pair(world, options, store, await openKernel(options), keys)
    return pair
  }

  now: number = START

  /** The receipts and stored calls of the kernel. */
  history(): ReturnType<PlainStore['history']> & { readonly policies: ReadonlyMap<string, Policy> } {
    return {
      ...this.#store.history(),
      policies: new Map(this.#policies.map((policy) => [policy.hash, policy])),
    }
  }

  /** Applies an event to both, and returns the answer of each. */
  async meet(event: Event): Promise<Answers> {
    this.now = this.#clock
    switch (event.do) {
      case 'call':
        return this.#call(event.call, event.behind)
      case 'wait':
        this.#clock += event.ms
        return SAME
      case 'answer': {
        const number = this.#requests.length - 1 - event.request
        const request = this.#requests[number] ?? NO_ID
        return {
          model: String(this.#model.answer({ ...event, request: number }, this.now)),
          kernel: await succeeds(answerRequest(this.#kernel, { ...event, request })),
        }
      }
      case 'freeze':
        this.#model.freeze(freezeName(event.target), event.frozen)
        await setFreeze(this.#kernel, { ...event.target, frozen: event.frozen, by: 'user:olga' })
        return this.#recorded()
      case 'observe': {
        this.#model.observe(event, this.now)
        const { scope, target, tenant, lasts } = event
        const order = { scope, target, tenant, lasts: lasts ?? undefined, by: 'user:olga' }
        await setObserve(this.#kernel, order)
        return this.#recorded()
      }
      case 'activate':
        return this.#activate(event.policy, event.tenants)
      case 'restart':
        return this.#restart(event.lost, event.delegation)
      case 'offer':
        this.#model.memory.offers.set(event.tool, event.version)
        this.#kernel.catalogue.offer(event.tool, definitionOf({ description: event.version }))
        return SAME
      case 'withdraw':
        this.#model.memory.offers.delete(event.tool)
        this.#kernel.catalogue.withdraw(event.tool)
        return SAME
      case 'pin':
      case 'unpin':
        return this.#pin(event.do, event.tool)
      case 'delegate':
        return this.#delegate(event)
      case 'revoke':
        return this.#revoke(event.tenant, event.delegation)
      case 'effect':
        return this.#effect(event)
      case 'close':
        return this.#close(event.whose)
      case 'scope':
        return this.#open(event)
    }
  }

  async #call(spec: CallSpec, behind: number): Promise<Answers> {
    this.now = this.#clock - behind
    const request = spec.approval === undefined ? undefined : this.#requests.length - 1 - spec.approval
    const grant = spec.delegation === undefined ? undefined : this.#delegations.length - 1 - spec.delegation
    const approval = request === undefined ? undefined : (this.#requests[request] ?? NO_ID)
    const delegation = grant === undefined ? undefined : (this.#delegations[grant]?.id ?? NO_ID)
    const decision = this.#model.judge(modelCallOf(spec, request, grant), this.now)
    const model = modelLine(decision)
    let seen = decision.score
    const kernel = withReplaced(this.#kernel, spec.replaced, (score) => (seen = score))
    const authorization = await authorize(kernel, toolCallOf(spec, approval, delegation))
    const { decided, permit } = authorization
    const receipt = decided.verdict === 'ALLOW' ? decided.receipt : undefined
    if (receipt !== undefined) this.#allowed.push({ spec, receipt, permit })
    const number = decided.approval === undefined ? undefined : this.#numberOf(decided.approval)
    const line = kernelLine(authorization, spec.assurance, this.#store, number)
    if (seen !== decision.score) {
      return { model: `${model} risk ${decision.score ?? '-'}`, kernel: `${line} risk ${seen ?? '-'}` }
    }
    return { model, kernel: line, seen: Object.keys(spec.replaced).length > 0 ? [] : seenIn(decision) }
  }

  #numberOf(approval: string): number {
    const known = this.#requests.indexOf(approval)
    return known === -1 ? this.#requests.push(approval) - 1 : known
  }

  async #activate(number: number, tenants: readonly string[]): Promise<Answers> {
    const [policy, real] = [this.#world.policies[number], this.#policies[number]]
    if (!policy || !real) throw new Error('this world has no such policy')
    for (const tenant of tenants) {
      this.#model.memory.policies.set(tenant, policy)
      await activatePolicy(this.#kernel, real, 'user:olga', tenant)
    }
    return this.#recorded()
  }

  async #restart(lost: Lost | undefined, delegation: number | undefined): Promise<Answers> {
    const number = delegation === undefined ? undefined : this.#delegations.length - 1 - delegation
    const gone = number === undefined ? undefined : this.#delegations[number]
    const head = await this.#store.head()
    this.#model.restart(lost, number, head ? Date.parse(head.time) : 0, this.now)
    if (lost) this.#store.lose(recordName(lost))
    if (gone) this.#store.lose(delegationName(gone.tenant, gone.id))
    this.#kernel = await openKernel(this.#options)
    return SAME
  }

  async #pin(how: 'pin' | 'unpin', tool: string): Promise<Answers> {
    const { offers, pins } = this.#model.memory
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

  async #delegate(spec: DelegationSpec): Promise<Answers> {
    const number = this.#delegations.length
    const parent = spec.parent === undefined ? undefined : number - 1 - spec.parent
    const until = this.now + spec.lasts
    const { tenant, delegator, delegate, tools, effects, session, depth, key, planted } = spec
    const grant = { tenant, delegator, delegate, tools, effects, session, depth, key, planted }
    const may = this.#model.delegate({ ...grant, number, parent, until, revoked: false }, this.now)
    const statement: DelegationStatement = {
      v: 1,
      ledger: ORIGIN,
      tenant,
      delegator,
      delegate,
      tools,
      ...(effects && { effects }),
      ...(session !== undefined && { session }),
      until: new Date(until).toISOString(),
      depth,
      parent: parent === undefined ? null : (this.#delegations[parent]?.id ?? NO_ID),
      nonce: `n${number}`,
    }
    const signer = (await founding()).keys(delegator, key)
    const { id, done } = await submitDelegation(this.#kernel, { statement, key: signer, planted })
    this.#delegations.push({ id, tenant })
    return { model: String(may), kernel: done, seen: [`delegation ${planted ? 'planted' : done}`] }
  }

  async #revoke(tenant: string, counted: number): Promise<Answers> {
    const number = this.#delegations.length - 1 - counted
    // A planted delegation has no receipt, so its revocation would not survive a restart.
    if (this.#model.memory.grants.get(number)?.planted) return SAME
    const id = this.#delegations[number]?.id ?? NO_ID
    return {
      model: String(this.#model.revoke(tenant, number, this.now)),
      kernel: await succeeds(revokeDelegation(this.#kernel, tenant, id, 'user:olga')),
    }
  }

  async #effect(spec: EffectSpec): Promise<Answers> {
    const number = this.#allowed.length - 1 - spec.call
    const effect = this.#model.effect(number, spec, this.now)
    const done = await succeeds(endCallIn(this.#kernel, this.#allowed[number], spec))
    const kernel = done === 'true' ? kernelEffectLine(this.#store) : done
    const seen = effect ? [`effect ${effect.status}`, `delivery ${effect.delivery}`] : []
    return {
      model: effect ? effectLine(effect) : 'false',
      kernel,
      seen: effect?.late ? [...seen, 'late'] : seen,
    }
  }

  async #close(whose: Omit<Lost, 'kind'>): Promise<Answers> {
    const { seq } = this.#model.memory.sessions.get(sessionOf(whose)) ?? NEW_SESSION
    const name = sessionName(whose, whose.session)
    const model = Number(this.#model.memory.close(whose, this.now))
    return { model: String(model), kernel: String(await closeSessions(this.#kernel, [{ name, seq }])) }
  }

  async #open(spec: ScopeSpec): Promise<Answers> {
    const { whose, host, effects, tools, lasts } = spec
    const model = String(this.#model.open(spec, this.now))
    const until = lasts === undefined ? {} : { until: new Date(this.now + lasts).toISOString() }
    const scope = parseScope({ by: 'host', ...(effects && { effects }), ...(tools && { tools }), ...until })
    const { tenant, principal = '(nobody)', session } = whose
    const as = host ? 'host' : 'operator'
    const done = setScope(this.#kernel, { tenant, principal, session, scope, by: 'user:olga', as })
    return { model, kernel: await succeeds(done), seen: [`scope ${model}`] }
  }

  #recorded(): Answers {
    const { memory } = this.#model
    memory.time = Math.max(memory.time, this.now)
    return SAME
  }
}

function freezeName({ scope, tenant, target }: FreezeTarget): string {
  return scope === 'all' ? scope : `${scope} ${tenant} ${target ?? ''}`
}
