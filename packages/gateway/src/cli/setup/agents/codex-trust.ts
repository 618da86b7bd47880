// Asks the installed Codex for the hashes by which it trusts hooks. Codex runs no hook of a user that it does not trust.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { clearTimeout, setTimeout } from 'node:timers'
import { VERSION } from '../../program/version.ts'

/** A hook as Codex sees it. */
interface ListedHook {
  /** The name in \`hooks.state\`: the path of the file, the event, and two indexes. */
  readonly key: string
  readonly command: string
  readonly hash: string
  readonly isTrusted: boolean
}

const TIMEOUT_MS = 20_000

/**
 * Returns the hooks that Codex would load from this text of `hooks.json`, with keys for `file`. It is asked in an empty folder, so that it
 * changes nothing of the user. Undefined if there is no Codex, or if it does not answer.
 */
export async function hooksIn(text: string, file: string): Promise<readonly ListedHook[] | undefined> {
  const home = mkdtempSync(join(tmpdir(), 'tollgate-codex-'))
  try {
    writeFileSync(join(home, 'hooks.json'), text)
    const found = await listHooks(home, home)
    // Codex may write the path of the folder in another way.
    return found?.map((hook) => ({ ...hook, key: file + hook.key.replace(/^.*hooks\.json/, '') }))
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/** Returns the hooks that Codex loads in a directory; undefined if there is no Codex, or if it does not answer. */
export async function listHooks(home: string, cwd: string): Promise<readonly ListedHook[] | undefined> {
  mkdirSync(home, { recursive: true })
  const env = { ...process.env, CODEX_HOME: home }
  const child = spawn('codex', ['app-server'], { env, stdio: ['pipe', 'pipe', 'ignore'] })
  const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS)
  const closed = once(child, 'close').catch(() => undefined)
  let result: unknown
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify(message)}\n`)
  child.on('error', () => undefined)
  child.stdin.on('error', () => undefined)
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, result: answer } = messageIn(line)
    if (id === 1) {
      send({ method: 'initialized' })
      send({ id: 2, method: 'hooks/list', params: { cwds: [cwd] } })
    } else if (id === 2) {
      result = answer
      child.kill('SIGKILL')
    }
  })
  send({ id: 1, method: 'initialize', params: { clientInfo: { name: 'tollgate', version: VERSION } } })
  await closed
  clearTimeout(timer)
  return hooksOf(result)
}

function messageIn(line: string): { readonly id?: unknown; readonly result?: unknown } {
  try {
    const value: unknown = JSON.parse(line)
    return isRecord(value) ? value : {}
  } catch {
    // A line of a log.
    return {}
  }
}

function hooksOf(result: unknown): readonly ListedHook[] | undefined {
  const data = isRecord(result) ? result['data'] : undefined
  const first: unknown = Array.isArray(data) ? data[0] : undefined
  const hooks = isRecord(first) ? first['hooks'] : undefined
  if (!Array.isArray(hooks)) return undefined
  return hooks.flatMap((each: unknown): readonly ListedHook[] => {
    if (!isRecord(each)) return []
    const { key, command, currentHash: hash, trustStatus } = each
    if (typeof key !== 'string' || typeof command !== 'string' || typeof hash !== 'string') return []
    return [{ key, command, hash, isTrusted: trustStatus === 'trusted' || trustStatus === 'managed' }]
  })
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
