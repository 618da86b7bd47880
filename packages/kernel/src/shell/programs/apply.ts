// Notes what the arguments of a program do.

import { after, exactly, exactText, type Field } from '../script/field.ts'
import { fork, unknown, type Shell } from '../script/shell.ts'
import { isHarmlessSetting } from './git-config.ts'
import { nameOf, noteHost, notePath, noteRead, noteRemote, noteUrl, SOME_HOST } from './note.ts'
import type { BoundValue } from './read.ts'
import type { Effect, ValueUse } from './row.ts'
import { runScriptFile, runShellText } from './shells.ts'

/** Programs that print if they write to `-`. Others make a file of this name. */
const STREAMS = /^(?:curl|wget|http|openssl|gpg|pandoc|zstd|ffmpeg|git archive|docker save|docker export)\b/

/** Notes the use of an argument. Returns the shell for the arguments after it. `name` is the program. */
export function applyUse({ use, field, name: option }: BoundValue, name: string, shell: Shell): Shell {
  const { found } = shell
  if (isFileUse(use)) {
    // A single `-` as a value, or where a program reads, is the standard output or input. `rm -` and `cp a -` mean a file.
    const isChange = /^(?:write|delete|edit|move)$/.test(use)
    const isStream = field.text === '-' && (!isChange || (option !== undefined && STREAMS.test(name)))
    if (!isStream) applyFile(use, field, shell)
    return shell
  }
  switch (use) {
    case 'text':
    case 'command':
      return shell
    case 'chdir':
      return into(field, shell)
    case 'script':
      runScriptFile(field, name, shell)
      return shell
    case 'module':
      found.add('runs_other_code', `${name} -m ${nameOf(field)}`)
      return shell
    case 'shell':
      runShellText([field], shell)
      return shell
    case 'code':
      found.add('runs_other_code', name)
      return shell
    case 'host':
      noteHost(field.text, shell)
      return shell
    case 'url':
      noteUrl(field, shell)
      return shell
    case 'install':
      noteInstall(field, name, shell)
      return shell
    case 'push':
      found.add('pushes', nameOf(field))
      return shell
    case 'remote':
      // A name without these characters is a remote of the repository.
      if (/[/:\0]/.test(field.text)) noteUrl(field, shell)
      return shell
    case 'publish':
      found.add('publishes', name)
      return shell
    case 'kill':
      found.add('kills', nameOf(field))
      return shell
    case 'secret':
      found.add('secrets', name)
      return shell
    case 'setting':
      if (!isHarmlessSetting(exactText(field))) unknown(shell, `a setting of \`${name}\` can run code`)
      return shell
  }
}

const FILE_USES = [
  'read',
  'write',
  'delete',
  'edit',
  'move',
  'from',
  'to',
  'data',
  'volume',
  'object',
] as const
type FileValueUse = (typeof FILE_USES)[number]

function isFileUse(use: ValueUse): use is FileValueUse {
  return FILE_USES.some((each) => each === use)
}

function applyFile(use: FileValueUse, field: Field, shell: Shell): void {
  switch (use) {
    case 'read':
      noteRead(field, shell)
      return
    case 'write':
      notePath('writes', field, shell)
      return
    case 'delete':
      notePath('deletes', field, shell)
      return
    case 'edit':
      noteRead(field, shell)
      notePath('writes', field, shell)
      return
    case 'move':
      noteRead(field, shell)
      notePath('deletes', field, shell)
      return
    case 'from':
    case 'to': {
      const local = noteRemote(field, shell)
      if (local) notePath(use === 'from' ? 'reads' : 'writes', local, shell)
      return
    }
    case 'data':
      noteData(field, shell)
      return
    case 'volume':
      noteVolume(field, shell)
      return
    case 'object':
      noteObject(field, shell)
  }
}

/** `@FILE`, `NAME=@FILE` and `NAME=<FILE` send a file; any other text is sent itself. */
function noteData(field: Field, shell: Shell): void {
  const [start] = /^(?:[\w.-]*=?[@<])/.exec(field.text) ?? []
  if (start !== undefined) {
    const path = after(field, start.length)
    noteRead({ ...path, text: path.text.replace(/;.*$/s, '') }, shell)
  } else if (field.text.startsWith('\0')) noteRead(field, shell)
}

/** `COMMIT:PATH` prints a file of a commit. */
function noteObject(field: Field, shell: Shell): void {
  const at = field.text.indexOf(':')
  if (at >= 0 && !/^[:-]|:\/\//.test(field.text)) noteRead(after(field, at + 1), shell)
}

/** `PATH:PATH` gives a container a directory of this machine, which it can change. */
function noteVolume(field: Field, shell: Shell): void {
  const text = field.text.replace(/^type=bind,(?:.*,)?(?:source|src)=/, '')
  const [path = ''] = text.split(/[:,]/)
  if (!/^[/.~\0]/.test(path)) return
  noteRead({ ...field, text: path }, shell)
  if (!/:ro\b|readonly/.test(text)) notePath('writes', { ...field, text: path }, shell)
}

function noteInstall(field: Field, name: string, shell: Shell): void {
  // Without a package, the packages are in a list.
  shell.found.add('installs', field.text === '' ? name : nameOf(field))
  const { text } = field
  if (/^(?:\.{0,2}\/|file:|\.$)/.test(text)) noteRead({ ...field, text: text.replace(/^file:/, '') }, shell)
  else if (/^(?:git\+)?[a-z]+:\/\/|^git@/.test(text)) noteHost(text, shell)
}

/** The shell of a program that changes its directory. */
export function into(field: Field, shell: Shell): Shell {
  const path = exactText(field)
  if (path === undefined) return fork(shell, { cwds: undefined })
  if (path.startsWith('/')) return fork(shell, { cwds: [path] })
  return fork(shell, {
    cwds: shell.cwds?.map((cwd) => (path === '.' || path === '' ? cwd : `${cwd}/${path}`)),
  })
}

/** Notes an effect. `name` is the program. */
export function applyEffect({ name: effect, value }: Effect, name: string, shell: Shell): void {
  const { found } = shell
  const field = exactly(value ?? '.')
  switch (effect) {
    case 'background':
    case 'privileged':
      found.set(effect)
      return
    case 'code':
      found.add('runs_other_code', name)
      return
    case 'host':
      noteHost(value ?? SOME_HOST, shell)
      return
    case 'install':
      found.add('installs', value ?? name)
      return
    case 'publish':
      found.add('publishes', name)
      return
    case 'push':
      found.add('pushes', value ?? '*')
      return
    case 'kill':
      found.add('kills', value ?? '*')
      return
    case 'secret':
      found.add('secrets', value ?? name)
      return
    case 'read':
    case 'write':
    case 'delete':
    case 'edit':
      applyFile(effect, value?.startsWith('~') === true ? atHome(value, shell) : field, shell)
      return
    case 'unknown':
      unknown(shell, `\`${name}\` ${(value ?? '').replaceAll('_', ' ')}`)
      return
    case 'stop':
      return
    default:
      throw new TypeError(`the table has an unknown effect \`${effect}\``)
  }
}

function atHome(value: string, { home }: Shell): Field {
  return exactly(home === undefined ? value : home + value.slice(1))
}
