// Runs the decision vectors `vectors/decisions/*.txtar` on a real kernel with a store in memory. Each file is one case: a fact,
// then steps with their expected results. `vectors/decisions/README.md` describes the format.

import { readdirSync, readFileSync } from 'node:fs'
import {
  canonicalize,
  DOORS,
  parseJson,
  reasonOf,
  sha256Hex,
  signDelegation,
  toBase64,
  type Decision,
  type DelegationStatement,
  type Effect,
  type Json,
  type JsonObject,
  type ReasonCode,
  type Receipt,
} from '@tollgate/evidence'
import {
  activatePolicy,
  answerRequest,
  definitionOf,
  pinTool,
  registerDelegation,
  revokeDelegation,
  setFreeze,
  setObserve,
  setScope,
  type FreezeOrder,
  type ObserveOrder,
} from '../src/admin.ts'
import {
  KernelError,
  LADDER,
  postObservation,
  standings,
  type Authorization,
  type Decided,
  type Enforced,
  type Intent,
  type Kernel,
  type KernelOptions,
  type MemoryStore,
  type Snapshot,
  type Store,
  type ToolAnswer,
  type ToolCall,
} from '../src/index.ts'
import { parseScope } from '../src/detection.ts'
import { parseDuration } from '../src/policy/reader/read.ts'
import { createRig, fixedKey, ORIGIN, policyOf, type Rig } from './rig.ts'

/** One case. */
export interface Vector {
  readonly name: string
  /** The fact that it shows, in a sentence. */
  readonly fact: string
  readonly steps: readonly Step[]
}

/** One step, and its expected result. */
export interface Step {
  readonly does: StepName
  readonly text: string
  /** Line of its header, from 1. */
  readonly line: number
  readonly expected: Expected | undefined
}

/** The expected result of a step: the lines of its `expect` section. The first is the outcome. */
export interface Expected {
  readonly lines: readonly string[]
  /** Parts of the first line; undefined for `REFUSED`. */
  readonly decision: { readonly reason: ReasonCode; readonly rung: string } | undefined
}

const FOLDER = new URL('../../../vectors/decisions/', import.meta.url)

/** Returns all vectors. @throws Error with the file and the line, for a malformed one. */
export function readVectors(): readonly Vector[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.txtar'))
  return files.map((file) => parseVector(file.slice(0, -6), readFileSync(new URL(file, FOLDER), 'utf8')))
}

/** Parses a vector. @throws Error if it is malformed. */
export function parseVector(name: string, text: string): Vector {
  const fault = (line: number, message: string): Error => new Error(`${name}, line ${line}: ${message}`)
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) throw fault(0, 'the name of the file is not in kebab-case')
  const { comment, sections } = parseArchive(text)
  const [first = '', ...others] = comment
  const fact = /^# (\S.*)$/.exec(first)?.[1]
  if (fact === undefined) throw fault(1, 'the first line must be `# ` and the fact that the vector shows')
  if (others.some((line) => line !== '' && !line.startsWith('#'))) throw fault(2, 'a comment begins with `#`')
  const steps: Step[] = []
  for (const { header, body, line } of sections) {
    const last = steps.at(-1)
    if (header === 'expect') {
      if (!last || last.expected) throw fault(line, 'an expectation follows the step that it is about')
      steps[steps.length - 1] = { ...last, expected: readExpected(last, body, (why) => fault(line, why)) }
    } else if (isStepName(header)) {
      steps.push({ does: header, text: body, line, expected: undefined })
    } else throw fault(line, `there is no step \`${header}\``)
  }
  for (const { does, expected, line } of steps) {
    if (does === 'call.json' && !expected) throw fault(line, 'the call has no `-- expect --`')
    if (does === 'quota' && line !== sections[0]?.line) throw fault(line, 'the quota comes first')
  }
  if (!steps.some(({ expected }) => expected)) throw fault(1, 'nothing is expected')
  return { name, fact, steps }
}

interface Section {
  readonly header: string
  readonly body: string
  readonly line: number
}

