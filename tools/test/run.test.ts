import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

// A tree of its own, with programs that only write down how they were called: `npm ci` makes `node_modules`.
const NPM = '#!/bin/sh\necho "npm $*" >>calls\n[ "$1" != ci ] || mkdir -p node_modules\nexit "${FAIL:-0}"\n'
const OTHER = '#!/bin/sh\necho "$(basename "$0") $*" >>calls\nexit "${FAIL_TSX:-0}"\n'
let tree: string

beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), 'tollgate-run-'))
  cpSync(fileURLToPath(new URL('..', import.meta.url)), join(tree, 'tools'), { recursive: true })
  for (const name of ['evidence', 'gateway']) mkdirSync(join(tree, 'packages', name), { recursive: true })
  writeFileSync(join(tree, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(tree, 'package-lock.json'), '{}')
  writeFileSync(join(tree, 'tsconfig.build.json'), '{ "references": [{ "path": "packages/evidence/src" }] }')
  for (const folder of ['packages/python', 'conformance/second-verifier']) {
    mkdirSync(join(tree, folder), { recursive: true })
    writeFileSync(join(tree, folder, 'requirements.txt'), '')
  }
  // Too old, so that nothing is fetched.
  program('python3', '#!/bin/sh\nexit 1\n')
  for (const name of ['npm', 'node', 'tsx', 'vitest', 'chromium']) program(name, name === 'npm' ? NPM : OTHER)
})
afterEach(() => rmSync(tree, { recursive: true }))

function program(name: string, text: string): void {
  mkdirSync(join(tree, 'programs'), { recursive: true })
  writeFileSync(join(tree, 'programs', name), text)
  chmodSync(join(tree, 'programs', name), 0o755)
}

/** Runs a task in the tree; answers with the exit code, what was said, and what was called. */
function check(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  rmSync(join(tree, 'calls'), { force: true })
  const PATH = [join(tree, 'programs'), '/usr/bin', '/bin'].join(delimiter)
  const ran = spawnSync(process.execPath, [join(tree, 'tools/run.mjs'), ...args], {
    // A newer Node is at hand, so that none is fetched.
    env: { PATH, TOLLGATE_NEWEST_NODE: process.execPath, ...env },
    encoding: 'utf8',
  })
  const calls = join(tree, 'calls')
  const called = existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : []
  return { code: ran.status, stdout: ran.stdout, stderr: ran.stderr, called }
}

const INSTALL = 'npm ci --no-fund --no-audit'

test('an unknown task says which there are', () => {
  const { code, stderr, called } = check(['fly'])
  expect(code).toBe(2)
  expect(stderr).toBe(
    'no task `fly`; the tasks are test, start, conform, bench, replay, sessions, defence, compat, deep\n',
  )
  expect(called).toEqual([])
  expect(check([]).code).toBe(2)
})

const START = [INSTALL, 'npm run -s build', 'node packages/gateway/bin/tollgate.mjs up']

test('start installs, builds, and hands its arguments to the gateway', () => {
  expect(check(['start'])).toMatchObject({ code: 0, called: START })
  expect(check(['start', '--port', '7777']).called).toEqual([`${START[2] ?? ''} --port 7777`])
})

test('start builds again after a change of a source or of a result, and after a build that failed', () => {
  const builds = (env = {}): boolean => check(['start'], env).called.includes('npm run -s build')
  const write = (file: string, text: string): void => {
    mkdirSync(join(tree, file, '..'), { recursive: true })
    writeFileSync(join(tree, file), text)
  }
  expect([builds(), builds()]).toEqual([true, false])
  for (const file of [
    'packages/evidence/src/deep/new.ts',
    'packages/evidence/dist/src/tsconfig.tsbuildinfo',
    'packages/gateway/dist/bundle/tollgate.cjs',
    'tools/bundle.mjs',
  ]) {
    write(file, '// changed')
    expect([builds(), builds()], file).toEqual([true, false])
  }
  rmSync(join(tree, 'packages/evidence/src/deep/new.ts'))
  expect([builds({ FAIL: '3' }), builds(), builds()]).toEqual([true, true, false])
})

test('without a terminal every line of a step is complete', () => {
  const lines = check(['start']).stdout.split('\n')
  expect(
    lines.filter((line) => !/^▸ (?:install|build) … \d+\.\d s$|^▸ gateway …( \d+\.\d s)?$/.test(line)),
  ).toEqual([''])
})

