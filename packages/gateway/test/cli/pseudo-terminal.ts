// Runs a command on a pseudo-terminal with `script` of util-linux, as a person would, or without any terminal.

import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const COMMAND = fileURLToPath(new URL('../../bin/tollgate.mjs', import.meta.url))

/** Whether `script` of util-linux is here. Without it, the tests print a line and are skipped. */
export const HAS_SCRIPT = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0
if (!HAS_SCRIPT) console.warn('SKIPPED: tests on a pseudo-terminal need `script` of util-linux')

export interface Place {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

export interface Ended {
  readonly exit: number | null
  readonly output: string
}

/** A prompt and the keys to press when it appears. */
export type Answer = readonly [prompt: RegExp, keys: string]

/** A command that runs on a terminal. */
export interface OnTerminal {
  /** Resolves with the output when it matches. Rejects if the command ends before. */
  shows(pattern: RegExp): Promise<string>
  press(keys: string): void
  readonly ended: Promise<Ended>
}

/** Starts a line of a shell on a terminal and answers its prompts in order. */
export function startOnTerminal(
  { cwd, env }: Place,
  line: string,
  answers: readonly Answer[] = [],
): OnTerminal {
  const child = spawn('script', ['-qec', line, '/dev/null'], { cwd, env: { ...env, SHELL: '/bin/sh' } })
  const left = [...answers]
  let output = ''
  let answered = 0
  const look = new Set<() => void>()
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
    for (const each of look) each()
    const [next] = left
    if (next?.[0].test(output.slice(answered)) !== true) return
    answered = output.length
    left.shift()
    child.stdin.write(next[1])
  })
  const ended = new Promise<Ended>((resolve) => child.on('close', (exit) => resolve({ exit, output })))
  return {
    ended,
    press: (keys) => void child.stdin.write(keys),
    shows: (pattern) =>
      new Promise((resolve, reject) => {
        const seen = (): void => {
          if (pattern.test(output)) resolve(output)
        }
        look.add(seen)
        seen()
        void ended.then(() => reject(new Error(`it ended without ${String(pattern)}:\n${output}`)))
      }),
  }
}

/** Runs a command of ours on a terminal to its end. `through` puts a shell around it. */
export function onTerminal(
  place: Place,
  args: readonly string[],
  answers: readonly Answer[],
  through: (command: string) => string = (command) => command,
): Promise<Ended> {
  const command = [process.execPath, COMMAND, ...args].map((word) => `'${word}'`).join(' ')
  return startOnTerminal(place, through(command), answers).ended
}

/** Runs a command in a session of its own, which has no terminal, as a program does. */
export function withoutTerminal(
  { cwd, env }: Place,
  args: readonly string[],
  input = '',
): Promise<Ended & { readonly stdout: string }> {
  const child = spawn(process.execPath, [COMMAND, ...args], { cwd, env, detached: true })
  let [stdout, output] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stdin.end(input)
  return new Promise((resolve) => child.on('close', (exit) => resolve({ exit, output, stdout })))
}