/** Parses the txtar format: a line `-- name --` begins a section; the text before the first is the comment. */
function parseArchive(text: string): { comment: readonly string[]; sections: readonly Section[] } {
  const comment: string[] = []
  const sections: { header: string; lines: string[]; line: number }[] = []
  text.split('\n').forEach((line, i) => {
    const header = /^-- (\S+) --$/.exec(line)?.[1]
    if (header !== undefined) sections.push({ header, lines: [], line: i + 1 })
    else (sections.at(-1)?.lines ?? comment).push(line)
  })
  return { comment, sections: sections.map(({ lines, ...rest }) => ({ ...rest, body: lines.join('\n') })) }
}

const DECISION = /^(ALLOW|DENY|ESCALATE) ([A-Z_]+) by ([a-z-]+)(?: rule \S+)?$/

function readExpected({ does }: Step, body: string, fault: (why: string) => Error): Expected {
  const lines = body.split('\n').filter((line) => line !== '')
  const [first = ''] = lines
  if (does !== 'call.json') {
    if (first === 'REFUSED') return { lines, decision: undefined }
    throw fault(`of \`${does}\` only \`REFUSED\` can be expected`)
  }
  const [, verdict, reason = '', rung = ''] = DECISION.exec(first) ?? []
  if (reasonOf(reason)?.verdict !== verdict || verdict === undefined) {
    throw fault('write `DENY REASON_CODE by rung`, and `rule id` if a rule decided')
  }
  // Safe cast: the table of reasons has it.
  return { lines, decision: { reason: reason as ReasonCode, rung } }
}

/**
 * Runs a vector. Returns everything that differs from the expectation.
 *
 * @throws Error with the line, if a step itself cannot be done.
 */
export async function runVector({ name, steps }: Vector): Promise<readonly string[]> {
  const stage = await setUp(steps)
  const wrong: string[] = []
  for (const step of steps) {
    const place = `${name}, line ${step.line}`
    const found = await take(stage, step).catch((cause: unknown) => {
      throw new Error(`${place}: ${cause instanceof Error ? cause.message : 'it fails'}`, { cause })
    })
    wrong.push(...found.map((difference) => `${place}: ${difference}`))
  }
  const { level, findings } = await stage.rig.verify()
  if (level !== 'verified') wrong.push(`${name}: the ledger is not verified: ${JSON.stringify(findings)}`)
  return wrong
}

/** The kernel, and the state of the run. */
interface Stage {
  readonly rig: Rig
  /** Steps of the ladder that throw. */
  readonly broken: Set<string>
  /** Steps that were asked about the latest call and did not object. */
  readonly silent: Set<string>
  /** Ids of the approval requests, in the order of opening. */
  readonly requests: string[]
  /** Ids of posted observations. */
  readonly observations: string[]
  /** Ids of the delegations in the order of signing, including refused ones. */
  readonly delegations: string[]
  storeFails: boolean
}

async function setUp(steps: readonly Step[]): Promise<Stage> {
  const quota = steps.find(({ does }) => does === 'quota')
  const state: Omit<Stage, 'rig'> = {
    broken: new Set(),
    silent: new Set(),
    requests: [],
    observations: [],
    delegations: [],
    storeFails: false,
  }
  const between = (store: MemoryStore): Store => ({
    ...store,
    write: (batch) => (state.storeFails ? Promise.reject(new Error('disk full')) : store.write(batch)),
  })
  const rig = await createRig({ kernel: quota ? readQuota(quota.text) : {}, between })
  // The same object that the store uses.
  const stage = Object.assign(state, { rig })
  rig.kernel = watched(stage)
  return stage
}

/** Returns the kernel with every step recorded, and some of them broken. */
function watched({ rig: { kernel }, broken, silent }: Stage): Kernel {
  const watch = <R extends Kernel['ladder'][number]>(rung: R): R => ({
    ...rung,
    check(intent: Intent, snapshot: Snapshot) {
      if (broken.has(rung.name)) throw new Error('broken on purpose')
      const word = rung.check(intent, snapshot)
      if (word === undefined || word.verdict === 'ALLOW') silent.add(rung.name)
      return word
    },
  })
  return { ...kernel, ladder: LADDER.map(watch) }
}

