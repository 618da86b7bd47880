// Runs test scripts for the command. A script has lines, then files:
//
//   gateway                creates $DATA as `tollgate init` does
//   tollgate ARGS [> FILE] runs a command that must exit with 0    ! tollgate ARGS     runs a command that must fail
//   exit N                 checks the exit code                    json                checks that standard output is JSON
//   stdout 'REGEX'         checks that standard output matches     ! stdout 'REGEX'    … does not match; `stderr` likewise
//   keep NAME stdout 'REGEX'   stores the first group as $NAME
//   env NAME=VALUE         sets a variable for the following lines, or removes it without a value
//   sh COMMAND             runs a shell command; the next lines check its output
//   & tollgate ARGS        runs a command in the background        wait 'REGEX'        waits until its output matches
//   POST PATH 'BODY'       sends a request to the gateway at $URL with $TOKEN; the answer is standard output
//   stop SIGNAL            ends the newest background command; the next lines check its output
//   -- NAME --             starts the text of a file in $WORK
//
// `tollgate` is on the PATH. $WORK is an empty working directory, $DATA does not exist at the start, $VECTORS contains the golden data.
//
// Foreground commands share a few processes (`warm.ts`), because starting Node takes longer than most commands.
// TOLLGATE_SCRIPTS=processes gives each command its own process; the long tests run the scripts that way.

import { spawn, type ChildProcess } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runWarm } from './warm.ts'

const COMMAND = fileURLToPath(new URL('../../bin/tollgate.mjs', import.meta.url))
const VECTORS = fileURLToPath(new URL('../../../../vectors', import.meta.url))

export interface Ran {
  exit: number
  stdout: string
  stderr: string
}

interface Background {
  readonly child: ChildProcess
  readonly ran: Ran
  readonly ended: Promise<Ran>
}

/** The state of a running script. */
interface ScriptState {
  readonly work: string
  readonly template: string
  readonly env: Record<string, string>
  last: Ran
  /** Background commands, oldest first. */
  readonly background: Background[]
}

/** Runs a script; `gateway` copies `template`. @throws at the first failing line, with the output of the command. */
export async function runScript(file: string, template: string): Promise<void> {
  const [lines = '', ...files] = readFileSync(file, 'utf8').split(/^-- (?=\S+ --$)/m)
  const work = mkdtempSync(join(tmpdir(), 'tollgate-cli-'))
  const state: ScriptState = {
    work,
    template,
    env: {
      PATH: `${join(dirname(template), 'bin')}${delimiter}${process.env.PATH ?? ''}`,
      HOME: work,
      XDG_STATE_HOME: join(work, 'state'),
      WORK: work,
      DATA: join(work, 'data'),
      VECTORS,
    },
    last: { exit: 0, stdout: '', stderr: '' },
    background: [],
  }
  try {
    for (const each of files) writeFile(work, each)
    for (const [i, line] of lines.split('\n').entries()) await runLine(state, line.trim(), `${file}:${i + 1}`)
  } finally {
    for (const { child } of state.background) child.kill('SIGKILL')
    rmSync(work, { recursive: true, force: true })
  }
}

function writeFile(work: string, section: string): void {
  const [, name = '', text = ''] = /^(\S+) --\n([^]*)$/.exec(section) ?? []
  mkdirSync(dirname(join(work, name)), { recursive: true })
  writeFileSync(join(work, name), text, { mode: 0o600 })
}

async function runLine(state: ScriptState, line: string, place: string): Promise<void> {
  if (line === '' || line.startsWith('#')) return
  try {
    await take(state, line)
  } catch (fault) {
    const { exit, stdout, stderr } = state.last
    const why = fault instanceof Error ? fault.message : String(fault)
    throw new Error(`${place}: ${line}\n${why}\nexit ${exit}\nstdout: ${stdout}\nstderr: ${stderr}`, {
      cause: fault,
    })
  }
}

async function take(state: ScriptState, line: string): Promise<void> {
  const not = line.startsWith('! ')
  const plain = not ? line.slice(2) : line
  const [verb = '', ...words] = wordsOf(state, plain)
  const act = VERBS[verb]
  if (!act) throw new Error(`no such line: \`${verb}\``)
  await act(state, words, not, plain)
}

type Verb = (state: ScriptState, words: readonly string[], not: boolean, line: string) => void | Promise<void>

const VERBS: Readonly<Record<string, Verb>> = {
  tollgate: (state, words, not) => command(state, words, not),
  sh: (state, _, not, line) => outcome(state, run(state, '/bin/sh', ['-c', line.slice(3)]).ended, not),
  gateway({ template, work }) {
    cpSync(template, join(work, 'data'), { recursive: true })
    // The key of the kept calls is in the home directory, so it is copied as well.
    cpSync(join(dirname(template), '.config'), join(work, '.config'), { recursive: true })
  },
  '&': (state, words) =>
    void state.background.push(run(state, process.execPath, [COMMAND, ...words.slice(1)])),
  wait: (state, [pattern = '']) => waitFor(state, new RegExp(pattern, 'm')),
  stop: (state, [signal = 'SIGTERM']) => stop(state, signal),
  POST: (state, [path = '', body = '{}']) => post(state, path, body),
  exit: ({ last }, [code]) => demand(last.exit === Number(code), 'the exit code differs'),
  json: ({ last }) => void JSON.parse(last.stdout),
  stdout: ({ last }, [pattern = ''], not) => has(last.stdout, pattern, not),
  stderr: ({ last }, [pattern = ''], not) => has(last.stderr, pattern, not),
  keep: (state, words) => keep(state, words),
  env: (state, [assignment = '']) => set(state, assignment),
}

