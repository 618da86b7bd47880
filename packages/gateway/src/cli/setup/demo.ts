// `tollgate demo`: runs a scripted demonstration against a real gateway over HTTP. Fails if an outcome differs from the script, and
// removes all its files.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseTrust } from '@tollgate/evidence'
import { verifyFile } from '@tollgate/evidence/node'
import { silent } from '../../log.ts'
import type { Gateway } from '../../open.ts'
import type { Role } from '../../tokens.ts'
import { activateFirst, createData } from './create.ts'
import { painted } from '../receipts/describe.ts'
import { forgePack } from '../receipts/forgery.ts'
import { onInterrupt } from '../program/interrupt.ts'
import { runGateway, withPort, type RunningGateway } from './run-gateway.ts'
import { STARTER_POLICY } from './starter.ts'
import { runnable } from '../program/runnable.ts'
import { CommandError, type Terminal } from '../program/terminal.ts'

interface Verdict {
  readonly verdict: string
  readonly reason_code: string
  readonly approval: string | null
}

interface DemoState {
  readonly terminal: Terminal
  readonly running: RunningGateway
  readonly folder: string
  readonly tokens: Readonly<Record<'agent' | 'operator' | 'auditor', string>>
}

/** Runs the demonstration. @throws CommandError at the first outcome that differs from the script. */
export async function runDemo(terminal: Terminal): Promise<number> {
  const folder = newFolder()
  const forget = onInterrupt(() => rmSync(folder, { recursive: true, force: true }))
  const began = performance.now()
  try {
    const demo = await openDemo(terminal, folder)
    try {
      for (const step of STEPS) await step(demo)
    } finally {
      await demo.running.close()
    }
    narrate(
      terminal,
      'end',
      `Demo completed as expected in ${((performance.now() - began) / 1000).toFixed(1)} s. Start your own gateway with \`tollgate up\`.`,
    )
    return 0
  } finally {
    forget()
    rmSync(folder, { recursive: true, force: true })
  }
}

function newFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'tollgate-demo-'))
  } catch {
    throw new CommandError(
      `cannot create a directory in \`${tmpdir()}\``,
      'set TMPDIR to a directory that this user can write to',
    )
  }
}

async function openDemo(terminal: Terminal, folder: string): Promise<DemoState> {
  narrate(terminal, 'begin', 'Setting up a temporary gateway: keys, ledger, policy, socket.')
  const created = await createData(join(folder, 'data'), {}, () => undefined)
  // The stored checkpoints are in the same folder, so that they are removed with it.
  const keep = { ...created.keep, keyFile: join(folder, 'seal.key') }
  const config = { ...withPort(created, 0), headGuard: join(folder, 'heads'), keep }
  const prepare = async (gateway: Gateway): Promise<void> => {
    await activateFirst(gateway, STARTER_POLICY)
  }
  const running = await runGateway(config, silent, { prepare })
  const issue = async (role: Role, principal: string): Promise<string> => {
    const request = { role, principal, tenant: config.tenant, run: true }
    return (await running.gateway.tokens.issue(request, 'local:demo')).token
  }
  const tokens = {
    agent: await issue('agent', 'agent:demo'),
    operator: await issue('operator', 'user:olga'),
    auditor: await issue('auditor', 'user:audit'),
  }
  narrate(terminal, 'begin', `It listens on ${running.url}. The agent calls it over HTTP with its own token.`)
  return { terminal, running, folder, tokens }
}

const STEPS: readonly ((demo: DemoState) => Promise<void>)[] = [
  allowed,
  denied,
  escalated,
  exfiltration,
  evidence,
]

async function allowed(demo: DemoState): Promise<void> {
  narrate(
    demo.terminal,
    'allowed',
    'The agent wants to read a note. A rule allows it. The decision is on disk before the agent gets the answer.',
  )
  await expectVerdict(demo, 'demo/read_note', { name: 'shopping' }, ['ALLOW', 'RULE_ALLOWED'])
}

async function denied(demo: DemoState): Promise<void> {
  narrate(
    demo.terminal,
    'denied',
    'The agent wants to delete a note, and to use a tool that the policy does not declare.',
  )
  await expectVerdict(demo, 'demo/delete_note', { name: 'shopping' }, ['DENY', 'POLICY_VIOLATION'])
  await expectVerdict(demo, 'shell/run', { line: 'rm -rf /' }, ['DENY', 'DENY_TOOL_NOT_FOUND'])
}