async function take(stage: Stage, step: Step): Promise<readonly string[]> {
  if (step.does === 'call.json') return takeCall(stage, step)
  const { expected } = step
  try {
    await STEPS[step.does](stage, step.text.trim())
  } catch (fault) {
    if (!expected || !isRefusal(fault)) throw fault
    return missingFrom(['REFUSED'], fault.message, expected.lines)
  }
  return expected ? ['it was not refused'] : []
}

/** A refusal of the kernel has a code; any other error is a mistake in the vector. */
function isRefusal(fault: unknown): fault is KernelError {
  return fault instanceof KernelError && fault.code !== 'LEDGER_POISONED'
}

type Act = (stage: Stage, text: string) => unknown

const STEPS = {
  quota: () => undefined,
  'policy.yaml': (stage, text) => activate(stage, text, 'default'),
  'acme.yaml': (stage, text) => activate(stage, text, 'acme'),
  'call.json': () => undefined,
  approve: (stage, text) => answer(stage, text, true),
  refuse: (stage, text) => answer(stage, text, false),
  freeze: ({ rig }, text) => setFreeze(rig.kernel, readFreeze(text, true)),
  unfreeze: ({ rig }, text) => setFreeze(rig.kernel, readFreeze(text, false)),
  wait({ rig }, text) {
    rig.host.advance(readWait(text))
  },
  offer({ rig }, text) {
    offer(rig, readObject(text, ['tool', 'definition']))
  },
  pin({ rig }, text) {
    const tool = readText(readObject(text, ['tool']), 'tool')
    return pinTool(rig.kernel, tool, rig.kernel.catalogue.offered(tool)?.hash ?? '', 'user:olga')
  },
  observe: ({ rig, observations }, text) =>
    void observations.push(postObservation(rig.kernel, 'default', parseJson(text))),
  'observe-mode': ({ rig }, text) => setObserve(rig.kernel, readObserve(text)),
  delegate: (stage, text) => delegate(stage, text),
  revoke({ rig, delegations }, text) {
    const id = named(readText(readObject(text, ['delegation']), 'delegation'), delegations)
    return revokeDelegation(rig.kernel, 'default', id, 'user:olga')
  },
  scope: (stage, text) => open(stage, text),
  restart: (stage) => restart(stage),
  break: ({ broken }, text) => void broken.add(readRung(text)),
  'break-store': (stage) => void (stage.storeFails = true),
  'lose-state': (stage, text) => changeRecords(stage, text, () => undefined),
  'change-state': (stage, text) => changeRecords(stage, text, otherDigit),
} as const satisfies Readonly<Record<string, Act>>

type StepName = keyof typeof STEPS

function isStepName(text: string): text is StepName {
  return Object.hasOwn(STEPS, text)
}

async function restart(stage: Stage): Promise<void> {
  stage.storeFails = false
  await stage.rig.reopen()
  stage.rig.kernel = watched(stage)
}

const SCOPE_KEYS = [
  'principal',
  'session',
  'as',
  'effects',
  'tools',
  'sinks',
  'looked_up',
  'until',
  'by',
] as const

/** Sets the scope of a session, as a host application or, with `as`, as an operator. */
async function open({ rig }: Stage, text: string): Promise<void> {
  const order = readObject(text, SCOPE_KEYS)
  const { effects, tools, sinks, looked_up, by = 'host' } = order
  const ends = 'until' in order ? rig.host.time + readWait(readText(order, 'until')) : undefined
  const given = {
    effects,
    tools,
    sinks,
    looked_up,
    by,
    until: ends === undefined ? undefined : new Date(ends).toISOString(),
  }
  await setScope(rig.kernel, {
    tenant: 'default',
    principal: readText(order, 'principal'),
    session: readText(order, 'session'),
    scope: parseScope(given),
    by: 'user:olga',
    as: order.as === 'operator' ? 'operator' : 'host',
  })
}

