// Generalises paths and URLs: texts in a common directory allow what is below it. Never the root or a whole home directory,
// and nothing that can leave the directory: only names of observed characters may follow.

import { isWithinBase } from '@tollgate/kernel/policy'
import { wordsOf } from '../../tools/effect-words.ts'
import { allOf, anyOf, celList, celText } from './cel.ts'
import { fewOf, seenOf } from './exact.ts'
import {
  add,
  extremes,
  lengthOf,
  roundedUp,
  type Manner,
  type ValueNote,
  type ValuePlace,
  type LearnedShape,
} from './observed.ts'

/** A parsed path or URL. */
interface SplitPath {
  readonly text: string
  /** The part before the first directory: empty, `/`, `./`, `~/`, or scheme and host. */
  readonly root: string
  readonly folders: readonly string[]
  readonly name: string
  readonly query: string
}

/** Texts in a common directory. */
interface FolderGroup {
  readonly folder: string
  readonly routes: readonly SplitPath[]
}

const FEWEST = 3
const MAX_GROUPS = 6
const SHORTEST_LIMIT = 256
const MAX_PATH_LENGTH = 1024

/** The condition for paths or URLs; undefined if they are none or have no common directory. */
export function shapeOfPaths(
  texts: readonly string[],
  place: ValuePlace,
  manner: Manner,
): LearnedShape | undefined {
  const routes = texts.flatMap((text) => routeOf(text) ?? [])
  const groups = groupsOf(routes)
  const grouped = groups.flatMap((group) => group.routes)
  const rest = texts.filter((text) => !grouped.some((route) => route.text === text))
  if (groups.length === 0 || groups.length > MAX_GROUPS || rest.length > manner.most) return undefined
  if (texts.length <= manner.most && !looksLikePaths(grouped, place)) return undefined
  return shapeOfGroups(groups, rest, texts, place)
}

const PATH_WORDS = new Set(
  'path paths file files filename filepath dir directory folder cwd source destination src dst uri url urls'.split(
    ' ',
  ),
)

/** Whether the texts are paths, judged by the argument name or by their form. Media types, for example, are not. */
function looksLikePaths(routes: readonly SplitPath[], { path }: ValuePlace): boolean {
  if (wordsOf(path).some((word) => PATH_WORDS.has(word))) return true
  return routes.every(
    ({ root, name }) => root !== '' || (/\.[A-Za-z0-9]{1,8}$/.test(name) && !name.includes(' ')),
  )
}

const NAMED_PATHS = new Set('path paths file files filename filepath dir directory folder cwd uri'.split(' '))
const LOCAL = /^(?:\/|~|\.{1,2}\/|file:|[A-Za-z]:[\\/])/

/** Whether texts without a common directory are file system paths: free text would then allow all files. */
export function arePaths(texts: readonly string[], { path }: ValuePlace): boolean {
  const local = texts.filter((text) => !/^https?:/.test(text))
  const last = wordsOf(path.slice(path.lastIndexOf('.') + 1)).at(-1) ?? ''
  return local.length > 0 && (NAMED_PATHS.has(last) || local.every((text) => LOCAL.test(text)))
}

const URL_START = /^(?:file:\/\/\/|[a-z][a-z0-9+.-]{0,20}:\/\/[a-z0-9][a-z0-9.-]{0,252}(?::[0-9]{1,5})?\/)/
const PATH_START = /^(?:\/|\.\/|~\/)?/

/** Parses a text; undefined if it is not an unambiguous path. */
function routeOf(text: string): SplitPath | undefined {
  if (text.length > MAX_PATH_LENGTH) return undefined
  const url = URL_START.exec(text)?.[0]
  const root = url ?? PATH_START.exec(text)?.[0] ?? ''
  const [before = '', query, ...more] = text.slice(root.length).split('?')
  if (more.length > 0 || (query !== undefined && url === undefined)) return undefined
  const folders = before.split('/')
  const name = folders.pop() ?? ''
  const plain = [...folders, name].every((each) => alphabetOf([each]) !== undefined)
  if (!plain || (query !== undefined && !QUERY.test(query))) return undefined
  return { text, root, folders, name, query: query ?? '' }
}

const QUERY = /^[A-Za-z0-9._~=&+,:-]+$/

/** Character sets of file names, smallest first: description, first characters, other characters. */
const ALPHABETS: readonly (readonly [about: string, first: string, next: string])[] = [
  ['letters, digits, `.`, `_` and `-`', 'A-Za-z0-9_-', 'A-Za-z0-9._-'],
  ['letters, digits, spaces and `._@+,=()#~[]-`', 'A-Za-z0-9_@+,=()#~\\[\\]-', 'A-Za-z0-9._@+,=()#~ \\[\\]-'],
  [
    'letters and digits of any script, spaces and `._@+,=()#~[]-`',
    '\\p{L}\\p{N}_@+,=()#~\\[\\]-',
    '\\p{L}\\p{M}\\p{N}._@+,=()#~ \\[\\]-',
  ],
]

type Alphabet = (typeof ALPHABETS)[number]

/** The smallest character set that all names use. */
function alphabetOf(names: readonly string[]): Alphabet | undefined {
  return ALPHABETS.find(([, first, next]) => {
    const name = new RegExp(`^\\.?[${first}][${next}]*$`, 'u')
    return names.every((each) => name.test(each))
  })
}

