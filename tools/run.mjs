// Runs the tasks of the project: `node tools/run.mjs TASK`. Plain JavaScript without dependencies, because it runs before
// anything is installed.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureBrowser } from './browser.mjs'
import { resultState, sourceState } from './build-state.mjs'
import { ensureNewestNode } from './newest-node.mjs'
import { ensurePostgres } from './postgres.mjs'
import { ensurePython } from './python.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const WINDOWS = process.platform === 'win32'
const TERMINAL = process.stdout.isTTY === true
const CLEAR = '\r\u001b[K'
const env = { ...process.env, PATH: join(root, 'node_modules/.bin') + delimiter + process.env.PATH }

// A step `does` something here or `run`s a command, or runs several rows of commands `beside` each other, for two cores. Its
// output is shown if it fails. An `open` step shows its output as it arrives, and its command gets the arguments after the
// task name.
const install = { name: 'install', does: installDependencies }
const browser = { name: 'browser', does: provideBrowser }
const postgres = { name: 'PostgreSQL', does: providePostgres }
const newestNode = { name: 'newest Node', does: provideNewestNode }
const python = { name: 'Python', does: providePythons }
const build = { name: 'build', run: script('build') }
const changed = { name: 'build', does: buildChanged }

const TASKS = {
  test: [
    install,
    browser,
    postgres,
    newestNode,
    python,
    build,
    {
      name: 'lint, docs, vectors, and beside them types of the tests, format, rooms, unused exports',
      beside: [
        [
          script('lint'),
          ['tsx', 'tools/make-docs.ts', '--check'],
          ['tsx', 'tools/make-vectors.ts', '--check'],
        ],
        [
          ['node', 'node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'],
          script('format:check'),
          script('rooms'),
          script('unused'),
        ],
      ],
    },
    { name: 'tests', run: ['vitest', 'run'], open: true },
  ],
  start: [
    install,
    changed,
    { name: 'gateway', run: ['node', 'packages/gateway/bin/tollgate.mjs', 'up'], open: true },
  ],
  conform: [install, changed, { name: 'requirements', run: ['tsx', 'conformance/suite/run.ts'], open: true }],
  bench: [install, postgres, build, { name: 'bench', run: ['tsx', 'bench/run.ts'], open: true }],
  replay: [install, build, { name: 'recorded runs', run: ['tsx', 'bench/replay/run.ts'], open: true }],
  sessions: [install, build, { name: 'sessions', run: ['tsx', 'bench/sessions/run.ts'], open: true }],
  defence: [install, build, { name: 'defence', run: ['tsx', 'bench/defence.ts'], open: true }],
  compat: [
    install,
    {
      name: 'install clients and servers',
      run: ['npm', 'ci', '--prefix', 'compat', '--no-fund', '--no-audit'],
    },
    newestNode,
    python,
    { name: 'Python clients', does: () => providePython('compat') },
    build,
    { name: 'compat tests', run: ['vitest', 'run', '--config', 'vitest.compat.config.ts'], open: true },
  ],
  deep: [
    install,
    browser,
    postgres,
    build,
    { name: 'deep tests', run: ['vitest', 'run', '--config', 'vitest.deep.config.ts'], open: true },
  ],
}

const running = new Set() // the running children
let stopped // the exit code after a signal

process.on('SIGINT', () => stop('SIGINT', 130))
process.on('SIGTERM', () => stop('SIGTERM', 143))
process.on('SIGHUP', () => stop('SIGHUP', 129))
process.exitCode = await main(process.argv.slice(2))

async function main([task, ...args]) {
  if (!Object.hasOwn(TASKS, task ?? '')) {
    console.error(`no task \`${task ?? ''}\`; the tasks are ${Object.keys(TASKS).join(', ')}`)
    return 2
  }
  const extra = args[0] === '--' ? args.slice(1) : args
  const steps = []
  for (const step of TASKS[task]) {
    const began = performance.now()
    const code = await take(step, extra)
    if (stopped ?? code) return stopped ?? code
    steps.push({ name: step.name, seconds: Math.round((performance.now() - began) / 100) / 10 })
  }
  // `npm run house` shows the duration of the last complete run.
  if (task === 'test' && extra.length === 0) keepTimes(steps)
  return 0
}

function keepTimes(steps) {
  const seconds = Math.round(steps.reduce((sum, step) => sum + step.seconds, 0) * 10) / 10
  mkdirSync(join(root, '.cache'), { recursive: true })
  writeFileSync(join(root, '.cache/last-test.json'), JSON.stringify({ seconds, steps }))
}

/** Runs one step, prints its duration and returns its exit code. */
async function take(step, extra) {
  const began = performance.now()
  const hide = step.open ? showBegin(step) : showProgress(step)
  const { code = 0, output = '', note = '' } = await (step.does ? step.does() : runStep(step, extra))
  hide()
  const seconds = `${((performance.now() - began) / 1000).toFixed(1)} s`
  const end = stopped ? `stopped after ${seconds}` : code === 0 ? seconds : `failed after ${seconds}`
  console.log(`▸ ${step.name} … ${end}${note && ` (${note})`}`)
  if (code !== 0 && !stopped && output) process.stderr.write(output.endsWith('\n') ? output : `${output}\n`)
  return code
}