/** Activates a policy. `KEY(agent:planner)` in it is that principal's fixed public key, in base64. */
async function activate({ rig }: Stage, text: string, tenant: string): Promise<void> {
  let policy = text
  for (const [mark, name = ''] of text.matchAll(/KEY\(([^)\n]+)\)/g)) {
    const { publicKey } = await fixedKey(name)
    policy = policy.replaceAll(mark, toBase64(publicKey.bytes))
  }
  await activatePolicy(rig.kernel, policyOf(policy), 'user:olga', tenant)
}

const DELEGATE_KEYS = [
  'by',
  'to',
  'tools',
  'until',
  'depth',
  'parent',
  'effects',
  'session',
  'key',
  'tenant',
] as const

/** Signs a delegation with the fixed key of its delegator, or of the principal in `key`, and registers it. */
async function delegate({ rig, delegations }: Stage, text: string): Promise<void> {
  const order = readObject(text, DELEGATE_KEYS)
  const { tools = ['*'], depth = 0, parent, effects, session } = order
  // Safe cast: an invalid statement is refused when it is signed.
  const statement = {
    v: 1,
    ledger: ORIGIN,
    tenant: order.tenant ?? 'default',
    delegator: readText(order, 'by'),
    delegate: readText(order, 'to'),
    tools,
    ...(effects !== undefined && { effects }),
    until: new Date(rig.host.time + readWait(readText(order, 'until'))).toISOString(),
    depth,
    parent: parent === undefined ? null : named(readText(order, 'parent'), delegations),
    ...(session !== undefined && { session }),
    nonce: `n-${delegations.length}`,
  } as unknown as DelegationStatement
  const { id, envelope } = await signDelegation(
    statement,
    await fixedKey(readText(order, 'key' in order ? 'key' : 'by')),
  )
  delegations.push(id)
  await registerDelegation(rig.kernel, envelope, { tenant: 'default', by: 'user:olga' })
}

function answer({ rig, requests }: Stage, text: string, granted: boolean): Promise<unknown> {
  const order = readObject(text, ['by', 'groups', 'request', 'tenant', 'widen', 'because'])
  const groups = order.groups ?? []
  if (!isList(groups)) throw new Error('`groups` is a list')
  return answerRequest(rig.kernel, {
    tenant: order.tenant === undefined ? 'default' : readText(order, 'tenant'),
    request: named(readText(order, 'request'), requests),
    granted,
    ...(order.widen === true && { widen: true }),
    approver: readText(order, 'by'),
    ...('because' in order && { because: readText(order, 'because') }),
    groups: groups.map(String),
  })
}

function readFreeze(text: string, frozen: boolean): FreezeOrder {
  const order = readObject(text, ['scope', 'target'])
  const scope = (['all', 'principal', 'tool', 'session'] as const).find((each) => each === order.scope)
  if (!scope) throw new Error('`scope` is `all`, `principal`, `tool` or `session`')
  return { scope, frozen, by: 'user:olga', ...(scope !== 'all' && { target: readText(order, 'target') }) }
}

function readObserve(text: string): ObserveOrder {
  const order = readObject(text, ['scope', 'target', 'for'])
  const scope = (['door', 'principal'] as const).find((each) => each === order.scope)
  if (!scope) throw new Error('`scope` is `door` or `principal`')
  const lasts = order.for === null ? undefined : readWait(readText(order, 'for'))
  return { scope, target: readText(order, 'target'), lasts, by: 'user:olga' }
}

function offer({ kernel }: Rig, order: JsonObject): void {
  // Safe cast: a server sends JSON, and `definitionOf` checks it.
  kernel.catalogue.offer(readText(order, 'tool'), definitionOf(order.definition as JsonObject))
}

const RECORDS = ['session', 'principal', 'tenant', 'provenance', 'delegation', 'input'] as const