test('it installs once, and again when the lockfile or a manifest changes', () => {
  const installs = (): boolean => check(['start']).called[0] === INSTALL
  expect(installs()).toBe(true)
  expect(installs()).toBe(false)
  writeFileSync(join(tree, 'package-lock.json'), '{ "changed": true }')
  expect(installs()).toBe(true)
  writeFileSync(join(tree, 'packages/evidence/package.json'), '{}')
  expect(installs()).toBe(true)
  expect(installs()).toBe(false)
})

test('an install that fails ends the run and is tried again', () => {
  expect(check(['start'], { FAIL: '7' })).toMatchObject({ code: 7, called: [INSTALL] })
  expect(check(['start']).called).toEqual(START)
})

const CODE_CHECKS = ['npm run -s lint', 'tsx tools/make-docs.ts --check', 'tsx tools/make-vectors.ts --check']
const TEST_CHECKS = [
  'node node_modules/typescript/bin/tsc -p tsconfig.json',
  'npm run -s format:check',
  'npm run -s rooms',
  'npm run -s unused',
]

test('test takes its steps in order, two rows of checks beside each other, and hands its arguments to vitest', () => {
  const { code, called } = check(['test', '--', 'tools/test', '-t', 'rooms'])
  expect(code).toBe(0)
  // Each row keeps its own order.
  const without = (row: readonly string[]): readonly string[] => called.filter((each) => !row.includes(each))
  const [first, last] = [[INSTALL, 'npm run -s build'], 'vitest run tools/test -t rooms']
  expect(without(TEST_CHECKS)).toEqual([...first, ...CODE_CHECKS, last])
  expect(without(CODE_CHECKS)).toEqual([...first, ...TEST_CHECKS, last])
})

test('of two that run beside each other, the one that fails ends the run once the other has ended', () => {
  program('npm', NPM.replace('#!/bin/sh', '#!/bin/sh\ncase "$*" in *lint) echo odd code; exit 4;; esac'))
  const { code, stderr, called } = check(['test'])
  expect(code).toBe(4)
  expect(stderr).toBe('npm run -s lint\nodd code\n')
  expect(called.filter((each) => each.startsWith('vitest'))).toEqual([])
  expect(called).toEqual(expect.arrayContaining(['npm run -s format:check']))
})

test('a step that fails ends the run with its code, and its output is shown', () => {
  program('node', '#!/bin/sh\necho to stdout\necho to stderr >&2\nexit 3\n')
  const { code, stdout, stderr, called } = check(['test'])
  expect(code).toBe(3)
  expect(stdout).toMatch(/▸ lint, .* and beside them types of the tests, .* … failed after \d+\.\d s\n$/)
  expect(stderr).toBe('node node_modules/typescript/bin/tsc -p tsconfig.json\nto stdout\nto stderr\n')
  expect(called).not.toContain('npm run -s format:check')
  expect(called.filter((each) => each.startsWith('vitest'))).toEqual([])
})

test('the output of a quiet step that succeeds is not shown', () => {
  program('node', '#!/bin/sh\necho chatter\n')
  expect(check(['test']).stdout).not.toContain('chatter')
})

test('the browser that was found is passed to the tests', () => {
  program('vitest', '#!/bin/sh\necho "browser: $TOLLGATE_BROWSER"\n')
  expect(check(['test']).stdout).toContain(`browser: ${join(tree, 'programs/chromium')}\n`)
  expect(check(['deep']).stdout).toContain(`browser: ${join(tree, 'programs/chromium')}\n`)
})

test('bench hands its arguments on and its code back', () => {
  const { code, called } = check(['bench', 'verify', '--json'], { FAIL_TSX: '4' })
  expect(code).toBe(4)
  expect(called).toEqual([INSTALL, 'npm run -s build', 'tsx bench/run.ts verify --json'])
})

test('a signal ends the child, and the run with it', () => {
  // The child signals its parent, as a terminal or a supervisor would, and waits to be ended.
  program(
    'vitest',
    '#!/bin/sh\ntrap "echo ended; exit 0" INT\nkill -INT $PPID\nwhile :; do sleep 0.05; done\n',
  )
  const { code, stdout } = check(['test'])
  expect(code).toBe(130)
  expect(stdout).toContain('ended')
})
