// Gateways on one PostgreSQL under load, while gateways, server processes and the whole server are killed and connections are cut at
// each statement. At the end, the ledger is compared with everything that was acknowledged and signed.

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { noteKey, openCheckpoint, parseJson, toHex, type JsonObject } from '@tollgate/evidence'
import { fsckLedger, openView } from '../../src/open.ts'
import { activate } from '../gateway-rig.ts'
import { startServer, type TestServer } from '../store/postgres/server.ts'
import { startProxy, type CutProxy } from './proxy.ts'
import { createFleet, through, type Member } from './rig.ts'

const LOAD = fileURLToPath(new URL('load.mjs', import.meta.url))
const FEW = 12

const POLICY = `
tollgate: 1
name: faults
principals: { "agent:*": { tier: standard } }
tools:
  "notes/write": { effect: write, destinations: none }
  "notes/few": { effect: write, destinations: none }
  "mail/send": { effect: send, destinations: none }
rules:
  - { id: notes, allow: "notes/*" }
  - { id: mail, require: "mail/send", expires: 15m }
gates:
  temporal: { rate: { "notes/few": { session: ${FEW}/300day } } }
`

export interface BatteryOptions {
  readonly gateways: number
  readonly faults: number
  readonly seed: number
}

export interface BatteryReport {
  readonly faults: Readonly<Record<Fault, number>>
  readonly acknowledged: number
  readonly entries: number
  readonly checkpoints: number
  readonly approvalsUsed: number
  readonly violations: readonly string[]
}

type Fault = 'cut' | 'backend' | 'gateway' | 'server'

/** A gateway process and its proxy. */
interface Runner {
  readonly member: Member
  readonly proxy: CutProxy
  child: ChildProcess
  /** Resolves when it has written a line after now. */
  progress: () => Promise<void>
}

/** Runs the battery on a server of its own. */
export async function runBattery({ gateways, faults, seed }: BatteryOptions): Promise<BatteryReport> {
  const server = await startServer()
  const place = server.place()
  const members = await createFleet(
    place,
    Array.from({ length: gateways }, (_, i) => `gw-${i}`),
  )
  const violations: string[] = []
  const acknowledged = new Set<string>()
  const notes = new Set<string>()
  const done = { cut: 0, backend: 0, gateway: 0, server: 0 }
  const [first] = members
  if (!first) throw new Error('a battery needs a gateway')
  const founder = await first.open()
  await activate(founder, POLICY)
  await founder.close()
  const runners: Runner[] = []
  try {
    for (const member of members) {
      const proxy = await startProxy(server.port)
      const url = place.url.replace(`:${server.port}/`, `:${proxy.port}/`)
      const own = through(member, url)
      runners.push(await startRunner(own, proxy, { acknowledged, violations }))
    }
    const random = randomFrom(seed)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
    for (let i = 0; i < faults; i++) {
      const runner = pick(runners)
      const kind = faultAt(i, random)
      done[kind]++
      if (kind === 'cut') await runner.proxy.cutAt(1 + (i % 8), i % 3 === 0 ? 'before' : 'after')
      if (kind === 'backend') await killBackend(server, random)
      if (kind === 'server') {
        await server.kill()
        await server.start()
      }
      if (kind === 'gateway') {
        await end(runner.child)
        Object.assign(runner, await startRunner(runner.member, runner.proxy, { acknowledged, violations }))
      }
      // Every gateway works again before the next fault.
      await Promise.all(runners.map((each) => each.progress()))
      const [kept] = await server.query(`SELECT note FROM ${place.schema}.checkpoint`)
      if (typeof kept?.note === 'string') notes.add(kept.note)
    }
    for (const { child } of runners) await end(child)
    const result = await audit(first, { acknowledged, notes, violations })
    return { faults: done, acknowledged: acknowledged.size, checkpoints: notes.size, violations, ...result }
  } finally {
    for (const { child, proxy } of runners) {
      child.kill('SIGKILL')
      await proxy.close()
    }
    await server.stop()
  }
}

