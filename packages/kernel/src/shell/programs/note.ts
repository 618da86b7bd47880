// Notes the meaning of an argument of a program: a file, a host, a process.

import type { FileUse, NamedPath } from '../facts.ts'
import { exactText, hasHole, HOLE, shown, type Field } from '../script/field.ts'
import type { Shell } from '../script/shell.ts'

/** A host that the command does not name. */
export const SOME_HOST = '*'

/** Files that keep nothing and contain nothing. */
const DEVICE = /^\/dev\/(?:null|zero|full|random|urandom|tty|stdin|stdout|stderr|fd\/\d+)$/

/** Notes a file. */
export function notePath(use: FileUse, field: Field, shell: Shell): void {
  if (DEVICE.test(field.text)) return
  for (const path of pathsOf(use, field, shell)) shell.found.addPath(path)
}

/** Notes a file that is read. */
export function noteRead(field: Field, shell: Shell): void {
  notePath('reads', field, shell)
}

function pathsOf(use: FileUse, field: Field, { cwds }: Shell): readonly NamedPath[] {
  const path = shown(field).replace(/\/{2,}/g, '/')
  if (field.text === '') return []
  if (hasHole(field) || leadsUp(field)) return [{ use, path, kind: 'unknown' }]
  const kind = field.isPattern ? 'pattern' : 'exact'
  if (path.startsWith('/')) return [{ use, path, kind }]
  if (!cwds) return [{ use, path, kind: 'unknown' }]
  return cwds.map((cwd) => ({ use, path: path === '.' ? cwd : `${cwd === '/' ? '' : cwd}/${path}`, kind }))
}

/** Returns whether a pattern can match `..`, as `.*` does in older shells. */
function leadsUp({ text, isPattern }: Field): boolean {
  return (
    isPattern && text.split('/').some((name) => /^\.{1,2}[*?[]/.test(name) && /^\.{1,2}[*?[\].]*$/.test(name))
  )
}

/** Notes a path of bash that is a connection, such as `/dev/tcp/HOST/PORT`, and returns whether it is one. */
export function noteHostPath(field: Field, shell: Shell): boolean {
  if (!/^\/dev\/(?:tcp|udp)(?:\/|$)/.test(field.text) && !(field.text.startsWith('/dev/') && hasHole(field)))
    return false
  noteHost(/^\/dev\/(?:tcp|udp)\/([^/]+)/.exec(field.text)?.[1] ?? HOLE, shell)
  return true
}

/** Notes a host, by its name, address or URL. */
export function noteHost(text: string, { found }: Shell): void {
  found.add('hosts', hostIn(text) ?? SOME_HOST)
}

/** Returns the host in a URL, `user@host:path` or `host:port`; undefined if it is not known. */
function hostIn(text: string): string | undefined {
  const rest = text.replace(/^[a-z][a-z\d+.-]*:\/\//i, '')
  const authority = /^[^/?#\\]*/.exec(rest)?.[0] ?? ''
  const name = authority.slice(authority.lastIndexOf('@') + 1).toLowerCase()
  const host = name.startsWith('[') ? /^\[[^\]]*\]/.exec(name)?.[0] : name.replace(/:.*$/, '')
  // A hole before the end of the host can be any host, and one after `:` is only a port.
  return host === undefined || host === '' || !/^[\w.[\]:-]+$/.test(host)
    ? undefined
    : host.replace(/\.$/, '')
}

/** Notes an argument that is a URL or a local path, as those of `curl`, `git clone` and `pip install`. */
export function noteUrl(field: Field, shell: Shell): void {
  const { text } = field
  if (/^file:/i.test(text)) noteRead({ ...field, text: text.replace(/^file:(?:\/\/[^/]*)?/i, '') }, shell)
  else noteHost(text.split('/').length > 2 || !hasHole(field) ? text : HOLE, shell)
}

/** The two ends of a copy between machines. Returns the local path of `HOST:PATH` or `PATH`; undefined if it is on a host. */
export function noteRemote(field: Field, shell: Shell): Field | undefined {
  const { text } = field
  const colon = text.indexOf(':')
  const slash = text.indexOf('/')
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(text) || (colon > 0 && (slash < 0 || colon < slash))) {
    noteHost(text.includes('://') ? text : text.slice(0, colon), shell)
    return undefined
  }
  if (hasHole(field) && !/^[./]/.test(text)) shell.found.add('hosts', SOME_HOST)
  return field
}

/** Returns the text of an argument for a list of facts. */
export function nameOf(field: Field): string {
  return exactText(field) ?? (hasHole(field) ? '*' : shown(field))
}