/** Changes the private records of one kind while the kernel is stopped, then starts it again. */
async function changeRecords(
  stage: Stage,
  kind: string,
  change: (text: string) => string | undefined,
): Promise<void> {
  if (!RECORDS.some((each) => each === kind)) throw new Error(`write one of ${RECORDS.join(', ')}`)
  // Safe cast: the store in memory keeps them in a plain map, which it shows as read-only.
  const records = stage.rig.store.records as Map<string, string>
  const names = [...records.keys()].filter((name) => name.startsWith(`${kind}\n`))
  if (names.length === 0) throw new Error('there is no such record yet')
  for (const name of names) {
    const changed = change(records.get(name) ?? '')
    if (changed === undefined) records.delete(name)
    else records.set(name, changed)
  }
  await restart(stage)
}

/** Returns the record with its last digit changed. */
function otherDigit(record: string): string {
  const at = record.search(/[0-9][^0-9]*$/)
  return `${record.slice(0, at)}${(Number(record[at]) + 1) % 10}${record.slice(at + 1)}`
}

/** The outcome of a call, as the caller and the ledger see it. */
interface Outcome {
  readonly decided: Decided
  /** Whether the tool ran or, for an advised call, may run. */
  readonly passed: boolean
  /** The arguments that the tool got. */
  readonly dispatched: string | undefined
  readonly receipt: Decision | undefined
  /** The effect, if the gateway ran the tool. */
  readonly followed: Followed | undefined
}

/** The effect of a tool: its scripted answer, its receipt, and the forwarded result. */
interface Followed {
  readonly answer: ToolAnswer
  readonly effect: Effect
  readonly handedOn: Json | undefined
}

async function takeCall(stage: Stage, { text, expected }: Step): Promise<readonly string[]> {
  const { call, answer, times } = readCall(stage, text)
  for (let sent = 1; sent < times; sent++) {
    const { decided } = await send(stage, call, answer)
    if (decided.verdict !== 'ALLOW')
      return [`the call is ${decided.verdict} ${decided.reason} when it is sent for the ${sent}. time`]
  }
  const outcome = await send(stage, call, answer)
  const { approval } = outcome.decided
  if (approval !== undefined && !stage.requests.includes(approval)) stage.requests.push(approval)
  const facts = factsOf(outcome, stage)
  return [
    ...disagreements(outcome),
    ...wronglyHandedOn(outcome),
    ...missingFrom(facts, outcome.decided.detail ?? '', expected?.lines ?? [], resultOf(outcome)),
    ...(outcome.receipt || expected?.lines.includes('no receipt') ? [] : ['there is no receipt']),
  ]
}

async function send({ rig, silent }: Stage, call: Partial<ToolCall>, answer: ToolAnswer): Promise<Outcome> {
  silent.clear()
  let dispatched: string | undefined
  const { decided, ran, effect } =
    call.assurance === 'advised'
      ? await rig
          .authorize(call)
          .then((given: Authorization) => ({ ...given, ran: given.permit !== undefined, effect: undefined }))
      : await rig
          .enforce(call, ({ args }) => {
            dispatched = args
            return Promise.resolve(answer)
          })
          .then((enforced) => ({ ...enforced, ran: dispatched !== undefined }))
  const receipt = receiptIn(rig, decided.receipt)
  return {
    decided,
    passed: ran,
    dispatched,
    receipt: receipt?.kind === 'decision' ? receipt : undefined,
    followed: followedBy(rig, answer, effect),
  }
}

function receiptIn({ store }: Rig, id: string | undefined): Receipt | undefined {
  return store.entries.find((entry) => entry.id === id)?.receipt
}

function followedBy(rig: Rig, answer: ToolAnswer, effect: Enforced['effect']): Followed | undefined {
  const receipt = receiptIn(rig, effect?.receipt)
  if (!effect || receipt?.kind !== 'effect') return undefined
  const { outcome } = effect
  const inspection = 'inspection' in outcome ? outcome.inspection : undefined
  return { answer, effect: receipt, handedOn: inspection?.content }
}