async function escalated(demo: DemoState): Promise<void> {
  narrate(
    demo.terminal,
    'escalated',
    'The agent wants to post a note to a partner. A person must approve this.',
  )
  const args = { url: 'https://partner.example/in', name: 'shopping' }
  const { approval } = await expectVerdict(demo, 'demo/post_note', args, [
    'ESCALATE',
    'EGRESS_APPROVAL_REQUIRED',
  ])
  await post(demo, 'operator', `/v1/approvals/${approval ?? ''}/approve`, {})
  narrate(
    demo.terminal,
    'escalated',
    'user:olga approves exactly this call, once. The agent repeats the call twice.',
  )
  await expectVerdict(demo, 'demo/post_note', args, ['ALLOW', 'APPROVAL_GRANTED'])
  await expectVerdict(demo, 'demo/post_note', args, ['ESCALATE', 'EGRESS_APPROVAL_REQUIRED'])
}

async function exfiltration(demo: DemoState): Promise<void> {
  narrate(
    demo.terminal,
    'exfiltration',
    'In another session the agent leaks data in small pieces, to an allowed destination. Each call alone would be allowed.',
  )
  const args = { url: 'https://example.com/in', note: 'export customer passwords' }
  for (const verdict of ['ALLOW', 'ALLOW'] as const) {
    await expectVerdict(demo, 'demo/post_note', args, [verdict, 'RULE_ALLOWED'], 'leak')
  }
  await expectVerdict(demo, 'demo/post_note', args, ['DENY', 'SESSION_RISK_MEMORY_DENY'], 'leak')
  narrate(
    demo.terminal,
    'exfiltration',
    'The session is now too risky as a whole. Every further call in it is denied, even reading.',
  )
  await expectVerdict(
    demo,
    'demo/read_note',
    { name: 'shopping' },
    ['DENY', 'SESSION_RISK_MEMORY_DENY'],
    'leak',
  )
}

async function evidence(demo: DemoState): Promise<void> {
  const { terminal, running, folder } = demo
  narrate(
    demo.terminal,
    'evidence',
    'An auditor exports the ledger and verifies it offline. This needs only the pack and a trusted key.',
  )
  const response = await request(demo, 'auditor', '/v1/evidence/export')
  const pack = Buffer.from(await response.arrayBuffer())
  const file = join(folder, 'all.pack')
  writeFileSync(file, pack)
  const trust = await parseTrust(running.gateway.trust())
  const honest = await verifyFile(file, { trust })
  outcome(terminal, 'verify all.pack', honest.level, honest.level === 'verified', `exit ${honest.exit}`)

  narrate(
    demo.terminal,
    'forgery',
    'An attacker blames another agent: one name in one receipt is changed, and the pack index is adjusted to match.',
  )
  const forged = join(folder, 'forged.pack')
  writeFileSync(
    forged,
    forgePack(pack, { mark: '"rule":"no-deleting"', from: 'agent:demo', to: 'agent:evil' }),
  )
  const report = await verifyFile(forged, { trust })
  const [first] = report.findings
  const found = first?.code ?? 'no findings'
  outcome(terminal, 'verify forged.pack', report.level, report.exit === 1, `exit ${report.exit}, ${found}`)
}

async function expectVerdict(
  demo: DemoState,
  tool: string,
  args: object,
  [verdict, reason]: readonly [string, string],
  session = 'work',
): Promise<Verdict> {
  const answer = (await (
    await post(demo, 'agent', '/v1/evaluate', { tool, arguments: args, session_id: session })
  ).json()) as Verdict
  const { paint } = demo.terminal
  const isExpected = answer.verdict === verdict && answer.reason_code === reason
  outcome(
    demo.terminal,
    `${tool} ${JSON.stringify(args)}`,
    painted(answer.verdict, paint),
    isExpected,
    answer.reason_code,
  )
  return answer
}

function post(
  demo: DemoState,
  who: keyof DemoState['tokens'],
  path: string,
  body: object,
): Promise<Response> {
  return request(demo, who, path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })
}

async function request(
  { running, tokens }: DemoState,
  who: keyof DemoState['tokens'],
  path: string,
  init: RequestInit = {},
): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set('authorization', `Bearer ${tokens[who]}`)
  const response = await globalThis.fetch(new URL(path, running.url), { ...init, headers })
  if (response.ok) return response
  throw new CommandError(`the gateway answered ${response.status} to ${path}`)
}

function narrate(terminal: Terminal, name: string, sentence: string): void {
  terminal.row({ scene: name, tells: sentence }, () => `\n${terminal.paint.bold(runnable(sentence))}`)
}

function outcome(terminal: Terminal, what: string, came: string, isExpected: boolean, because: string): void {
  terminal.row(
    { what, came, because, as_told: isExpected },
    () => `  ${isExpected ? '✓' : '✗'} ${what}\n      ${came}  ${because}`,
  )
  if (!isExpected)
    throw new CommandError(
      `\`${what}\` returned ${came} (${because}), which is not expected`,
      'this is a bug in Tollgate: please report it',
    )
}
