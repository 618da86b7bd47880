// Where the calls of a case act: directories and links that exist only in the case.

import type { Kernel, ToolCall } from '@tollgate/kernel'
import { pathsNamed, type CallPlace } from '@tollgate/kernel/detection'
import type { Place, Reader } from '@tollgate/kernel/policy'

/** The files of a case. Every path is real, except for the links. */
export interface CaseFiles {
  readonly cwd: string
  readonly project: string
  readonly home: string
  /** Directories and files of the gateway. */
  readonly gate: readonly string[]
  /** The target of each link, by its path. */
  readonly links: ReadonlyMap<string, string>
}

const FIELDS = ['cwd', 'project', 'home', 'gate', 'links'] as const

/** Reads `files` of a call or of `defaults`. */
export function readFiles(reader: Reader, place: Place): CaseFiles | undefined {
  const fields = reader.fields(place, FIELDS)
  if (!fields) return undefined
  const { cwd, project, home, gate, links } = fields
  const path = (at: Place, what: string): string => plainPath(reader, at, reader.text(at, what) ?? '/', what)
  const inProject = project ? path(project, '`project`') : '/project'
  return {
    project: inProject,
    cwd: cwd ? path(cwd, '`cwd`') : inProject,
    home: home ? path(home, '`home`') : '/home/user',
    gate: gate
      ? reader.texts(gate, 'a path').map((each) => plainPath(reader, each.place, each.text, 'a path'))
      : [],
    links: new Map(
      (links ? reader.entries(links, '`links`') : []).map(({ name, value }) => [
        name,
        path(value, 'the target of a link'),
      ]),
    ),
  }
}

function plainPath(reader: Reader, at: Place, text: string, what: string): string {
  if (text.startsWith('/') && text === normal(text)) return text
  reader.note(at, `${what} must be an absolute path without \`..\`; write for example \`/home/dev/project\``)
  return '/'
}

/** The place of a call, as a door of the same machine finds it. */
export function placeIn(kernel: Kernel, call: ToolCall, files: CaseFiles): CallPlace {
  const { links, ...directories } = files
  const named = pathsNamed(kernel, { ...call, place: directories })
  return { ...directories, paths: Object.fromEntries(named.map((path) => [path, realPath(path, links)])) }
}

const MAX_LINKS = 40

/** Follows the links of the case, name by name, as a disk does; null in a loop of links. */
function realPath(path: string, links: CaseFiles['links']): string | null {
  const rest = path.split('/')
  let real = ''
  let followed = 0
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    if (name === '..') real = real.slice(0, Math.max(0, real.lastIndexOf('/')))
    if (name === '' || name === '.' || name === '..') continue
    const target = links.get(`${real}/${name}`)
    if (target === undefined) real = `${real}/${name}`
    else {
      if (++followed > MAX_LINKS) return null
      rest.unshift(...target.split('/'))
      real = ''
    }
  }
  return real === '' ? '/' : real
}

function normal(path: string): string | null {
  return realPath(path, new Map())
}
