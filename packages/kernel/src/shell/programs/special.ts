// Programs of the table whose arguments need more than the table can say.

import { exactly, exactText, hasHole, type Field } from '../script/field.ts'
import type { Shell } from '../script/shell.ts'
import { noteSyncDeletes } from './archives.ts'
import { isPlainAwk, noteSed } from './filters.ts'
import { noteHost, notePath } from './note.ts'
import type { Bound, Reading } from './read.ts'

/** Notes more of a program than its row says. `args` are all of its arguments. */
type Addition = (args: readonly Field[], reading: Reading, shell: Shell) => void

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
  rsync: (args, { bound }, shell) => noteSyncDeletes(args, filesIn(bound), shell),
  sed: (_, { bound, given }, shell) => {
    for (const { use, field, name } of bound)
      if (use === 'text' && (name === undefined || /^(?:-e|--expression)$/.test(name))) noteSed(field, shell)
    if (given.has('-f') || given.has('--file')) shell.found.add('runs_other_code', 'sed')
  },
  awk: (_, { bound, given }, shell) => {
    const code = bound.find(({ use, name }) => use === 'text' && name === undefined)
    if (given.has('-f') || given.has('--file') || (code && !isPlainAwk(code.field)))
      shell.found.add('runs_other_code', 'awk')
  },
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
  dig: (args, _, shell) =>
    args.filter(({ text }) => text.startsWith('@')).forEach(({ text }) => noteHost(text.slice(1), shell)),
  gzip: (args, { bound }, shell) => removesSource(args, bound, shell),
  gunzip: (args, { bound }, shell) => removesSource(args, bound, shell),
  bzip2: (args, { bound }, shell) => removesSource(args, bound, shell),
  bunzip2: (args, { bound }, shell) => removesSource(args, bound, shell),
  xz: (args, { bound }, shell) => removesSource(args, bound, shell),
  unxz: (args, { bound }, shell) => removesSource(args, bound, shell),
}

function filesIn(bound: readonly Bound[]): readonly Field[] {
  return bound
    .filter(({ name, use }) => name === undefined && /^(?:from|to)$/.test(use))
    .map(({ field }) => field)
}

/** A compression replaces a file by one with another name. */
function removesSource(args: readonly Field[], bound: readonly Bound[], shell: Shell): void {
  if (args.some(({ text }) => /^(?:-[a-z0-9]*[kclt][a-z0-9]*|--keep|--stdout|--list|--test)$/.test(text)))
    return
  for (const { use, field } of bound) {
    if (use !== 'edit') continue
    notePath('deletes', field, shell)
    const text = exactText(field)
    if (text === undefined || hasHole(field)) continue
    for (const end of ['.gz', '.bz2', '.xz'])
      notePath('writes', exactly(text.endsWith(end) ? text.slice(0, -end.length) : text + end), shell)
  }
}
