// `find`: it reads directories, and can delete, write and run commands.

import { exactly, exactText, glued, hasHole, type Field } from '../script/field.ts'
import { staying, unknown, type ShellOutcome, type Shell } from '../script/shell.ts'
import { into } from './apply.ts'
import { notePath, noteRead } from './note.ts'
import { filled } from './wrappers.ts'

const NO_VALUE = new Set(
  '-print -print0 -prune -quit -o -or -a -and -not ! ( ) , -true -false -empty -ls -depth -d -daystart -mount -xdev -noleaf -follow -ignore_readdir_race -noignore_readdir_race -nouser -nogroup -readable -writable -executable -warn -nowarn -E -X -s -x -help -version --help --version'.split(
    ' ',
  ),
)
const VALUE = new Set(
  '-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -mtime -atime -ctime -mmin -amin -cmin -newer -anewer -cnewer -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -samefile -lname -ilname -fstype -used -context -printf -Bmin -Btime -flags'.split(
    ' ',
  ),
)
const FILES = new Set(['-fprint', '-fprint0', '-fls'])

/** What `find` finds. */
interface Search {
  readonly starts: readonly Field[]
  /** The places that it finds, as arguments of a command. */
  readonly found: readonly Field[]
}

/** Runs `find`. */
export function runFind(args: readonly Field[], shell: Shell): ShellOutcome {
  const first = args.findIndex(({ text }) => /^(?:-(?![HLPDO])|[(!,]$)/.test(text) || text.startsWith('\0'))
  const given = (first < 0 ? args : args.slice(0, first)).filter(({ text }) => !/^-[HLPDO]/.test(text))
  const starts = given.length === 0 ? [exactly('.')] : given
  const expression = first < 0 ? [] : args.slice(first)
  starts.forEach((field) => noteRead(field, shell))
  const search = { starts, found: foundBy(starts, expression) }
  for (let at = 0; at < expression.length;) at += readTerm(expression.slice(at), search, shell)
  return staying(shell)
}

/** Reads one term. Returns how many arguments it has. */
function readTerm(terms: readonly Field[], search: Search, shell: Shell): number {
  const [term = exactly(''), value] = terms
  const name = exactText(term)
  if (name === undefined) {
    unknown(shell, 'an argument of `find` may be an option')
    return 1
  }
  if (name === '-delete') search.found.forEach((field) => notePath('deletes', field, shell))
  if (/^-(?:exec|ok)(?:dir)?$/.test(name)) return runExec(name, terms, search, shell)
  if (FILES.has(name) || name === '-fprintf') {
    if (value) notePath('writes', value, shell)
    return name === '-fprintf' ? 3 : 2
  }
  if (name === '-files0-from') {
    if (value) noteRead(value, shell)
    unknown(shell, 'the places that `find` searches are in a file')
    return 2
  }
  if (VALUE.has(name) || /^-newer../.test(name)) return 2
  if (!NO_VALUE.has(name) && name !== '-delete' && !/^-O\d$/.test(name))
    unknown(shell, 'an option of `find` is not in the table')
  return 1
}

function runExec(name: string, terms: readonly Field[], { found }: Search, shell: Shell): number {
  const end = terms.findIndex(({ text }, i) => text === ';' || (text === '+' && terms[i - 1]?.text === '{}'))
  const last = end < 0 ? terms.length : end
  // In `-execdir` the path starts with `./` and the directory is any below the start.
  const inner = name.endsWith('dir') ? into(exactly('\0'), shell) : shell
  const command = terms.slice(1, last)
  for (const place of found) {
    const fields = command.map((field) =>
      name.endsWith('dir') ? filled(field, '{}', exactly('\0')) : filled(field, '{}', place),
    )
    shell.run.command(fields, inner)
  }
  return last + 1
}

/** The places: below each start, with the name that the expression asks for. */
function foundBy(starts: readonly Field[], expression: readonly Field[]): readonly Field[] {
  const names = expression.flatMap(({ text }, i) => (text === '-name' ? [expression[i + 1]] : []))
  const isPlain = !expression.some(({ text }) => /^(?:-o|-or|!|-not|,|-iname|-L)$/.test(text))
  const [name] = names
  const isKnown =
    name !== undefined && names.length === 1 && isPlain && !hasHole(name) && !name.text.includes('/')
  const below = expression.some(({ text }) => text === '-mindepth')
  return starts.flatMap((start) => {
    const inside = { text: isKnown ? `/*/${name.text}` : '/*', isPattern: true, isMany: true }
    const isSelf = !isKnown || start.isPattern || hasHole(start) || fits(start.text, name.text)
    const self = !isSelf || below || start.text === '.' ? [] : [start]
    return [...self, glued(start, inside)]
  })
}

/** Returns whether the last name of a path may fit a pattern, by the start and the end of the pattern. */
function fits(path: string, pattern: string): boolean {
  const last = path.replace(/\/+$/, '').split('/').at(-1) ?? ''
  const first = pattern.search(/[*?[\\]/)
  if (first < 0) return last === pattern
  const [end = ''] = /[^*?\]\\]*$/.exec(pattern) ?? []
  return last.startsWith(pattern.slice(0, first)) && last.endsWith(end)
}
