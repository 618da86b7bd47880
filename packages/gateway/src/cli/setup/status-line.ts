// `tollgate status --line`: one short line for a status bar. It reads one file and connects to one socket, so that it is fast.

import { readFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { clearTimeout, setTimeout } from 'node:timers'
import { defaultData } from '../../config/place.ts'
import { hooksPath } from '../../mcp/client/local-path.ts'

/** The data directory if the words after `tollgate` are only `status --line` and `--data DIR`; undefined for anything else. */
export function lineWanted(words: readonly string[]): string | undefined {
  const [first, second, third, fourth, ...more] = words
  if (first !== 'status' || second !== '--line' || more.length > 0) return undefined
  const { TOLLGATE_DATA: given = '', TOLLGATE_URL: url = '' } = process.env
  if (third === '--data' && fourth !== undefined && fourth !== '') return fourth
  return third === undefined && url === '' ? (given === '' ? defaultData() : given) : undefined
}

const PATIENCE_MS = 500

/** Prints the line. Returns 1 if calls may run without a decision, or if every call is denied. */
export async function printLine(data: string): Promise<number> {
  const { text, isGood } = lineOf(
    await answers(hooksPath(data)),
    readProofs(join(data, 'hooks.json')),
    Date.now(),
  )
  process.stdout.write(`${text}\n`)
  return isGood ? 0 : 1
}

interface Proofs {
  readonly at: number
  readonly hooks: readonly { readonly agent: string; readonly is: string }[]
}

// The gateway asks every 15 minutes.
const STALE_MS = 40 * 60_000

/** The line, and whether all is well. */
export function lineOf(
  isRunning: boolean,
  proofs: Proofs | undefined,
  now: number,
): { readonly text: string; readonly isGood: boolean } {
  if (!isRunning) return { text: 'tollgate off: every call is denied', isGood: false }
  const { at, hooks } = proofs ?? { at: now, hooks: [] }
  const isStale = now - at > STALE_MS
  const states = hooks.map(
    ({ agent, is }) => `${agent} ${isStale ? 'not checked' : is === 'silent' ? 'SILENT' : is}`,
  )
  const isGood = !isStale && hooks.every(({ is }) => is === 'on')
  return { text: ['tollgate on', ...states].join(' · '), isGood }
}

function readProofs(file: string): Proofs | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof value !== 'object' || value === null || !('at' in value) || !('hooks' in value))
      return undefined
    const { at, hooks } = value
    if (typeof at !== 'string' || !Array.isArray(hooks)) return undefined
    return { at: Date.parse(at), hooks: hooks.filter(isProof) }
  } catch {
    // No hook was checked yet.
    return undefined
  }
}

function isProof(value: unknown): value is Proofs['hooks'][number] {
  if (typeof value !== 'object' || value === null || !('agent' in value) || !('is' in value)) return false
  return typeof value.agent === 'string' && typeof value.is === 'string'
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path)
    const end = (is: boolean) => (): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(is)
    }
    const timer = setTimeout(end(false), PATIENCE_MS)
    socket.once('connect', end(true))
    socket.once('error', end(false))
  })
}