const HOMES = new Set(['home', 'homes', 'users', 'documents and settings'])
// Where other disks are mounted.
const MOUNTS = new Set(['mnt', 'media', 'volumes', 'cygdrive'])
const SYSTEM = new Set([...MOUNTS, 'var', 'usr', 'srv', 'export', 'nfs', 'data'])

/** How many directories a group must share, so that it is neither the root nor a home directory. */
function leastShared({ root, folders }: SplitPath): number {
  // Paths of a website are not home directories.
  if (/^https?:/.test(root)) return 1
  const names = folders.map((folder) => folder.toLowerCase())
  const isWhole = root === '/' || root.startsWith('file:')
  const least = !isWhole ? 1 : MOUNTS.has(names[0] ?? '') ? 3 : 2
  return Math.max(least, homeIn(names, isWhole || root.includes('://')))
}

/** The number of directories down to one level below a home directory; 0 if there is none. */
function homeIn(names: readonly string[], isWhole: boolean): number {
  let at = names.findIndex((name) => HOMES.has(name))
  if (at === -1) return isWhole ? names.indexOf('root') + 2 : 0
  // In a relative path, `src/home` is no home directory, but `mnt/c/Users` may lead to one.
  const leads = names.slice(0, at).every((name) => name.length === 1 || SYSTEM.has(name))
  if (!isWhole && !leads) return 0
  while (HOMES.has(names[at + 1] ?? '')) at++
  return at + 3
}

function groupsOf(routes: readonly SplitPath[]): readonly FolderGroup[] {
  const groups = new Map<string, SplitPath[]>()
  for (const route of routes) {
    const least = leastShared(route)
    if (route.folders.length < least) continue
    add(groups, route.root + route.folders.slice(0, least).join('/'), route)
  }
  return [...groups.values()].flatMap((own) =>
    own.length < FEWEST ? [] : [{ folder: sharedBy(own), routes: own }],
  )
}

/** The deepest common directory. */
function sharedBy(routes: readonly SplitPath[]): string {
  const [{ root, folders } = { root: '', folders: [] }] = routes
  const end = folders.findIndex((folder, i) => routes.some((route) => route.folders[i] !== folder))
  return `${root}${folders.slice(0, end === -1 ? undefined : end).join('/')}/`
}

function shapeOfGroups(
  groups: readonly FolderGroup[],
  rest: readonly string[],
  texts: readonly string[],
  { code, path }: ValuePlace,
): LearnedShape {
  const limit = Math.max(SHORTEST_LIMIT, roundedUp(extremes(texts.map(lengthOf))[1]))
  const parts = groups.map((group) => namesIn(group))
  const terms = [
    ...groups.map(({ folder }, i) => {
      const pattern = `^.{${lengthOf(folder)}}${parts[i]?.pattern ?? ''}$`
      return `${below(code, folder)} && ${code}.matches(${celText(pattern)})`
    }),
    ...(rest.length > 0 ? [`${code} in ${celList(rest)}`] : []),
  ]
  const notes = groups.map(({ folder, routes }, i): ValueNote => ({
    path,
    seen: `${seenOf(routes.map(({ text }) => text))}, all below \`${folder}\``,
    wider: `every path below \`${folder}\` without \`..\`, of ${parts[i]?.about ?? ''}, up to ${limit} characters`,
  }))
  return {
    when: allOf([
      `type(${code}) == string`,
      `size(${code}) <= ${limit}`,
      anyOf(terms.map((term) => (terms.length > 1 && term.includes('&&') ? `(${term})` : term))),
    ]),
    notes: [...notes, ...(rest.length > 0 ? [{ path, seen: `also ${fewOf(rest)}` }] : [])],
    asks: [],
  }
}

/** The condition that a text is below a directory. For URLs, only the observed spelling is allowed. */
function below(code: string, folder: string): string {
  const isUrl = /^https?:/.test(folder)
  const [kind, base] = [isUrl ? 'url' : 'path', folder.slice(0, -1)] as const
  const spelled = `${code}.startsWith(${celText(folder)})`
  if (!isWithinBase(kind, base)) return spelled
  const inside = `${kind}.within(${code}, ${celText(base)})`
  return isUrl ? `${spelled} && ${inside}` : inside
}

/** A pattern for what may follow the directory: names like the observed ones. */
function namesIn({ folder, routes }: FolderGroup): { readonly pattern: string; readonly about: string } {
  const names = routes.flatMap(({ text, query }) =>
    text.slice(folder.length, query === '' ? undefined : text.length - query.length - 1).split('/'),
  )
  // Each name has a character set, so all together have one too.
  const [about, first, next] = alphabetOf(names) ?? ALPHABETS.at(-1) ?? ['', '', '']
  const hidden = names.some((name) => name.startsWith('.'))
  const queried = routes.some(({ query }) => query !== '')
  const name = `${hidden ? '\\.?' : ''}[${first}][${next}]*`
  return {
    pattern: `${name}(?:/${name})*${queried ? '(?:\\?[A-Za-z0-9._~=&+,:-]*)?' : ''}`,
    about: `${about}, ${hidden ? 'including hidden files' : 'no hidden files'}${queried ? ', and a query' : ''}`,
  }
}
