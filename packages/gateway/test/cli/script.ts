// Runs the command by scripts that a person can read. A script is lines, then files:
//
//   gateway                makes $DATA as `tollgate init` does
//   tollgate ARGS [> FILE] runs it; it must exit with 0           ! tollgate ARGS     it must not
//   exit N                 the exit code it had                   json                standard output is JSON
//   stdout 'REGEX'         standard output has it                 ! stdout 'REGEX'    it has not; `stderr` alike
//   keep NAME stdout 'REGEX'   keeps what the first group matched, as $NAME
//   env NAME=VALUE         for all that follows; without a value, it is gone
//   sh COMMAND             what a shell does; the next lines ask about it as about the command
//   & tollgate ARGS        runs it in the background               wait 'REGEX'       until it has said so on either output
//   POST PATH 'BODY'       asks the gateway at $URL with $TOKEN; the answer is standard output
//   stop SIGNAL            ends what was put in the background last; the next lines ask about it
//   -- NAME --             the text of a file in $WORK, at the end
//
// $WORK is an empty directory and where everything runs, $DATA is not there yet, $VECTORS has the golden data.
//
// Commands in the foreground share a few processes (`warm.ts`): starting Node and loading the product takes longer than what most of
// them do. TOLLGATE_SCRIPTS=processes gives each its own process; the long tests run the scripts that way.

import { spawn, type ChildProcess } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
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

/** A script that is being run. */
interface Stage {
  readonly work: string
  readonly template: string
  readonly env: Record<string, string>
  last: Ran
  /** What runs in the background, the newest last. */
  readonly background: Background[]
}

/** Runs a script; `template` is what `gateway` copies. @throws at the first line that does not hold, with what the command said. */
export async function runScript(file: string, template: string): Promise<void> {
  const [lines = '', ...files] = readFileSync(file, 'utf8').split(/^-- (?=\S+ --$)/m)
  const work = mkdtempSync(join(tmpdir(), 'tollgate-cli-'))
  const stage: Stage = {
    work,
    template,
    env: {
      PATH: process.env.PATH ?? '',
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
    for (const [i, line] of lines.split('\n').entries()) await runLine(stage, line.trim(), `${file}:${i + 1}`)
  } finally {
    for (const { child } of stage.background) child.kill('SIGKILL')
    rmSync(work, { recursive: true, force: true })
  }
}

function writeFile(work: string, section: string): void {
  const [, name = '', text = ''] = /^(\S+) --\n([^]*)$/.exec(section) ?? []
  mkdirSync(dirname(join(work, name)), { recursive: true })
  writeFileSync(join(work, name), text, { mode: 0o600 })
}

async function runLine(stage: Stage, line: string, place: string): Promise<void> {
  if (line === '' || line.startsWith('#')) return
  try {
    await take(stage, line)
  } catch (fault) {
    const { exit, stdout, stderr } = stage.last
    const why = fault instanceof Error ? fault.message : String(fault)
    throw new Error(`${place}: ${line}\n${why}\nexit ${exit}\nstdout: ${stdout}\nstderr: ${stderr}`, {
      cause: fault,
    })
  }
}

async function take(stage: Stage, line: string): Promise<void> {
  const not = line.startsWith('! ')
  const plain = not ? line.slice(2) : line
  const [verb = '', ...words] = wordsOf(stage, plain)
  const act = VERBS[verb]
  if (!act) throw new Error(`no such line: \`${verb}\``)
  await act(stage, words, not, plain)
}

type Verb = (stage: Stage, words: readonly string[], not: boolean, line: string) => void | Promise<void>

const VERBS: Readonly<Record<string, Verb>> = {
  tollgate: (stage, words, not) => command(stage, words, not),
  sh: (stage, _, not, line) => outcome(stage, run(stage, '/bin/sh', ['-c', line.slice(3)]).ended, not),
  gateway({ template, work }) {
    cpSync(template, join(work, 'data'), { recursive: true })
    // The key of its kept calls is beside it, as it was in the home where it was made.
    cpSync(join(dirname(template), '.config'), join(work, '.config'), { recursive: true })
  },
  '&': (stage, words) =>
    void stage.background.push(run(stage, process.execPath, [COMMAND, ...words.slice(1)])),
  wait: (stage, [pattern = '']) => waitFor(stage, new RegExp(pattern, 'm')),
  stop: (stage, [signal = 'SIGTERM']) => stop(stage, signal),
  POST: (stage, [path = '', body = '{}']) => post(stage, path, body),
  exit: ({ last }, [code]) => demand(last.exit === Number(code), 'it had another exit code'),
  json: ({ last }) => void JSON.parse(last.stdout),
  stdout: ({ last }, [pattern = ''], not) => has(last.stdout, pattern, not),
  stderr: ({ last }, [pattern = ''], not) => has(last.stderr, pattern, not),
  keep: (stage, words) => keep(stage, words),
  env: (stage, [assignment = '']) => set(stage, assignment),
}

// They hold a data directory, and end with their process.
const SERVERS = ['serve', 'up', 'demo']

async function command(stage: Stage, words: readonly string[], not: boolean): Promise<void> {
  const [args, [file]] = words.at(-2) === '>' ? [words.slice(0, -2), words.slice(-1)] : [words, []]
  const apart = SERVERS.includes(args[0] ?? '') || process.env.TOLLGATE_SCRIPTS === 'processes'
  const ended = apart ? run(stage, process.execPath, [COMMAND, ...args]).ended : runWarm(stage, args)
  await outcome(stage, ended, not)
  if (file !== undefined) writeFileSync(join(stage.work, file), stage.last.stdout)
}

async function outcome(stage: Stage, ended: Promise<Ran>, not: boolean): Promise<void> {
  stage.last = await ended
  demand((stage.last.exit === 0) !== not, not ? 'it succeeded' : 'it failed')
}

function has(text: string, pattern: string, not: boolean): void {
  demand(new RegExp(pattern, 'm').test(text) !== not, not ? 'it has it' : 'it has it not')
}

/** Makes a data directory as `tollgate init` does, in a folder, for scripts to begin with. */
export async function makeTemplate(folder: string): Promise<string> {
  const data = join(folder, 'data')
  const env = { HOME: folder, XDG_STATE_HOME: join(folder, 'state') }
  const ran = await run({ work: folder, env }, process.execPath, [COMMAND, 'init', '--data', data]).ended
  demand(ran.exit === 0, `init failed: ${ran.stderr}`)
  return data
}

function demand(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise)
}