/** Returns contradictions between the recorded effect, the answer of the tool and the forwarded result. */
function wronglyHandedOn({ passed, followed }: Outcome): readonly string[] {
  if (!followed) return passed ? ['the tool ran, and there is no effect on the ledger'] : []
  const { answer, effect, handedOn } = followed
  const wrong: string[] = []
  if (effect.status !== answer.status) wrong.push(`the tool ${answer.status}, on record ${effect.status}`)
  if (effect.effect_hash !== sha256Hex(answer.output) && effect.commit === 'plain')
    wrong.push('the hash of the output on record is of something else')
  if (answer.content === undefined) return wrong
  const same = handedOn !== undefined && canonicalize(handedOn) === canonicalize(answer.content)
  const delivery = handedOn === undefined ? 'withheld' : same ? 'full' : 'redacted'
  if (effect.delivery !== delivery) wrong.push(`${delivery}, but on record it is ${effect.delivery}`)
  return wrong
}

/** Returns the forwarded result as text; empty if it is withheld. */
function resultOf({ followed }: Outcome): string | undefined {
  if (followed?.answer.content === undefined) return undefined
  return followed.handedOn === undefined ? '' : canonicalize(followed.handedOn)
}

/** Returns contradictions between the answer to the caller, the ledger and the tool. */
function disagreements({ decided, passed, dispatched, receipt }: Outcome): readonly string[] {
  const wrong: string[] = []
  const same = (what: string, one: unknown, other: unknown): void => {
    if (one !== other) wrong.push(`${what}: answered ${String(one)}, on record ${String(other)}`)
  }
  // The caller of an advised call runs the tool.
  const runs = decided.verdict === 'ALLOW' && receipt?.assurance !== 'advised'
  if (passed !== runs) wrong.push(`${decided.verdict}, but the tool ran: ${passed}`)
  if ((decided.receipt === undefined) !== (receipt === undefined))
    wrong.push('the receipt is not on the ledger')
  if ((decided.verdict === 'ESCALATE') !== (decided.approval !== undefined))
    wrong.push('only an ESCALATE has a request')
  if (!receipt) return wrong
  same('verdict', decided.verdict, receipt.verdict)
  same('reason', decided.reason, receipt.reason_code)
  same('rung', decided.rung, receipt.rung)
  same('rule', decided.rule, receipt.rule)
  same('expiry', decided.expires, receipt.expires)
  if (dispatched !== undefined && receipt.commit === 'plain')
    same('arguments', sha256Hex(dispatched), receipt.args_hash)
  return wrong
}

const BROWSER_FIELDS = [
  'sentinel_risk',
  'sentinel_findings',
  'dom_hash',
  'visual_text_hash',
  'planner_ref',
  'page_host',
  'destination_host',
  'planner_derived',
  'target_state',
  'without_egress',
] as const

/** Returns every line that is true for a call. */
function factsOf({ decided, receipt, followed }: Outcome, { rig, silent }: Stage): readonly string[] {
  const rule = decided.rule === undefined ? '' : ` rule ${decided.rule}`
  const decision = `${decided.verdict} ${decided.reason} by ${decided.rung}${rule}`
  if (!receipt) return [decision, 'no receipt']
  const active = standings(rig.kernel).filter(({ standing }) => standing === 'active')
  return [
    decision,
    `score ${receipt.trajectory_risk_score}`,
    `window ${receipt.risk_accumulation_window}`,
    `session ${receipt.session.id} seq ${receipt.session.seq}`,
    `principal ${receipt.principal}`,
    `author ${receipt.author ?? '(none)'}`,
    `person ${receipt.person ?? '(none)'}`,
    `effect ${receipt.effect_class}`,
    `commit ${receipt.commit}`,
    `expires ${receipt.expires ?? '(none)'}`,
    ...active.filter(({ rung }) => silent.has(rung)).map(({ rung }) => `silent ${rung}`),
    ...BROWSER_FIELDS.map((field) => `browser ${field} ${browserField(receipt, field)}`),
    `labels ${listText(receipt.labels)}`,
    `findings ${listText(receipt.findings)}`,
    `compliance ${listText(receipt.compliance)}`,
    `trust ${receipt.trust ?? '(none)'}`,
    `elevation ${receipt.elevation?.tier ?? '(none)'}`,
    `scope ${receipt.scope_hash === undefined ? '(none)' : 'held'}`,
    `widened ${receipt.next_scope_hash === undefined ? 'no' : 'yes'}`,
    ...(followed ? effectFacts(followed.effect) : []),
  ]
}

