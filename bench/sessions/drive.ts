// A session through the real kernel: every call decided, allowed ones run with the output of the story, people answering
// where the story has people. The clock is the story's.

import { importSigningKey, sha256Hex, signDelegation, toBase64, type SigningKey } from '@tollgate/evidence'
import {
  createMemoryStore,
  enforce,
  foundingBatch,
  LADDER,
  openKernel,
  type Decided,
  type Kernel,
  type ToolCall,
} from '@tollgate/kernel'
import { activatePolicy, answerRequest, registerDelegation } from '@tollgate/kernel/admin'
import { parsePolicy, type Policy } from '@tollgate/kernel/policy'
import type { Session, Turn } from './session.ts'
import { delegatorsOf, keyMark, type World } from './world.ts'
import { worldByRole } from './worlds/index.ts'

const ORIGIN = 'ledger.example/sessions'
/** A Monday morning. */
const START: number = Date.UTC(2026, 0, 5, 8, 0, 0)
const DAY = 86_400_000

/** Which rungs may object; the others of that list are asked nothing. */
export type Row = 'stateless' | 'session-risk' | 'both'
export const ROWS: readonly Row[] = ['stateless', 'session-risk', 'both']

/** What the caller, and where data goes and what it says, are judged by: everything that looks at content. */
const CONTENT: readonly string[] = [
  'egress',
  'taint',
  'threat',
  'trust',
  'temporal',
  'compliance',
  'scope',
  'browser',
]

/** The ladder of a row. */
export function ladderOf(row: Row): typeof LADDER {
  if (row === 'both') return LADDER
  if (row === 'stateless') return LADDER.filter(({ name }) => name !== 'session-risk')
  return LADDER.filter(({ name }) => !CONTENT.includes(name))
}

/** What came of one call. */
export interface Happened {
  /** The first answer, before any person was asked. */
  readonly first: Decided
  /** Whether the call ran in the end. */
  readonly ran: boolean
  /** The person of the story lifted an escalation. */
  readonly lifted: boolean
}

const keys = new Map<string, Promise<SigningKey>>()
const policies = new Map<string, Promise<Policy>>()

/** Runs all calls of a session, whatever comes of them: an attacker does not go away because one call was denied. */
export async function drive(
  session: Session,
  row: Row,
  ladder: typeof LADDER = ladderOf(row),
): Promise<Happened[]> {
  const world = worldByRole(session.role)
  const clock = { now: START }
  const kernel = { ...(await kernelFor(world, clock)), ladder }
  const stage: Stage = { kernel, session, delegations: new Map(), opened: new Set() }
  const happened: Happened[] = []
  for (const turn of session.turns) {
    clock.now = START + turn.at
    happened.push(await take(stage, turn))
  }
  return happened
}

interface Stage {
  readonly kernel: Kernel
  readonly session: Session
  /** Ids of registered delegations by their chain. */
  readonly delegations: Map<string, string>
  /** Sessions that have begun, by caller: each is told in the beginning what the user asked for. */
  readonly opened: Set<string>
}

async function take(stage: Stage, turn: Turn): Promise<Happened> {
  const call = await callOf(stage, turn)
  const dispatch = (): Promise<{ status: 'COMPLETED'; output: Uint8Array; content: Turn['output'] }> =>
    Promise.resolve({
      status: 'COMPLETED',
      output: new TextEncoder().encode(JSON.stringify(turn.output)),
      content: turn.output,
    })
  const { decided, effect } = await enforce(stage.kernel, call, dispatch)
  const asked = decided.verdict === 'ESCALATE' && decided.approval !== undefined && turn.answer !== undefined
  if (!asked) return { first: decided, ran: effect !== undefined, lifted: false }
  const granted = turn.answer === 'granted'
  await answerRequest(stage.kernel, {
    tenant: 'default',
    request: decided.approval,
    granted,
    approver: 'user:olga',
    groups: ['release', 'leads', 'privacy', 'controllers', 'owners'],
  })
  const again = await enforce(stage.kernel, call, dispatch)
  return { first: decided, ran: again.effect !== undefined, lifted: granted && again.effect !== undefined }
}