// These keep a data directory open until their process ends.
const SERVERS = ['serve', 'up', 'demo']

async function command(state: ScriptState, words: readonly string[], not: boolean): Promise<void> {
  const [args, [file]] = words.at(-2) === '>' ? [words.slice(0, -2), words.slice(-1)] : [words, []]
  const apart = SERVERS.includes(args[0] ?? '') || process.env.TOLLGATE_SCRIPTS === 'processes'
  const ended = apart ? run(state, process.execPath, [COMMAND, ...args]).ended : runWarm(state, args)
  await outcome(state, ended, not)
  if (file !== undefined) writeFileSync(join(state.work, file), state.last.stdout)
}

async function outcome(state: ScriptState, ended: Promise<Ran>, not: boolean): Promise<void> {
  state.last = await ended
  demand((state.last.exit === 0) !== not, not ? 'it succeeded' : 'it failed')
}

function has(text: string, pattern: string, not: boolean): void {
  demand(
    new RegExp(pattern, 'm').test(text) !== not,
    not ? 'the output matches' : 'the output does not match',
  )
}

/** Creates a data directory with `tollgate init`, as a template for scripts, and a directory for the PATH with `tollgate`. */
export async function makeTemplate(folder: string): Promise<string> {
  const data = join(folder, 'data')
  const env = { HOME: folder, XDG_STATE_HOME: join(folder, 'state') }
  const ran = await run({ work: folder, env }, process.execPath, [COMMAND, 'init', '--data', data]).ended
  demand(ran.exit === 0, `init failed: ${ran.stderr}`)
  linkCommand(folder)
  return data
}

/** Creates a directory for the PATH with `tollgate`. */
export function linkCommand(folder: string): string {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  symlinkSync(COMMAND, join(bin, 'tollgate'))
  return bin
}

function demand(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise)
}

function keep(state: ScriptState, [name = '', from = '', pattern = '']: readonly string[]): void {
  const text = from === 'stderr' ? state.last.stderr : state.last.stdout
  const found = new RegExp(pattern, 'm').exec(text)?.[1]
  if (found === undefined) throw new Error('nothing to keep')
  state.env[name] = found
}

function set(state: ScriptState, assignment: string): void {
  const [name = '', ...value] = assignment.split('=')
  if (value.length > 0) state.env[name] = value.join('=')
  // Sound: the script asks to remove it.
  else Reflect.deleteProperty(state.env, name)
}

/** Splits a line into words as a shell does: quotes group words, and single quotes prevent replacement. */
function wordsOf({ env }: ScriptState, line: string): string[] {
  const value = (text: string): string => text.replace(/\$([A-Z_]+)/g, (_, name: string) => env[name] ?? '')
  return [...line.matchAll(/(?:'([^']*)'|"([^"]*)"|(\S+))/g)].map(
    ([, single, double, bare]) => single ?? value(double ?? bare ?? ''),
  )
}

function run(
  { work, env }: Pick<ScriptState, 'work' | 'env'>,
  program: string,
  args: readonly string[],
): Background {
  const child = spawn(program, args, { cwd: work, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ran: Ran = { exit: -1, stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => (ran.stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (ran.stderr += chunk.toString()))
  const ended = new Promise<Ran>((resolve) => {
    child.on('close', (code) => {
      ran.exit = code ?? -1
      resolve(ran)
    })
  })
  return { child, ran, ended }
}

function newest({ background }: ScriptState): Background {
  const found = background.at(-1)
  if (found) return found
  throw new Error('nothing runs in the background')
}

async function waitFor(state: ScriptState, pattern: RegExp): Promise<void> {
  const { child, ran, ended } = newest(state)
  const isMatched = (): boolean => pattern.test(`${ran.stdout}\n${ran.stderr}`)
  const matched = new Promise<void>((resolve) => {
    const check = (): void => {
      if (isMatched()) resolve()
    }
    child.stdout?.on('data', check)
    child.stderr?.on('data', check)
    check()
  })
  await Promise.race([matched, ended])
  state.last = { ...ran }
  demand(isMatched(), 'it ended without matching output')
}

async function stop(state: ScriptState, signal: string): Promise<void> {
  const background = newest(state)
  background.child.kill(signal as NodeJS.Signals)
  state.last = await background.ended
  state.background.pop()
}

async function post(state: ScriptState, path: string, body: string): Promise<void> {
  const { URL: url = '', TOKEN: token = '' } = state.env
  const response = await fetch(url + path, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  })
  state.last = { exit: response.status, stdout: await response.text(), stderr: '' }
}