function effectFacts({ delivery, labels, findings, trust }: Effect): readonly string[] {
  return [
    `delivery ${delivery}`,
    `effect-labels ${listText(labels)}`,
    `effect-findings ${listText(findings)}`,
    `effect-trust ${trust ?? '(none)'}`,
  ]
}

function listText(names: readonly string[] | undefined): string {
  return names === undefined || names.length === 0 ? '(none)' : names.join(', ')
}

function browserField({ browser }: Decision, field: (typeof BROWSER_FIELDS)[number]): string {
  const value = browser?.[field]
  if (value === undefined) return '(none)'
  return typeof value === 'object' ? `[${value.join(', ')}]` : String(value)
}

/** Returns the expected lines that do not hold, each with the actual line. */
function missingFrom(
  facts: readonly string[],
  detail: string,
  lines: readonly string[],
  result?: string,
): readonly string[] {
  return lines.flatMap((line, i) => {
    const [, of, verb, part] = /^(detail|result) (contains|lacks) (.+)$/.exec(line) ?? []
    if (part !== undefined && (of === 'result' || verb === 'contains')) {
      const text = of === 'detail' ? detail : result
      const holds = text?.includes(part) === (verb === 'contains')
      return holds ? [] : [`\`${line}\`, but the ${of} is \`${text ?? '(none)'}\``]
    }
    const word = line.split(' ', 1)[0] ?? ''
    const instead = i === 0 ? facts.slice(0, 1) : facts.filter((fact) => fact.startsWith(`${word} `))
    if (i === 0 ? facts[0] === line : facts.slice(1).includes(line)) return []
    return [`\`${line}\`, but it is \`${instead.join('`, `')}\``]
  })
}

const CALL_KEYS = [
  'principal',
  'credential',
  'tenant',
  'session',
  'delegation_session',
  'door',
  'assurance',
  'prompting',
  'author',
  'person',
  'tool',
  'args',
  'size',
  'raw',
  'context',
  'browser',
  'guarded',
  'approval',
  'delegation',
  'sources',
  'output',
  'page',
  'fails',
  'times',
] as const

type GuardedCall = NonNullable<ToolCall['guarded']>
type GuardedAnswer = NonNullable<ToolAnswer['page']>

interface ReadCall {
  readonly call: Partial<ToolCall>
  /** The scripted answer of the tool. */
  readonly answer: ToolAnswer
  readonly times: number
}

function readCall(stage: Stage, text: string): ReadCall {
  const given = readObject(text, CALL_KEYS)
  const { principal, credential, tool, args, context, browser, approval, delegation, times = 1 } = given
  const owner = credential === undefined ? principal : credential
  if (typeof times !== 'number') throw new Error('`times` is a number')
  const raw = given.raw === undefined ? {} : { raw: readText(given, 'raw') }
  const call: Partial<ToolCall> = {
    caller: {
      tenant: given.tenant === undefined ? 'default' : readText(given, 'tenant'),
      principal: typeof owner === 'string' ? owner : undefined,
      ...(given.person !== undefined && { person: readText(given, 'person') }),
    },
    door: readWord(given, 'door', DOORS),
    assurance: readWord(given, 'assurance', ['enforced', 'advised']),
    prompting: given.prompting === true,
    ...(given.author !== undefined && { author: readText(given, 'author') }),
    tool,
    args: given.size === undefined ? args : argsOfSize(given),
    ...raw,
    principal,
    session_id: given.session,
    delegation_session_id: given.delegation_session,
    context,
    browser: isObject(browser) ? readBrowser(browser, stage) : browser,
    // Safe cast: it comes from the vector, where only a door could send it.
    ...(given.guarded !== undefined && { guarded: given.guarded as unknown as GuardedCall }),
    approval: typeof approval === 'string' ? named(approval, stage.requests) : approval,
    delegation: typeof delegation === 'string' ? named(delegation, stage.delegations) : delegation,
    sources: given.sources,
  }
  return { call, answer: readAnswer(given), times }
}