function showBegin({ name }) {
  console.log(`▸ ${name} …`)
  return () => undefined
}

/** Shows that a step runs: on a terminal the elapsed time in one line, elsewhere a line from time to time. Returns how to end it. */
function showProgress({ name }) {
  const began = performance.now()
  const show = () => {
    const elapsed = `▸ ${name} … ${Math.floor((performance.now() - began) / 1000)} s`
    process.stdout.write(TERMINAL ? CLEAR + elapsed : `${elapsed} so far\n`)
  }
  if (TERMINAL) show()
  const timer = setInterval(show, TERMINAL ? 1000 : 10_000)
  return () => {
    clearInterval(timer)
    if (TERMINAL) process.stdout.write(CLEAR)
  }
}

function runStep({ run, beside, open = false }, extra) {
  if (beside) return runBeside(beside)
  return runCommand(open ? [...run, ...extra] : run, open)
}

/** Runs rows of commands concurrently, each row up to its first failure. Shows the output of all failures. */
async function runBeside(rows) {
  const results = await Promise.all(rows.map(runRow))
  const failed = results.filter(({ code }) => code !== 0)
  return { code: failed[0]?.code ?? 0, output: failed.map(({ output }) => output).join('\n') }
}

async function runRow(commands) {
  for (const command of commands) {
    const { code, output } = await runCommand(command)
    if (code !== 0) return { code, output: `${command.join(' ')}\n${output}` }
  }
  return { code: 0, output: '' }
}

function runCommand([command, ...args], open = false) {
  if (stopped) return Promise.resolve({ code: stopped, output: '' })
  return new Promise((resolve) => {
    const chunks = []
    const stdio = open ? 'inherit' : ['ignore', 'pipe', 'pipe']
    const child = spawn(command, args, { cwd: root, env, stdio, shell: WINDOWS, detached: !WINDOWS })
    running.add(child)
    const end = (result) => {
      running.delete(child)
      resolve(result)
    }
    child.stdout?.on('data', (chunk) => chunks.push(chunk))
    child.stderr?.on('data', (chunk) => chunks.push(chunk))
    child.on('error', ({ code }) => end({ code: 127, output: `cannot run \`${command}\`: ${code}` }))
    child.on('close', (code) => end({ code: code ?? 1, output: Buffer.concat(chunks).toString() }))
  })
}

/** Forwards a signal to the child and its process group, because npm does not. The second signal always ends them. */
function stop(signal, code) {
  const children = [...running].filter(({ pid }) => pid)
  if (children.length === 0) process.exit(code)
  for (const { pid } of children) {
    try {
      process.kill(WINDOWS ? pid : -pid, stopped ? 'SIGKILL' : signal)
    } catch {
      // They have just exited.
    }
  }
  stopped = code
}

function script(name) {
  return ['npm', 'run', '-s', name]
}

/** Installs exactly the lockfile, unless it is already installed. */
async function installDependencies() {
  const stamp = join(root, 'node_modules/.tollgate-installed')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === installDigest()) return { note: 'up to date' }
  const result = await runCommand(['npm', 'ci', '--no-fund', '--no-audit'])
  if (result.code === 0) writeFileSync(stamp, installDigest())
  return result
}

/** A digest of everything that determines what npm installs. */
function installDigest() {
  const packages = readdirSync(join(root, 'packages')).sort()
  const manifests = packages.map((name) => join('packages', name, 'package.json'))
  const digest = createHash('sha256')
  for (const file of ['package.json', 'package-lock.json', ...manifests]) {
    const path = join(root, file)
    digest.update(`${file}\n${existsSync(path) ? readFileSync(path, 'utf8') : ''}\n`)
  }
  return digest.digest('hex')
}

/** Builds, unless all sources and results are as the last build left them. */
async function buildChanged() {
  const stamp = join(root, 'packages/gateway/dist/built')
  // Taken before the build: a file that changes meanwhile is built next time.
  const sources = sourceState(root)
  const state = () => sources + resultState(root)
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === state()) return { note: 'up to date' }
  const result = await runCommand(script('build'))
  if (result.code !== 0) return result
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, state())
  return result
}

async function provideBrowser() {
  const path = await ensureBrowser(hands())
  if (path) env.TOLLGATE_BROWSER = path
  return { note: path ?? 'none' }
}

async function providePostgres() {
  const folder = await ensurePostgres(hands())
  if (folder) env.TOLLGATE_POSTGRES = folder
  return { note: folder ?? 'none' }
}

async function provideNewestNode() {
  const path = await ensureNewestNode(hands())
  if (path) env.TOLLGATE_NEWEST_NODE = path
  return { note: path ? 'ready' : 'none' }
}

/** The environments of the tests. They are made one after the other: both wait for the same disk. */
async function providePythons() {
  await providePython('verifier')
  return providePython('client')
}

async function providePython(name) {
  const path = await ensurePython(name, hands())
  return { note: path ? 'ready' : 'none' }
}

/** The functions that a step uses to run commands and to print. */
function hands() {
  return {
    run: async (command) => (await runCommand(command)).code === 0,
    say: (line) => console.log((TERMINAL ? CLEAR : '') + line),
  }
}
