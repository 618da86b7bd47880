// Compares what a command did with its facts.

import { lstatSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { CommandFacts, NamedPath } from '../../../src/shell/facts.ts'
import { normal, type Deed, type Scratch } from './trace.ts'

/** Programs that a program of the table runs itself, to do what its facts say. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  tar: ['gzip', 'bzip2', 'xz', 'zstd', 'lzma', 'lzip', 'lzop', 'compress', 'sh', 'dash'],
  git: [
    'git',
    'sh',
    'dash',
    'less',
    'pager',
    'cat',
    'sed',
    'basename',
    'uname',
    'gettext',
    'envsubst',
    'expr',
    'grep',
    'tr',
    'git-sh-i18n--envsubst',
    'rm',
    'man',
  ],
  gunzip: ['gzip', 'sh', 'dash'],
  zcat: ['gzip', 'sh', 'dash'],
  zgrep: ['grep', 'sed', 'gzip', 'sh', 'dash', 'expr', 'rm', 'bash', 'gunzip', 'zcat', 'cat'],
  bzcat: ['bzip2'],
  bunzip2: ['bzip2'],
  xzcat: ['xz'],
  unxz: ['xz'],
  egrep: ['grep', 'sh', 'dash'],
  fgrep: ['grep', 'sh', 'dash'],
  ldd: ['bash', 'cat', 'ld-linux-x86-64.so.2'],
  which: ['sh', 'dash'],
  sdiff: ['diff'],
  diff3: ['diff'],
  zdiff: ['diff'],
  zless: ['sh', 'dash', 'less', 'gzip'],
  uncompress: ['gzip'],
  awk: ['mawk'],
  scp: ['cp', 'ssh'],
  ctags: ['sh', 'dash', 'sort'],
}

/** Returns what a command did that its facts do not say. Facts with a gap promise nothing about programs. */
export function missingIn(facts: CommandFacts, deeds: readonly Deed[], scratch: Scratch): readonly string[] {
  if (facts.unknown.length + facts.unknown_programs.length + facts.runs_other_code.length > 0) return []
  const made = new Set(deeds.filter(({ kind }) => kind === 'write').map(({ path }) => path))
  return [
    ...new Set(
      deeds.filter((deed) => !isSaid(deed, facts, made, scratch)).map(({ kind, path }) => `${kind} ${path}`),
    ),
  ]
}

function isSaid(
  { kind, path }: Deed,
  facts: CommandFacts,
  made: ReadonlySet<string>,
  scratch: Scratch,
): boolean {
  switch (kind) {
    case 'run':
      return isProgram(basename(path), facts)
    case 'connect':
      return facts.hosts.length > 0
    case 'write':
      return (
        isIgnored(path) ||
        isTemporary(path, made, scratch) ||
        isBeside(path, facts) ||
        covers(facts, ['writes'], path)
      )
    case 'delete':
      return (
        isIgnored(path) ||
        isTemporary(path, made, scratch) ||
        isBeside(path, facts) ||
        covers(facts, ['deletes'], path) ||
        // A program that writes a file may delete the old one first.
        (covers(facts, ['writes'], path) && isThere(path))
      )
  }
}

function isProgram(name: string, { programs }: CommandFacts): boolean {
  const names = programs.map((each) => basename(each.split(' ')[0] ?? ''))
  return names.includes(name) || names.some((each) => PARTS[each]?.includes(name) === true)
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

/** Devices, and the files in which bash keeps here-documents. */
function isIgnored(path: string): boolean {
  return /^\/dev\/|^\/proc\/|^\/tmp\/(?:sh-thd|sort|vi\.)|^\/usr\/|^\/lib|^\/tmp\/[^/]*\.tmp/.test(path)
}

/** A file that the command made itself, and that is gone at the end. */
function isTemporary(path: string, made: ReadonlySet<string>, { root }: Scratch): boolean {
  return (
    (path.startsWith(root) || path.startsWith('/tmp/')) &&
    made.has(path) &&
    !isThere(path) &&
    !ORIGINAL.has(basename(path))
  )
}

const ORIGINAL = new Set([
  'a.txt',
  'b.txt',
  'c d.txt',
  'data.csv',
  'e.txt',
  'f.log',
  'x.json',
  'list',
  'g.txt',
  '.profile',
  'sub',
  'deep',
  'empty',
])

function covers(
  { paths }: CommandFacts,
  uses: readonly NamedPath['use'][],
  path: string,
  isFolder = false,
): boolean {
  const at = (each: NamedPath): NamedPath => (isFolder ? { ...each, path: dirname(normal(each.path)) } : each)
  return paths.some((each) => uses.includes(each.use) && isAt(at(each), path))
}

function isAt({ path, kind }: NamedPath, at: string): boolean {
  if (kind === 'unknown') return true
  const named = normal(path)
  if (kind === 'exact') return at === named || named === '/' || at.startsWith(`${named}/`) || isNew(named, at)
  return matches(named.split('/'), at.split('/'))
}

/** `mkdir -p a/b` makes `a` too. */
function isNew(named: string, at: string): boolean {
  return named.startsWith(`${at}/`)
}

/** Some programs write a new file beside the old one, and rename it. */
function isBeside(path: string, facts: CommandFacts): boolean {
  const isRandom = /^(?:sed|st|zi|[.]?)[\w]{6,8}$/.test(basename(path)) && !isThere(path)
  return isRandom && covers(facts, ['writes'], dirname(path), true)
}

function matches(names: readonly string[], at: readonly string[]): boolean {
  const open = names.findIndex((name) => /[*?[]/.test(name))
  return names.slice(0, open).every((name, i) => at[i] === name) && at.length >= open
}