/** Returns the arguments with a `text` that makes their canonical JSON `size` bytes long. */
function argsOfSize({ size, args = {} }: JsonObject): JsonObject {
  if (typeof size !== 'number' || !isObject(args)) throw new Error('`size` is a number, `args` an object')
  const rest = canonicalize({ ...args, text: '' }).length
  return { ...args, text: 'x'.repeat(size - rest) }
}

/** Returns the answer of the tool: its `output` as a value, or one byte. */
function readAnswer({ output, page, fails = false, assurance }: JsonObject): ToolAnswer {
  if (typeof fails !== 'boolean') throw new Error('`fails` must be true or false')
  if (assurance === 'advised' && (output !== undefined || fails)) {
    throw new Error('the caller runs the tool of an advised call; remove `output` and `fails`')
  }
  const status = fails ? 'FAILED' : 'COMPLETED'
  if (output === undefined) return { status, output: new Uint8Array([1]) }
  // Safe cast: as `guarded`.
  const after = page === undefined ? {} : { page: page as unknown as GuardedAnswer }
  return { status, output: new TextEncoder().encode(canonicalize(output)), content: output, ...after }
}

function readBrowser(browser: JsonObject, { observations }: Stage): JsonObject {
  const id = browser.observation_id
  return typeof id === 'string' ? { ...browser, observation_id: named(id, observations) } : browser
}

/** Resolves `#2` to the second of its kind; anything else is the id itself. */
function named(text: string, ids: readonly string[]): string {
  const number = /^#([0-9]+)$/.exec(text)?.[1]
  const id = number === undefined ? text : ids[Number(number) - 1]
  if (id === undefined) throw new Error(`there is no ${text} yet`)
  return id
}

function readObject(text: string, keys: readonly string[]): JsonObject {
  const value = parseJson(text)
  if (!isObject(value)) throw new Error('a JSON object is expected')
  const unknown = Object.keys(value).filter((key) => !keys.includes(key))
  if (unknown.length > 0) throw new Error(`not known here: ${unknown.join(', ')}`)
  return value
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function readText(object: JsonObject, key: string): string {
  const value = object[key]
  if (typeof value !== 'string') throw new Error(`\`${key}\` must be text`)
  return value
}

/** Returns one of a list of words; the first by default. */
function readWord<W extends string>(object: JsonObject, key: string, words: readonly [W, ...W[]]): W {
  const word = key in object ? words.find((each) => each === object[key]) : words[0]
  if (word === undefined) throw new Error(`\`${key}\` is one of ${words.join(', ')}`)
  return word
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

function readWait(text: string): number {
  const length = parseDuration(text)
  if (length === undefined) throw new Error('write a time such as `61s` or `15m`')
  return length
}

function readQuota(text: string): Pick<KernelOptions, 'quota' | 'storage'> {
  const [, size] = /^storage ([1-9][0-9]*)KiB$/.exec(text.trim()) ?? []
  if (size !== undefined) return { storage: Number(size) << 10 }
  const [, calls, unit] = /^([1-9][0-9]*)\/([smhd])$/.exec(text.trim()) ?? []
  if (calls === undefined || unit === undefined)
    throw new Error('write a quota such as `3/h` or `storage 1KiB`')
  return { quota: { calls: Number(calls), period: readWait(`1${unit}`) } }
}

function readRung(text: string): string {
  if (!LADDER.some(({ name }) => name === text)) throw new Error(`there is no rung \`${text}\``)
  return text
}
