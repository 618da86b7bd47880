// Runs a command for real, as a user without rights and without a network, and returns what it did.
//
// The command sees a scratch directory that it owns, deep enough that no generated path leaves it. It needs Linux, root and strace.

import { spawnSync } from 'node:child_process'
import { chownSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** One thing that a command did. */
export interface Deed {
  readonly kind: 'run' | 'write' | 'delete' | 'connect'
  /** The path of the program or of the file; empty for a connection. */
  readonly path: string
}

/** A scratch directory. */
export interface Scratch {
  readonly root: string
  readonly cwd: string
  readonly home: string
  readonly log: string
}

const NOBODY = 65534
const CALLS =
  'execve,chdir,fchdir,openat,open,creat,unlink,unlinkat,rmdir,rename,renameat,renameat2,link,linkat,symlink,symlinkat,truncate,mkdir,mkdirat,mknod,mknodat,chmod,fchmodat,chown,fchownat,lchown,connect'

/** The files of the scratch directory, by path. */
const FILES: Readonly<Record<string, string>> = {
  'a.txt': 'b\na\nc\n',
  'b.txt': 'one two\nthree\n',
  'c d.txt': 'space\n',
  'data.csv': 'x,1\ny,2\n',
  'sub/e.txt': 'e\n',
  'sub/deep/f.log': 'f\n',
  'x.json': '{"a": 1}\n',
  list: 'a.txt\nb.txt\n',
  '../other/g.txt': 'g\n',
  '../../home/.profile': 'true\n',
}

/** Returns why commands cannot be run here; undefined if they can. */
export function whyNot(): string | undefined {
  if (process.platform !== 'linux') return 'this needs Linux'
  if (process.getuid?.() !== 0) return 'this needs root, to run commands as a user without rights'
  if (!has('strace') && has('apt-get'))
    spawnSync('apt-get', ['install', '-qq', '-y', 'strace'], { timeout: 60_000 })
  const missing = ['strace', 'unshare', 'setpriv', 'prlimit'].find((program) => !has(program))
  if (missing !== undefined) return `the program ${missing} is missing`
  return spawnSync('unshare', [
    '-np',
    '--fork',
    ...LIMITED,
    'setpriv',
    ...AS_NOBODY,
    'strace',
    '-qq',
    '-o',
    '/dev/null',
    'true',
  ]).status === 0
    ? undefined
    : 'the system does not let strace run here'
}

function has(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
}

const LIMITED = ['prlimit', '--nproc=300', '--fsize=20000000', '--cpu=3', 'timeout', '-s', 'KILL', '4']
const AS_NOBODY = ['--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups']

/** Makes the files of a scratch directory anew. */
export function refresh({ root, cwd, home, log }: Scratch): void {
  rmSync(root, { recursive: true, force: true })
  mkdirSync(cwd, { recursive: true })
  mkdirSync(home, { recursive: true })
  mkdirSync(join(cwd, 'empty'))
  const made = new Set([root, join(cwd, 'empty')])
  for (const [name, text] of Object.entries(FILES)) {
    const path = join(cwd, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    made.add(path)
  }
  writeFileSync(log, '')
  for (const path of [...made, log]) {
    for (let at = path; at.startsWith(root) || at === log; at = dirname(at)) chownSync(at, NOBODY, NOBODY)
  }
}

/** Returns a scratch directory below a folder that every user can enter. */
export function scratchIn(folder: string): Scratch {
  const root = join(folder, 'r')
  return {
    root,
    cwd: join(root, '1/2/3/work/proj'),
    home: join(root, '1/2/3/home'),
    log: join(folder, 'log'),
  }
}

/** Runs a command, and returns what it did. */
export function deedsOf(command: string, scratch: Scratch): readonly Deed[] {
  refresh(scratch)
  const traced = ['strace', '-f', '-y', '-qq', '-s', '4096', '-e', `trace=${CALLS}`, '-o', scratch.log]
  // Everything that the command leaves running ends with its first process.
  spawnSync(
    'unshare',
    [
      '-np',
      '--fork',
      '--kill-child=KILL',
      ...LIMITED,
      'setpriv',
      ...AS_NOBODY,
      ...traced,
      'bash',
      '-c',
      command,
    ],
    {
      cwd: scratch.cwd,
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: scratch.home, LC_ALL: 'C', PWD: scratch.cwd },
      input: '',
      timeout: 10_000,
      maxBuffer: 1 << 20,
    },
  )
  return deedsIn(readFileSync(scratch.log, 'latin1'), scratch)
}

const LINE = /^(\d+) +(\w+)\((.*)\) += (-?\d+)(?: (E\w+))?/

/** Returns what a trace says. The first program is the shell of the command itself. */
function deedsIn(trace: string, { cwd }: Scratch): readonly Deed[] {
  const places = new Map<string, string>()
  const pending = new Map<string, string>()
  const deeds: Deed[] = []
  for (const raw of trace.split('\n')) {
    const line = resumed(raw, pending)
    const [, pid = '', call = '', args = '', result = '', fault = ''] = (line && LINE.exec(line)) ?? []
    if (pid === '') continue
    const [, seen] = /AT_FDCWD<([^>]*)>/.exec(args) ?? []
    if (seen !== undefined) places.set(pid, seen)
    const place = places.get(pid) ?? cwd
    const paths = pathsIn(args, place)
    const [, folder] = /^\d+<([^>]*)>$/.exec(args) ?? []
    if (call === 'fchdir' && folder !== undefined) places.set(pid, folder)
    else if (call === 'chdir' && result === '0') places.set(pid, paths[0] ?? place)
    // The file is not there: nothing would have happened anywhere.
    else if (!/^(?:ENOENT|ENOTDIR|EEXIST|EINVAL|ENXIO)$/.test(fault))
      deeds.push(...deedsOfCall(call, args, paths, fault))
  }
  return deeds.slice(1)
}

/** Joins a call that another process interrupted. */
function resumed(line: string, pending: Map<string, string>): string | undefined {
  const [, pid = '', start] = /^(\d+) +(.*) <unfinished \.\.\.>$/.exec(line) ?? []
  if (start !== undefined) {
    pending.set(pid, start)
    return undefined
  }
  const [, again = '', rest] = /^(\d+) +<\.\.\. \w+ resumed>(.*)$/.exec(line) ?? []
  return rest === undefined ? line : `${again} ${pending.get(again) ?? ''}${rest}`
}

/** The paths in the arguments of a call, absolute. */
function pathsIn(args: string, place: string): readonly string[] {
  const found = args.matchAll(/(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"/g)
  return [...found].map(([, folder, text = '']) => {
    const path = unquoted(text)
    return normal(path.startsWith('/') ? path : `${folder ?? place}/${path}`)
  })
}

function unquoted(text: string): string {
  const known: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', v: '\v', f: '\f' }
  const bytes = text.replace(
    /\\(?:([0-7]{1,3})|x([0-9a-f]{2})|(.))/g,
    (_, octal?: string, hex?: string, char?: string) => {
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8))
      return hex === undefined
        ? (known[char ?? ''] ?? char ?? '')
        : String.fromCharCode(Number.parseInt(hex, 16))
    },
  )
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

/** A path without `.` and `..`. The scratch directory has no links. */
export function normal(path: string): string {
  const names: string[] = []
  for (const name of path.split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return `/${names.join('/')}`
}

function deedsOfCall(call: string, args: string, paths: readonly string[], fault: string): readonly Deed[] {
  const [first = '', second = ''] = paths
  switch (call) {
    case 'execve':
      return fault === '' ? [{ kind: 'run', path: first }] : []
    case 'open':
    case 'openat':
      return /O_(?:WRONLY|RDWR|CREAT|TRUNC)/.test(args) && !args.includes('O_TMPFILE')
        ? [{ kind: 'write', path: first }]
        : []
    case 'unlink':
    case 'unlinkat':
    case 'rmdir':
      return [{ kind: 'delete', path: first }]
    case 'rename':
    case 'renameat':
    case 'renameat2':
      return [
        { kind: 'delete', path: first },
        { kind: 'write', path: second },
      ]
    case 'link':
    case 'linkat':
    case 'symlink':
    case 'symlinkat':
      return [{ kind: 'write', path: call.startsWith('sym') ? (paths.at(-1) ?? '') : second }]
    case 'connect':
      return args.includes('AF_INET') ? [{ kind: 'connect', path: '' }] : []
    case 'chdir':
    case 'fchdir':
      return []
    default:
      return [{ kind: 'write', path: first }]
  }
}