async function callOf(stage: Stage, turn: Turn): Promise<ToolCall> {
  const key = `${turn.principal}\n${turn.session}`
  const words = [
    ...(stage.opened.has(key) ? [] : [stage.session.prompt]),
    ...(turn.said === undefined ? [] : [turn.said]),
  ]
  stage.opened.add(key)
  const sources = [...words.map((text) => ({ source_channel: 'USER', text })), ...(turn.claims ?? [])]
  return {
    caller: { tenant: 'default', principal: turn.principal },
    door: 'http',
    assurance: 'enforced',
    tool: turn.tool,
    args: turn.args,
    session_id: turn.session,
    ...(sources.length > 0 && { sources }),
    ...(turn.chain && { delegation: await delegationFor(stage, turn.chain) }),
  }
}

/** The delegation of a chain, registered when it is first needed, link by link. */
async function delegationFor(stage: Stage, chain: readonly string[]): Promise<string> {
  const name = chain.join('\n')
  const known = stage.delegations.get(name)
  if (known !== undefined) return known
  const [delegator = '', delegate = ''] = chain.slice(-2)
  const parent = chain.length > 2 ? await delegationFor(stage, chain.slice(0, -1)) : null
  const { envelope } = await signDelegation(
    {
      v: 1,
      ledger: ORIGIN,
      tenant: 'default',
      delegator,
      delegate,
      tools: ['*'],
      until: new Date(START + 60 * DAY).toISOString(),
      depth: 8 - chain.length,
      parent,
      nonce: sha256Hex(name).slice(0, 16),
    },
    await keyOf(delegator),
  )
  const { delegation } = await registerDelegation(stage.kernel, envelope, {
    tenant: 'default',
    by: 'user:olga',
  })
  stage.delegations.set(name, delegation)
  return delegation
}

async function kernelFor(world: World, clock: { now: number }): Promise<Kernel> {
  const [ledgerKey, writerKey] = [await keyOf('ledger'), await keyOf('writer')]
  const store = createMemoryStore([ledgerKey, writerKey])
  await store.write(
    foundingBatch({
      origin: ORIGIN,
      writer: 'gw-1',
      ledgerKey: ledgerKey.publicKey,
      writerKey: writerKey.publicKey,
      time: START,
    }),
  )
  let salts = 0
  const kernel = await openKernel({
    store,
    host: {
      now: () => clock.now,
      salt: () => new Uint8Array(Buffer.from(sha256Hex(`salt ${salts++}`), 'hex')),
      after: () => () => undefined,
    },
    origin: ORIGIN,
    writer: 'gw-1',
    key: writerKey.publicKey.id,
  })
  await activatePolicy(kernel, await policyFor(world), 'user:olga')
  return kernel
}

/** The policy of a world, read once. */
export function policyFor(world: World): Promise<Policy> {
  let policy = policies.get(world.role)
  if (!policy) policies.set(world.role, (policy = readPolicy(world)))
  return policy
}

async function readPolicy(world: World): Promise<Policy> {
  let text = world.policy
  for (const name of delegatorsOf(world.role)) {
    text = text.replace(keyMark(name), toBase64((await keyOf(name)).publicKey.bytes))
  }
  const parsed = parsePolicy(text)
  if (parsed.ok) return parsed.policy
  throw new Error(
    `${world.role}: ${parsed.mistakes.map(({ line, message }) => `line ${line}: ${message}`).join('; ')}`,
  )
}

function keyOf(name: string): Promise<SigningKey> {
  let key = keys.get(name)
  if (!key) {
    key = importSigningKey(new Uint8Array(Buffer.from(sha256Hex(`tollgate sessions key: ${name}`), 'hex')))
    keys.set(name, key)
  }
  return key
}