function faultAt(i: number, random: () => number): Fault {
  if (i % 15 === 7) return 'server'
  if (i % 10 === 4) return 'gateway'
  return random() < 0.25 ? 'backend' : 'cut'
}

interface Seen {
  readonly acknowledged: Set<string>
  readonly violations: string[]
}

async function startRunner(
  member: Member,
  proxy: CutProxy,
  { acknowledged, violations }: Seen,
): Promise<Runner> {
  const child = spawn(process.execPath, [LOAD, JSON.stringify(member.config)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const waiting: (() => void)[] = []
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [what, id = ''] = JSON.parse(line) as readonly [string, string?]
    if (what === 'ack') acknowledged.add(id)
    else if (what !== 'open') violations.push(`${member.config.writer}: ${line}`)
    if (what === 'ack' || what === 'open') for (const resolve of waiting.splice(0)) resolve()
  })
  child.on('exit', (code) => {
    if (code !== null) violations.push(`${member.config.writer} ended with ${code}: ${errors.slice(0, 500)}`)
    for (const resolve of waiting.splice(0)) resolve()
  })
  const progress = (): Promise<void> =>
    child.exitCode === null ? new Promise((resolve) => void waiting.push(resolve)) : Promise.resolve()
  await progress()
  return { member, proxy, child, progress }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** Ends one of the server processes that gateways use. */
async function killBackend(server: TestServer, random: () => number): Promise<void> {
  const rows = await server.query("SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'tollgate/%'")
  const pid = Number(rows[Math.floor(random() * rows.length)]?.pid)
  if (Number.isSafeInteger(pid)) await server.query(`SELECT pg_terminate_backend(${pid})`)
}

/** Compares the ledger with what was acknowledged and signed. */
async function audit(
  member: Member,
  { acknowledged, notes, violations }: Seen & { readonly notes: ReadonlySet<string> },
): Promise<{ readonly entries: number; readonly approvalsUsed: number }> {
  // A last start closes the open calls of this gateway and signs the head.
  await (await member.open()).close()
  const report = await fsckLedger(member.config, () => undefined)
  for (const problem of report.problems) {
    // The calls of the other gateways, which were killed, stay open.
    violations.push(JSON.stringify(problem))
  }
  if (report.verified !== report.entries) violations.push('the newest entries are not under a checkpoint')
  const { view, close } = await openView(member.config)
  const ids = new Set<string>()
  const used = new Map<string, number>()
  const few = new Map<string, number>()
  for (let at = 0; ;) {
    const payloads = await view.payloads(at, 1000)
    for (const { id, text } of payloads) {
      if (ids.has(id)) violations.push(`the receipt ${id} is in the ledger twice`)
      ids.add(id)
      // Sound: a payload is an object.
      const receipt = parseJson(text) as JsonObject
      const { approval, verdict, tool, session } = receipt
      if (typeof approval === 'string') count(used, approval)
      if (verdict === 'ALLOW' && tool === 'notes/few')
        count(few, JSON.stringify(session && (session as JsonObject).id))
    }
    if (payloads.length === 0) break
    at += payloads.length
  }
  for (const id of acknowledged)
    if (!ids.has(id)) violations.push(`the acknowledged receipt ${id} is missing`)
  for (const [id, times] of used) if (times > 1) violations.push(`the approval ${id} was used ${times} times`)
  for (const [session, calls] of few) if (calls > FEW) violations.push(`${calls} calls passed in ${session}`)
  const { ledger } = member.config
  const opened = await member.open()
  const keys = opened.ledgerKeys.map((key) => noteKey(ledger, key, 1))
  for (const note of notes) {
    const { size, root } = await openCheckpoint(note, { ledger: keys })
    if (toHex(await view.rootAt(size)) !== toHex(root))
      violations.push(`the checkpoint of ${size} entries has another root`)
  }
  await opened.close()
  await close()
  return { entries: report.entries, approvalsUsed: used.size }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

/** Numbers from 0 to 1 that depend only on the seed. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}
