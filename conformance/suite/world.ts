// Starts an implementation with the policy of the suite and the parts around it.

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Caller, type Answer } from './caller.ts'
import { POLICY } from './policy.ts'
import { at, isFields, listAt, textAt, type Fields } from './reading.ts'
import { startRecorder } from './recorder.ts'
import type { Running } from './adapter.ts'
import type { CallerOptions, World, WorldOptions } from './requirement.ts'

const PINNED = ['own/read', 'own/ask', 'own/forbidden', 'own/leak']

/** A world, and how to end it. */
export interface OpenWorld extends World {
  close(): Promise<void>
}

export async function openWorld({ adapter, verifier }: WorldOptions): Promise<OpenWorld> {
  const recorder = await startRecorder()
  const running = await adapter.start({ servers: { own: recorder.url } }).catch((cause: unknown) => {
    recorder.close()
    throw cause
  })
  const folder = mkdtempSync(join(tmpdir(), 'conformance-packs-'))
  const close = async (): Promise<void> => {
    await running.stop()
    recorder.close()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const world = await worldOf(running, recorder, verifyWith(verifier, folder))
    return { ...world, close }
  } catch (cause) {
    await close()
    throw cause
  }
}

async function worldOf(
  running: Running,
  recorder: World['recorder'],
  verify: World['verify'],
): Promise<World> {
  const answers: (readonly [string, Answer])[] = []
  const line = {
    url: () => running.url,
    note: (route: string, answer: Answer) => void answers.push([route, answer]),
  }
  const withToken = (token: string | undefined, principal = ''): Caller => new Caller(line, token, principal)
  const admin = withToken(running.admin, 'user:root')
  let made = 0
  const caller = async (role: string, options: CallerOptions = {}): Promise<Caller> => {
    const { principal = `${PREFIXES[role] ?? 'user'}:${role}-${++made}`, ...more } = options
    const { body } = await admin.post('/v1/tokens', { role, principal, ...more })
    return withToken(textAt(body, 'token'), principal)
  }
  const activated = await admin.post('/v1/policy', { text: POLICY })
  if (activated.status !== 200) throw new Error(`the policy was not activated: ${activated.text}`)
  await pinTools(admin, await caller('agent'))
  const oldObservation = { id: await observe(await caller('sentinel')), posted: Date.now() }
  return {
    running,
    recorder,
    admin,
    answers,
    oldObservation,
    caller,
    withToken,
    verify,
    pack: () => admin.bytes('/v1/evidence/export'),
    async killAndRestart() {
      await running.kill()
      await running.restart()
    },
  }
}

const PREFIXES: Readonly<Record<string, string>> = { agent: 'agent', host: 'agent', sentinel: 'sentinel' }

/** Approves the definitions of the recorder, all but one. */
async function pinTools(admin: Caller, agent: Caller): Promise<void> {
  await agent.mcp('own')
  const { body } = await admin.get('/v1/tools')
  const offered = listAt(body, 'servers').flatMap((server) => listAt(server, 'tools'))
  for (const tool of PINNED) {
    const hash = at(
      offered.find((each) => at(each, 'tool') === tool),
      'offered',
    )
    const { status, text } = await admin.post('/v1/tools/pin', { tool, hash })
    if (status !== 200) throw new Error(`\`${tool}\` was not pinned: ${text}`)
  }
}

/** Posts an observation of a harmless page and returns its id. */
export async function observe(sentinel: Caller, more: Fields = {}): Promise<string> {
  const seen = { dom_hash: 'a'.repeat(64), visual_text_hash: 'b'.repeat(64) }
  const page = { url: 'https://example.com/', sentinel_risk: 5, sentinel_findings: [], ...seen, ...more }
  const { body } = await sentinel.post('/v1/browser/observations', page)
  return textAt(body, 'id')
}

function verifyWith([command = '', ...args]: readonly string[], folder: string): World['verify'] {
  let made = 0
  return async (pack, trust) => {
    const file = join(folder, `${++made}.pack`)
    writeFileSync(file, pack)
    if (trust !== undefined) writeFileSync(`${file}.trust`, trust)
    const all = [...args, file, ...(trust === undefined ? [] : ['--trust', `${file}.trust`])]
    return new Promise((resolve, reject) => {
      const child = spawn(command, all, { stdio: ['ignore', 'pipe', 'inherit'] })
      let printed = ''
      child.stdout.on('data', (chunk: Buffer) => void (printed += chunk.toString()))
      child.on('error', reject)
      child.on('close', (exit) => {
        const report: unknown = JSON.parse(printed)
        resolve({ ...(isFields(report) ? report : {}), exit: exit ?? -1 })
      })
    })
  }
}
