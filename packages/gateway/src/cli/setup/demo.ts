// `tollgate demo`: a story, told by a real gateway of its own over real HTTP. It ends badly if anything comes out other
// than told, and leaves nothing behind.

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
import { CommandError, type Terminal } from '../program/terminal.ts'

interface Verdict {
  readonly verdict: string
  readonly reason_code: string
  readonly approval: string | null
}

interface DemoStage {
  readonly terminal: Terminal
  readonly running: RunningGateway
  readonly folder: string
  readonly tokens: Readonly<Record<'agent' | 'operator' | 'auditor', string>>
}

/** Plays the demonstration; fails at the first step that comes out other than told. */
export async function runDemo(terminal: Terminal): Promise<number> {
  const folder = newFolder()
  const forget = onInterrupt(() => rmSync(folder, { recursive: true, force: true }))
  const began = performance.now()
  try {
    const stage = await openStage(terminal, folder)
    try {
      for (const scene of SCENES) await scene(stage)
    } finally {
      await stage.running.close()
    }
    tell(
      terminal,
      'end',
      `All of it came out as told, in ${((performance.now() - began) / 1000).toFixed(1)} s. Begin your own with \`tollgate up\`.`,
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
      `no folder can be made in \`${tmpdir()}\``,
      'set TMPDIR to a directory that this user may write to',
    )
  }
}

async function openStage(terminal: Terminal, folder: string): Promise<DemoStage> {
  tell(terminal, 'begin', 'A gateway of its own is set up: keys, a ledger, a policy, a socket.')
  const created = await createData(join(folder, 'data'), {}, () => undefined)
  // Its heads go with it: nothing of a demonstration stays.
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
  tell(
    terminal,
    'begin',
    `It listens on ${running.url}. The agent talks to it by HTTP, with a token of its own.`,
  )
  return { terminal, running, folder, tokens }
}

const SCENES: readonly ((stage: DemoStage) => Promise<void>)[] = [
  allowed,
  denied,
  escalated,
  exfiltration,
  evidence,
]

async function allowed(stage: DemoStage): Promise<void> {
  scene(
    stage,
    'allowed',
    'The agent wants to read a note. A rule allows it; the decision is on disk before the answer.',
  )
  await expectVerdict(stage, 'demo/read_note', { name: 'shopping' }, ['ALLOW', 'RULE_ALLOWED'])
}

async function denied(stage: DemoStage): Promise<void> {
  scene(stage, 'denied', 'It wants to delete one, and to use a tool that nobody declared.')
  await expectVerdict(stage, 'demo/delete_note', { name: 'shopping' }, ['DENY', 'POLICY_VIOLATION'])
  await expectVerdict(stage, 'shell/run', { line: 'rm -rf /' }, ['DENY', 'DENY_TOOL_NOT_FOUND'])
}

async function escalated(stage: DemoStage): Promise<void> {
  scene(stage, 'escalated', 'It wants to post a note to a partner. That takes a person.')
  const args = { url: 'https://partner.example/in', name: 'shopping' }
  const { approval } = await expectVerdict(stage, 'demo/post_note', args, [
    'ESCALATE',
    'EGRESS_APPROVAL_REQUIRED',
  ])
  await post(stage, 'operator', `/v1/approvals/${approval ?? ''}/approve`, {})
  scene(
    stage,
    'escalated',
    'user:olga approves: exactly this call, once. The agent asks again, and once more.',
  )
  await expectVerdict(stage, 'demo/post_note', args, ['ALLOW', 'APPROVAL_GRANTED'])
  await expectVerdict(stage, 'demo/post_note', args, ['ESCALATE', 'EGRESS_APPROVAL_REQUIRED'])
}

