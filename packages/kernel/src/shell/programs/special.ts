// Programs of the table whose arguments need more than the table can say.

import { exactly, exactText, glued, type Field } from '../script/field.ts'
import type { Shell } from '../script/shell.ts'
import { noteSyncDeletes } from './archives.ts'
import { isPlainAwk, noteSed } from './filters.ts'
import { noteHost, notePath, noteRead } from './note.ts'
import type { BoundValue, ArgumentReading } from './read.ts'

/** Notes more of a program than its row says. `args` are all of its arguments. */
type Addition = (args: readonly Field[], reading: ArgumentReading, shell: Shell) => void

/** The additions by program. */
export const ADDITIONS: Readonly<Record<string, Addition>> = {
  'git config': (args, { bound }, shell) => {
    const words = bound
      .filter(({ name, use }) => name === undefined && use === 'text')
      .map(({ field }) => field.text)
    const isQuery = args.some(({ text }) => /^(?:--get.*|-l|--list|--show-.*|get|list)$/.test(text))
    if (
      isQuery ||
      (words.length < 2 && !args.some(({ text }) => /^--(?:unset|add|replace|rename|remove|edit)/.test(text)))
    )
      return
    if (args.some(({ text }) => text === '--global'))
      notePath('writes', exactly(`${shell.home ?? '\0'}/.gitconfig`), shell)
    else if (args.some(({ text }) => text === '--system'))
      notePath('writes', exactly('/etc/gitconfig'), shell)
    else notePath('writes', exactly('.git/config'), shell)
  },
  'git submodule foreach': (_, { bound }, shell) => {
    if (bound.length > 1) shell.found.add('unknown', 'code that is not known before it runs')
  },
  'git diff': readsOutside,
  'git grep': readsOutside,
  'git push': (_, { bound }, shell) => {
    // A path instead of a remote is another repository on this machine.
    for (const { use, field } of bound)
      if (use === 'push' && /^[./~]/.test(field.text)) notePath('writes', field, shell)
  },
  'npm audit': (args, _, shell) => {
    if (args.some(({ text }) => text === 'fix')) {
      shell.found.add('installs', 'npm audit')
      shell.found.add('runs_other_code', 'npm audit')
    }
  },
  yarn: (_, { rest }, shell) => {
    if (rest.length === 0) shell.run.command([exactly('yarn'), exactly('install')], shell)
  },
  less: runsOnStart,
  more: runsOnStart,
  rsync: (args, { bound }, shell) => noteSyncDeletes(args, filesIn(bound), shell),
  sed: (_, reading, shell) => {
    for (const { use, field, name } of reading.bound) {
      const isScript = name === undefined || /^(?:-e|--expression)$/.test(name)
      if (use === 'text' && isScript) noteSed(field, shell)
      if (use === 'text' && /^(?:-i|--in-place)$/.test(name ?? '')) noteBackups(field, reading, shell)
    }
    if (reading.given.has('-f') || reading.given.has('--file')) shell.found.add('runs_other_code', 'sed')
  },
  ...Object.fromEntries(['cp', 'mv', 'ln', 'install'].map((name) => [name, noteOld])),
  patch: (_, { given }, shell) => {
    // A patch can be a script of `ed`, unless the command says that it is not one.
    const isDiff = ['-u', '--unified', '-c', '--context', '-n', '--normal'].some((name) => given.has(name))
    if (!isDiff) shell.found.add('runs_other_code', 'patch')
  },
  awk: (_, { bound, given }, shell) => {
    const code = bound.find(({ use, name }) => use === 'text' && name === undefined)
    if (given.has('-f') || given.has('--file') || (code && !isPlainAwk(code.field)))
      shell.found.add('runs_other_code', 'awk')
  },
  ...Object.fromEntries(['python', 'python2', 'python3'].map((name) => [name, runModule])),
  ...Object.fromEntries(
    [
      'aws',
      'gcloud',
      'gsutil',
      'az',
      'doctl',
      'rclone',
      's3cmd',
      'bq',
      'oci',
      'hcloud',
      'eksctl',
      'ibmcloud',
      'linode-cli',
    ].map((name) => [name, cloud(name)]),
  ),
  fd: (args, _, shell) => {
    const at = args.findIndex(({ text }) => /^(?:-[xX]|--exec(?:-batch)?)$/.test(text))
    if (at < 0) return
    const fields = args
      .slice(at + 1)
      .map((field) => (field.text.includes('{') ? { ...field, text: '\0' } : field))
    shell.run.command([...fields, { text: '\0', isPattern: false, isMany: true }], shell)
  },
  openssl: (args, _, shell) => {
    const at = args.findIndex(({ text }) => text === '-connect' || text === '-host')
    if (at >= 0) noteHost(args[at + 1]?.text ?? '', shell)
  },
  nc: connects,
  ncat: connects,
  netcat: connects,
  dig: (args, _, shell) =>
    args.filter(({ text }) => text.startsWith('@')).forEach(({ text }) => noteHost(text.slice(1), shell)),
  gzip: compresses('.gz'),
  gunzip: compresses('.gz', true),
  bzip2: compresses('.bz2'),
  bunzip2: compresses('.bz2', true),
  xz: compresses('.xz'),
  unxz: compresses('.xz', true),
  zstd: compresses('.zst'),
  unzstd: compresses('.zst', true),
  zip: namesArchive,
}

/** `python -m pip` is `pip`. */
function runModule(args: readonly Field[], _: ArgumentReading, shell: Shell): void {
  const at = args.findIndex(({ text }) => text === '-m')
  if (at >= 0 && args[at + 1]?.text === 'pip')
    shell.run.command([exactly('pip'), ...args.slice(at + 2)], shell)
}

