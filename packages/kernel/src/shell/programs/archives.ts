// `tar`, `dd` and `rsync`: the meaning of an argument depends on other arguments.

import { after, exactly, exactText, hasHole, type Field } from '../script/field.ts'
import { fork, staying, unknown, type ShellOutcome, type Shell } from '../script/shell.ts'
import { into } from './apply.ts'
import { notePath, noteRead, noteRemote } from './note.ts'
import { readArguments } from './read.ts'
import { programOf } from './row.ts'

const TAR = programOf({
  options:
    '-f,--file=text -C,--directory,--cd=text -T,--files-from,-X,--exclude-from=text -g,--listed-incremental=write --exclude,--transform,--xform,-s,--strip-components,--owner,--group,--mode,--mtime,-b,--blocking-factor,-H,--format,-V,--label,--pax-option,--sort,--suffix,-N,--newer,--warning,--quoting-style,--hole-detection,-L,-K=text -I,--use-compress-program,--checkpoint-action,--to-command,-F,--info-script,--new-volume-script,--rsh-command,--rmt-command=shell --checkpoint? -c,--create -x,--extract,--get -t,--list -r,--append -u,--update -A,--catenate,--concatenate --delete -d,--diff,--compare -z,--gzip,-j,--bzip2,-J,--xz,--zstd,--lzma,-a,--auto-compress,-Z,--lzip,--lzop,--compress -v,--verbose -p,--preserve-permissions,--same-permissions,-o,--same-owner,--no-same-owner,--no-same-permissions,-k,--keep-old-files,--overwrite,-m,--touch,-O,--to-stdout,-h,--dereference,-P,--absolute-names,-w,-W,-S,--sparse,-n,-l,-B,-i,-U,--no-recursion,--recursion,--null,--wildcards,--no-wildcards,--anchored,--keep-newer-files,--skip-old-files,--one-file-system,--numeric-owner,--exclude-vcs,--exclude-caches,--totals,--xattrs,--acls,--no-xattrs,--no-acls,--delay-directory-restore,--remove-files,--force-local,--no-auto-compress,--exclude-vcs-ignores --version,--help!stop',
  args: 'text*',
})

/** `tar`. The first argument can be options without `-`. */
export function runTar([first, ...others]: readonly Field[], shell: Shell): ShellOutcome {
  if (!first) return staying(shell)
  const isOld = /^[a-zA-Z]+$/.test(first.text) && exactText(first) !== undefined
  const args = isOld ? oldStyle(first.text, others) : [first, ...others]
  const { bound, given, effects, problems } = readArguments(TAR, args, 'tar')
  problems.forEach((why) => unknown(shell, why))
  if (effects.length > 0) return staying(shell)
  const has = (names: string): boolean => names.split(' ').some((name) => given.has(name))
  const named = (names: string): readonly Field[] =>
    bound
      .filter(({ name }) => name !== undefined && names.split(' ').includes(name))
      .map(({ field }) => field)
  const files = bound
    .filter(({ name, use }) => name === undefined && use === 'text')
    .map(({ field }) => field)
  const inner = named('-C --directory --cd').reduce((at, field) => into(field, at), fork(shell))
  const archives = named('-f --file')
  for (const { use, field } of bound) {
    if (use === 'shell') readProgram(field, shell)
    if (use === 'write') notePath('writes', field, shell)
  }
  named('-X --exclude-from').forEach((field) => noteRead(field, shell))
  for (const field of named('-T --files-from')) {
    noteRead(field, shell)
    if (has('-c --create -r --append -u --update')) notePath('reads', exactly('\0'), shell)
  }
  if (has('-c --create -r --append -u --update -A --catenate --concatenate --delete')) {
    archives.forEach((field) => noteArchive('writes', field, shell))
    files.forEach((field) => noteRead(field, inner))
    if (has('--remove-files')) files.forEach((field) => notePath('deletes', field, inner))
  } else archives.forEach((field) => noteArchive('reads', field, shell))
  if (has('-x --extract --get') && !has('-O --to-stdout')) {
    notePath('writes', exactly('.'), inner)
    if (has('-P --absolute-names')) notePath('writes', exactly('\0'), inner)
  }
  return staying(shell)
}

/** `tar xzf FILE`: each letter that takes a value takes the next argument. */
function oldStyle(letters: string, others: readonly Field[]): readonly Field[] {
  const rest = [...others]
  const options = Array.from(letters).flatMap((letter) => {
    const takes = TAR.options.get(`-${letter}`)?.use !== undefined
    const value = takes ? rest.shift() : undefined
    return [exactly(`-${letter}`), ...(value ? [value] : [])]
  })
  return [...options, ...rest]
}

function noteArchive(use: 'reads' | 'writes', field: Field, shell: Shell): void {
  if (field.text === '-') return
  const local = noteRemote(field, shell)
  if (local) notePath(use, local, shell)
}

const COMPRESSION = /^(?:gzip|pigz|bzip2|pbzip2|xz|zstd|lz4|lzma)(?: -[\w-]+)*$/

function readProgram(field: Field, shell: Shell): void {
  const text = exactText(field)
  if (text !== undefined && COMPRESSION.test(text)) return
  if (text !== undefined && /^(?:dot|echo|ttyout|totals|sleep|bell)/.test(text)) return
  shell.found.add('runs_other_code', 'tar')
  if (text === undefined) unknown(shell, 'code that is not known before it runs')
  else shell.run.text(text.replace(/^exec=/, ''), fork(shell, { vars: new Map() }))
}

/** `dd if=FILE of=FILE`. */
export function runDd(args: readonly Field[], shell: Shell): ShellOutcome {
  for (const field of args) {
    const [, name = ''] = /^(\w+)=/.exec(field.text) ?? []
    if (name === 'if') noteRead(after(field, 3), shell)
    else if (name === 'of') notePath('writes', after(field, 3), shell)
    else if (name === '' && hasHole(field)) notePath('writes', field, shell)
  }
  return staying(shell)
}

/** Notes the deletions of `rsync --delete` and `--remove-source-files`. */
export function noteSyncDeletes(args: readonly Field[], files: readonly Field[], shell: Shell): void {
  const deletes = args.some(({ text }) => text.startsWith('--del'))
  const moves = args.some(({ text }) => text.startsWith('--remove-s'))
  const last = files.at(-1)
  if (deletes && last && isLocal(last)) notePath('deletes', last, shell)
  if (moves)
    files
      .slice(0, -1)
      .filter(isLocal)
      .forEach((field) => notePath('deletes', field, shell))
}

function isLocal({ text }: Field): boolean {
  return !/^[^/]*:/.test(text)
}