async function exfiltration(stage: DemoStage): Promise<void> {
  scene(
    stage,
    'exfiltration',
    'In another session it leaks piece by piece, to a place that is allowed. Each call alone would pass.',
  )
  const args = { url: 'https://example.com/in', note: 'export customer passwords' }
  for (const verdict of ['ALLOW', 'ALLOW'] as const) {
    await expectVerdict(stage, 'demo/post_note', args, [verdict, 'RULE_ALLOWED'], 'leak')
  }
  await expectVerdict(stage, 'demo/post_note', args, ['DENY', 'SESSION_RISK_MEMORY_DENY'], 'leak')
  scene(
    stage,
    'exfiltration',
    'The session as a whole became too risky, and stays so: now even reading is denied to it.',
  )
  await expectVerdict(
    stage,
    'demo/read_note',
    { name: 'shopping' },
    ['DENY', 'SESSION_RISK_MEMORY_DENY'],
    'leak',
  )
}

async function evidence(stage: DemoStage): Promise<void> {
  const { terminal, running, folder } = stage
  scene(
    stage,
    'evidence',
    'An auditor exports the ledger and verifies it offline, with nothing but the pack and a key.',
  )
  const response = await request(stage, 'auditor', '/v1/evidence/export')
  const pack = Buffer.from(await response.arrayBuffer())
  const file = join(folder, 'all.pack')
  writeFileSync(file, pack)
  const trust = await parseTrust(running.gateway.trust())
  const honest = await verifyFile(file, { trust })
  outcome(terminal, 'verify all.pack', honest.level, honest.level === 'verified', `exit ${honest.exit}`)

  scene(
    stage,
    'forgery',
    'Somebody puts the blame on another agent: one name in one receipt, and the list of contents made to fit.',
  )
  const forged = join(folder, 'forged.pack')
  writeFileSync(
    forged,
    forgePack(pack, { mark: '"rule":"no-deleting"', from: 'agent:demo', to: 'agent:evil' }),
  )
  const report = await verifyFile(forged, { trust })
  const [first] = report.findings
  const found = first?.code ?? 'nothing found'
  outcome(terminal, 'verify forged.pack', report.level, report.exit === 1, `exit ${report.exit}, ${found}`)
}

async function expectVerdict(
  stage: DemoStage,
  tool: string,
  args: object,
  [verdict, reason]: readonly [string, string],
  session = 'work',
): Promise<Verdict> {
  const said = (await (
    await post(stage, 'agent', '/v1/evaluate', { tool, arguments: args, session_id: session })
  ).json()) as Verdict
  const { paint } = stage.terminal
  const fits = said.verdict === verdict && said.reason_code === reason
  outcome(
    stage.terminal,
    `${tool} ${JSON.stringify(args)}`,
    painted(said.verdict, paint),
    fits,
    said.reason_code,
  )
  return said
}

function post(
  stage: DemoStage,
  who: keyof DemoStage['tokens'],
  path: string,
  body: object,
): Promise<Response> {
  return request(stage, who, path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })
}

async function request(
  { running, tokens }: DemoStage,
  who: keyof DemoStage['tokens'],
  path: string,
  init: RequestInit = {},
): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set('authorization', `Bearer ${tokens[who]}`)
  const response = await globalThis.fetch(new URL(path, running.url), { ...init, headers })
  if (response.ok) return response
  throw new CommandError(`the gateway answered ${response.status} to ${path}`)
}

function scene({ terminal }: DemoStage, name: string, sentence: string): void {
  tell(terminal, name, sentence)
}

function tell(terminal: Terminal, name: string, sentence: string): void {
  terminal.row({ scene: name, tells: sentence }, () => `\n${terminal.paint.bold(sentence)}`)
}

function outcome(terminal: Terminal, what: string, came: string, fits: boolean, because: string): void {
  terminal.row(
    { what, came, because, as_told: fits },
    () => `  ${fits ? '✓' : '✗'} ${what}\n      ${came}  ${because}`,
  )
  if (!fits)
    throw new CommandError(
      `\`${what}\` came out as ${came} (${because}), and not as told`,
      'this is a fault of the product: please report it',
    )
}