function keep(stage: Stage, [name = '', from = '', pattern = '']: readonly string[]): void {
  const text = from === 'stderr' ? stage.last.stderr : stage.last.stdout
  const found = new RegExp(pattern, 'm').exec(text)?.[1]
  if (found === undefined) throw new Error('nothing to keep')
  stage.env[name] = found
}

function set(stage: Stage, assignment: string): void {
  const [name = '', ...value] = assignment.split('=')
  if (value.length > 0) stage.env[name] = value.join('=')
  // Sound: the script says that it is to be gone.
  else Reflect.deleteProperty(stage.env, name)
}

/** Words as a shell makes them: blanks part them, quotes hold them together; in single quotes nothing is replaced. */
function wordsOf({ env }: Stage, line: string): string[] {
  const value = (text: string): string => text.replace(/\$([A-Z_]+)/g, (_, name: string) => env[name] ?? '')
  return [...line.matchAll(/(?:'([^']*)'|"([^"]*)"|(\S+))/g)].map(
    ([, single, double, bare]) => single ?? value(double ?? bare ?? ''),
  )
}

function run(
  { work, env }: Pick<Stage, 'work' | 'env'>,
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

function newest({ background }: Stage): Background {
  const found = background.at(-1)
  if (found) return found
  throw new Error('nothing runs in the background')
}

async function waitFor(stage: Stage, pattern: RegExp): Promise<void> {
  const { child, ran, ended } = newest(stage)
  const isSaid = (): boolean => pattern.test(`${ran.stdout}\n${ran.stderr}`)
  const said = new Promise<void>((resolve) => {
    const look = (): void => {
      if (isSaid()) resolve()
    }
    child.stdout?.on('data', look)
    child.stderr?.on('data', look)
    look()
  })
  await Promise.race([said, ended])
  stage.last = { ...ran }
  demand(isSaid(), 'it has ended without saying so')
}

async function stop(stage: Stage, signal: string): Promise<void> {
  const background = newest(stage)
  background.child.kill(signal as NodeJS.Signals)
  stage.last = await background.ended
  stage.background.pop()
}

async function post(stage: Stage, path: string, body: string): Promise<void> {
  const { URL: url = '', TOKEN: token = '' } = stage.env
  const response = await fetch(url + path, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  })
  stage.last = { exit: response.status, stdout: await response.text(), stderr: '' }
}
