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

/** Runs a command on a terminal and answers its prompts in order. `through` puts a shell around it. */
export function onTerminal(
  { cwd, env }: Place,
  args: readonly string[],
  answers: readonly Answer[],
  through: (command: string) => string = (command) => command,
): Promise<Ended> {
  const command = [process.execPath, COMMAND, ...args].map((word) => `'${word}'`).join(' ')
  const child = spawn('script', ['-qec', through(command), '/dev/null'], {
    cwd,
    env: { ...env, SHELL: '/bin/sh' },
  })
  const left = [...answers]
  let output = ''
  let answered = 0
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
    const [next] = left
    if (next?.[0].test(output.slice(answered)) !== true) return
    answered = output.length
    left.shift()
    child.stdin.write(next[1])
  })
  return new Promise((resolve) => child.on('close', (exit) => resolve({ exit, output })))
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