/** `+COMMAND` is a command of the pager, which can run programs. */
function runsOnStart(args: readonly Field[], _: ArgumentReading, shell: Shell): void {
  if (args.some(({ text }) => text.startsWith('+'))) shell.found.add('runs_other_code', 'less')
}

/** `sed -i.bak` keeps each file under another name. In the suffix, `*` is the name of the file. */
function noteBackups(suffix: Field, { bound }: ArgumentReading, shell: Shell): void {
  const files = bound.filter(({ use, name }) => use === 'read' && name === undefined)
  for (const { field } of files) {
    const isPlain = !/[*/]/.test(suffix.text)
    notePath('writes', isPlain ? glued(field, suffix) : { ...suffix, text: '\0' }, shell)
  }
}

/** `cp -b` and the like keep the old file under another name. */
function noteOld(_: readonly Field[], { bound, given }: ArgumentReading, shell: Shell): void {
  if (!['-b', '--backup', '-S', '--suffix'].some((name) => given.has(name))) return
  for (const { use, field } of bound) {
    if (use === 'write') notePath('writes', { ...field, text: `${field.text}*`, isPattern: true }, shell)
  }
}

/** Outside of a repository, the arguments are any files. */
function readsOutside(args: readonly Field[], { bound }: ArgumentReading, shell: Shell): void {
  if (!args.some(({ text }) => text.startsWith('--no-i'))) return
  for (const { use, field } of bound) if (use === 'object') noteRead(field, shell)
}

/** A listener waits for others, and names no host. */
function connects(_: readonly Field[], { bound, given }: ArgumentReading, shell: Shell): void {
  const host = bound.find(({ name, use }) => name === undefined && use === 'text')
  if (host && !given.has('-l') && !given.has('--listen')) noteHost(host.field.text, shell)
}

const CLOUD_READS =
  /^(?:(?:describe|list|get|head|batch-get|search|lookup|filter|scan|query|validate|estimate|simulate|tail|wait)(?:-.*)?|ls|lsd|lsl|size|du|stat|cat|show|info|help|version|check|about|tree)$/
const CLOUD_SECRETS =
  /secret|decrypt|password|access-key|session-token|access-token|identity-token|login|get-parameter|credential|configure|\bkeys?\b|auth/
const CLOUD_COPIES = /^(?:cp|copy|copyto|mv|move|moveto|sync|rsync)$/

/** The client of a cloud: its verb says whether it only reads. */
function cloud(name: string): Addition {
  return (_, { bound }, shell) => {
    const words = bound
      .filter(({ name: option, use }) => option === undefined && use === 'text')
      .map(({ field }) => field)
    if (words.some(({ text }) => CLOUD_SECRETS.test(text))) shell.found.add('secrets', name)
    const at = words.findIndex(({ text }) => CLOUD_COPIES.test(text))
    if (at >= 0) {
      const files = words.slice(at + 1)
      files
        .slice(0, -1)
        .filter(isLocalFile)
        .forEach((field) => noteRead(field, shell))
      if (words[at]?.text.startsWith('m') === true)
        files
          .slice(0, -1)
          .filter(isLocalFile)
          .forEach((field) => notePath('deletes', field, shell))
      files
        .slice(-1)
        .filter(isLocalFile)
        .forEach((field) => notePath('writes', field, shell))
    }
    if (!words.some(({ text }) => CLOUD_READS.test(text))) shell.found.add('publishes', name)
  }
}

/** `s3://bucket/x` and `remote:x` are on a host. */
function isLocalFile({ text }: Field): boolean {
  return !/^[\w.-]+:/.test(text)
}

function filesIn(bound: readonly BoundValue[]): readonly Field[] {
  return bound
    .filter(({ name, use }) => name === undefined && /^(?:from|to)$/.test(use))
    .map(({ field }) => field)
}

/** A compression makes a file with another name, and mostly removes the first. */
function compresses(end: string, isBack = false): Addition {
  return (args, { bound, given }, shell) => {
    if (
      args.some(({ text }) => /^(?:-[a-z0-9]*[clt][a-z0-9]*|--stdout|--to-stdout|--list|--test)$/.test(text))
    )
      return
    const isKept = args.some(({ text }) => /^(?:-[a-z0-9]*k[a-z0-9]*|--keep)$/.test(text))
    const opens =
      isBack || args.some(({ text }) => /^(?:-[a-z0-9]*d[a-z0-9]*|--(?:un|de)compress)$/.test(text))
    const isNamed = ['-S', '--suffix', '-F', '--format'].some((name) => given.has(name))
    for (const { use, field } of bound) {
      if (use !== 'edit' && use !== 'read') continue
      if (!isKept) notePath('deletes', field, shell)
      notePath('writes', renamed(field, end, opens, isNamed), shell)
    }
  }
}

/** The name of the file that a compression makes. */
function renamed(field: Field, end: string, opens: boolean, isNamed: boolean): Field {
  const text = exactText(field)
  if (text === undefined) return field
  if (!opens && !isNamed) return exactly(text + end)
  // `a.tgz` becomes `a.tar`.
  return { text: `${opens ? text.replace(/\.\w+$/, '') : text}*`, isPattern: true, isMany: true }
}

/** `zip` adds `.zip` to a name without an ending. */
function namesArchive(_: readonly Field[], { bound }: ArgumentReading, shell: Shell): void {
  const archive = bound.find(({ use, name }) => use === 'write' && name === undefined)
  if (archive && !/\.\w+$/.test(archive.field.text))
    notePath('writes', { ...archive.field, text: `${archive.field.text}.zip` }, shell)
}
