// Checks the imports of every file against a table of rooms (folders) and what each may import.

import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { importsIn, type Import } from './imports.ts'

/** A file: its path from the root, with `/`, and its text. */
export interface Source {
  readonly path: string
  readonly text: string
}

/** An import or package dependency that the table does not allow. */
export interface Leak {
  readonly path: string
  readonly line: number
  readonly imports: string
  readonly rule: string
  readonly allowed: string
}

/** A room and what its files may import. Its own folder is always allowed; everything else must be listed. */
interface Room {
  /** A folder or file; `*` matches any name. The longest match is the room of a file. */
  readonly at: string
  /** Folders and files that may be imported by path. */
  readonly paths?: readonly string[]
  /** Folders and files from which only types may be imported. */
  readonly types?: readonly string[]
  /** Own packages, imported by name. */
  readonly packages?: readonly string[]
  /** Own packages from which only types may be imported. */
  readonly typesOf?: readonly string[]
  readonly npm?: readonly string[]
  /** Packages from npm from which only types may be imported. */
  readonly typesOfNpm?: readonly string[]
  /** Not shipped: may also use root development dependencies and computed imports. */
  readonly dev?: boolean
  /** Node built-ins: all, or the listed ones. */
  readonly node?: boolean | readonly string[]
  /** The items of this folder must not import each other, except the items listed here. */
  readonly shelf?: readonly string[]
}

const WORKSHOP = { paths: ['packages/*', 'tools', 'vectors'], dev: true, node: true } as const
const gateway = (...names: string[]): string[] => names.map((name) => `packages/gateway/src/${name}`)
const FROM_ANYWHERE = gateway(
  'log.ts',
  'error.ts',
  'directory.ts',
  'view.ts',
  'exchange.ts',
  'verdict.ts',
  'sse.ts',
  'budget.ts',
  'sealing.ts',
  'recent.ts',
)
/** Entry points of our packages that load fast, for commands. */
const QUICK = ['kernel/trial', 'kernel/explanation', 'evidence/core']
/** The kernel, with all of its entry points. */
const KERNEL = ['kernel', 'kernel/admin', 'kernel/detection', 'kernel/policy', 'kernel/workbench']
const DOOR = {
  paths: [
    ...FROM_ANYWHERE,
    ...gateway('tokens.ts', 'telemetry', 'scoping.ts', 'answer-wait.ts', 'tools', 'files'),
  ],
  packages: [...KERNEL, 'evidence', 'evidence/core'],
  node: true,
} as const

const ROOMS: readonly Room[] = [
  // One source for browsers and Node. One file uses Node, at run time and only if it is available.
  { at: 'packages/evidence/src', npm: ['@noble/hashes'] },
  {
    at: 'packages/evidence/src/host.ts',
    paths: ['packages/evidence/src'],
    node: ['node:crypto', 'node:buffer'],
  },
  { at: 'packages/evidence/node', paths: ['packages/evidence/src'], node: true },
  { at: 'packages/evidence/bin', paths: ['packages/evidence/src', 'packages/evidence/node'], node: true },
  tests('evidence'),

  // No I/O, no clock, no randomness: pure libraries only. The trusted core is road, ledger, the table of gates and policy
  // evaluation. It imports types of detection code, never implementations.
  ...['index.ts', 'admin.ts', 'detection.ts', 'policy.ts', 'workbench.ts'].map((name) =>
    kernelRoom(name, ''),
  ),
  ...['error.ts', 'names.ts', 'plain.ts', 'rates.ts', 'spellings.ts', 'units.ts', 'kernel.ts'].map((name) =>
    kernelRoom(name),
  ),
  kernelRoom('destinations'),
  kernelRoom('text', 'destinations', 'gates/threat'),
  { ...kernelRoom('shell'), npm: ['unbash'] },
  { ...kernelRoom('policy', 'destinations'), npm: ['@marcbachmann/cel-js', 're2js', 'yaml'] },
  { ...kernelRoom('policy/parse', 'policy', 'destinations', 'gates'), npm: ['yaml'] },
  {
    ...kernelRoom('gates', 'policy', 'text', 'destinations', 'shell'),
    npm: ['re2js'],
    shelf: ['gate', 'detectors', 'texts', 'threat', 'taint'],
  },
  kernelRoom('ledger', 'gates/index.ts', 'policy'),
  kernelRoom('admin', 'kernel.ts', 'ledger', 'gates', 'policy'),
  kernelRoom(
    'road',
    'kernel.ts',
    'ledger',
    'admin',
    'gates/index.ts',
    'gates/gate.ts',
    'policy',
    'text/labels.ts',
    'shell/place.ts',
  ),
  kernelRoom('open', 'kernel.ts', 'road', 'ledger', 'admin', 'gates', 'policy'),
  { ...kernelRoom('workbench', ''), npm: ['@marcbachmann/cel-js', 'yaml'] },
  // The library's own evaluator is the oracle for ours.
  { ...tests('kernel', 'evidence'), npm: ['@marcbachmann/cel-js'] },

  // The script for a page has no Node. The HTML parser is only in the part for Node, which shares the judgement.
  { at: 'packages/sentinel/src', packages: ['evidence/core', 'kernel/detection'] },
  {
    at: 'packages/sentinel/static',
    paths: ['packages/sentinel/src'],
    packages: ['evidence/core'],
    npm: ['parse5'],
  },
  { at: 'packages/sentinel/page.d.ts' },
  tests('sentinel', 'evidence', 'kernel', 'sentinel/page'),

  { at: 'packages/client/src', packages: ['evidence'] },
  // Playwright is the program's own; the Sentinel's script runs in its pages.
  {
    at: 'packages/client/playwright',
    paths: ['packages/client/src/index.ts'],
    packages: ['evidence', 'sentinel', 'sentinel/page'],
    typesOfNpm: ['playwright-core'],
  },
  tests('client', 'evidence', 'client/playwright'),
  // The client for Python is tested with the table and the stand-in of the client for TypeScript.
  tests('python', 'client', 'evidence'),

  // It is a page: no Node, and no code of the gateway.
  {
    at: 'packages/console/src',
    packages: ['client', 'evidence'],
    npm: ['preact', '@preact/signals', '@tanstack/virtual-core', 'uplot'],
  },
  // Its tests start a gateway.
  tests('console', 'gateway', 'kernel', 'client', 'evidence'),

  // cli ► open ► store, keyring, config; cli ► serve ► doors ► kernel. A new name in gateway/src needs a row.
  { at: 'packages/gateway/src/index.ts', paths: gateway('open.ts', 'serve.ts', 'error.ts') },
  {
    at: 'packages/gateway/src/cli',
    paths: [
      ...gateway(
        'open.ts',
        'join.ts',
        'migrate.ts',
        'ledger-store.ts',
        'rotate.ts',
        'serve.ts',
        'api',
        'config',
        'keyring.ts',
        'tokens.ts',
      ),
      ...gateway('open-view.ts', 'seal-key.ts', 'webhook', 'telemetry', 'mcp', 'llm', 'tools', 'workbench'),
      ...gateway('browser', 'files', 'hooks', 'console/links.ts'),
      ...FROM_ANYWHERE,
    ],
    packages: [...KERNEL, ...QUICK, 'client', 'evidence', 'evidence/node', 'sentinel', 'sentinel/static'],
    npm: ['commander', 'picocolors', '@clack/prompts'],
    node: true,
  },
  {
    at: 'packages/gateway/src/open.ts',
    paths: [
      ...gateway(
        'open-view.ts',
        'ledger-store.ts',
        'store',
        'keyring.ts',
        'seal-key.ts',
        'config',
        'tokens.ts',
        'upkeep.ts',
      ),
      ...gateway('sign-in'),
      ...FROM_ANYWHERE,
    ],
    packages: [...KERNEL, 'evidence'],
    node: true,
  },
  {
    at: 'packages/gateway/src/open-view.ts',
    paths: [...gateway('ledger-store.ts', 'store', 'config', 'seal-key.ts'), ...FROM_ANYWHERE],
    packages: ['evidence'],
  },
  {
    at: 'packages/gateway/src/rotate.ts',
    paths: [...gateway('ledger-store.ts', 'store', 'keyring.ts', 'config'), ...FROM_ANYWHERE],
    packages: [...KERNEL, 'evidence'],
    node: true,
  },
  {
    at: 'packages/gateway/src/ledger-store.ts',
    paths: [...gateway('store', 'config'), ...FROM_ANYWHERE],
    node: true,
  },
  {
    at: 'packages/gateway/src/migrate.ts',
    paths: [...gateway('ledger-store.ts', 'store', 'config'), ...FROM_ANYWHERE],
    node: true,
  },
  {
    at: 'packages/gateway/src/join.ts',
    paths: [...gateway('ledger-store.ts', 'keyring.ts', 'config'), ...FROM_ANYWHERE],
    types: gateway('store'),
    packages: ['evidence'],
  },
  {
    at: 'packages/gateway/src/upkeep.ts',
    paths: [...gateway('config'), ...FROM_ANYWHERE],
    packages: [...KERNEL],
    node: true,
  },
  {
    at: 'packages/gateway/src/tokens.ts',
    paths: FROM_ANYWHERE,
    packages: [...KERNEL, 'evidence'],
    node: true,
  },
  { at: 'packages/gateway/src/view.ts', packages: ['evidence'] },
  // No kernel at run time, because every read command loads it, see `open-view.ts`.
  {
    at: 'packages/gateway/src/sealing.ts',
    paths: gateway('view.ts'),
    typesOf: KERNEL,
    node: ['node:crypto'],
  },
  {
    at: 'packages/gateway/src/seal-key.ts',
    paths: gateway('config', 'keyring.ts', 'sealing.ts', 'error.ts'),
    node: true,
  },
  { at: 'packages/gateway/src/exchange.ts' },
  {
    at: 'packages/gateway/src/connections.ts',
    paths: FROM_ANYWHERE,
    types: gateway('telemetry'),
    node: true,
  },
  { at: 'packages/gateway/src/budget.ts', node: ['node:perf_hooks'] },
  { at: 'packages/gateway/src/sse.ts' },
  { at: 'packages/gateway/src/recent.ts' },
  { at: 'packages/gateway/src/verdict.ts', packages: [...KERNEL, 'evidence'] },
  { at: 'packages/gateway/src/answer-wait.ts', packages: ['kernel'], node: ['node:timers'] },
  { at: 'packages/gateway/src/scoping.ts', packages: [...KERNEL], paths: gateway('tokens.ts') },
  // The real paths of files that calls name.
  {
    at: 'packages/gateway/src/files',
    packages: ['kernel', 'kernel/detection'],
    node: ['node:fs/promises', 'node:path', 'node:timers'],
  },
  // Tool descriptions, shared by the doors that offer tools and by the commands that inspect them.
  { at: 'packages/gateway/src/tools', packages: [...KERNEL, 'evidence'], paths: gateway('browser/servers') },
  // Work on policies before they are in force. No files and no terminal: the commands have those.
  {
    at: 'packages/gateway/src/workbench',
    paths: gateway('view.ts', 'error.ts', 'tools'),
    packages: [...KERNEL, 'evidence'],
    npm: ['yaml'],
  },
  {
    at: 'packages/gateway/src/webhook',
    paths: [...gateway('config'), ...FROM_ANYWHERE],
    packages: [...KERNEL, 'evidence'],
    node: ['node:crypto', 'node:timers/promises'],
  },
  // Metrics and traces. They see names and numbers of calls, and decide nothing.
  {
    at: 'packages/gateway/src/telemetry',
    paths: FROM_ANYWHERE,
    packages: ['evidence', 'kernel'],
    node: ['node:crypto', 'node:perf_hooks', 'node:process', 'node:fs', 'node:fs/promises', 'node:stream'],
  },
  {
    at: 'packages/gateway/src/serve.ts',
    paths: [
      ...gateway('mcp', 'llm', 'api', 'config', 'tokens.ts'),
      ...gateway('http-server.ts', 'operators.ts', 'telemetry', 'sign-in', 'console'),
      ...FROM_ANYWHERE,
    ],
    packages: [...KERNEL, 'evidence'],
    node: true,
  },
  {
    at: 'packages/gateway/src/operators.ts',
    paths: [...gateway('api', 'config', 'http-server.ts', 'mcp', 'telemetry', 'sign-in'), ...FROM_ANYWHERE],
    node: true,
  },
  {
    at: 'packages/gateway/src/http-server.ts',
    paths: [...gateway('api', 'connections.ts', 'telemetry', 'tokens.ts'), ...FROM_ANYWHERE],
    types: gateway('console'),
    node: true,
  },
  // The page for people: its files, its sessions, and the way from a request of the page to the API.
  {
    at: 'packages/gateway/src/console',
    paths: [...gateway('api', 'sign-in', 'tokens.ts'), ...FROM_ANYWHERE],
    packages: ['evidence'],
    node: ['node:crypto', 'node:fs', 'node:path', 'node:url'],
  },
  // A browser of our own, and what the Sentinel sees in it.
  {
    at: 'packages/gateway/src/browser',
    paths: FROM_ANYWHERE,
    packages: ['sentinel', 'sentinel/page', 'kernel/detection'],
    npm: ['ws'],
    node: true,
  },
  {
    at: 'packages/gateway/src/browser/egress',
    paths: [...FROM_ANYWHERE, ...gateway('browser/cdp.ts')],
    types: gateway('browser'),
    packages: ['kernel', 'kernel/detection', 'evidence'],
    node: true,
  },
  // The published browser servers, as tables. Drafts and the configuration use them too.
  { at: 'packages/gateway/src/browser/servers', packages: ['kernel', 'evidence'] },
  {
    at: 'packages/gateway/src/browser/door',
    paths: [...FROM_ANYWHERE, ...gateway('browser')],
    packages: ['kernel', 'kernel/detection', 'evidence', 'sentinel', 'sentinel/static'],
    node: true,
  },
  {
    at: 'packages/gateway/src/mcp',
    ...DOOR,
    paths: [...DOOR.paths, ...gateway('browser/servers')],
    types: gateway('browser/door'),
    npm: ['undici'],
  },
  { at: 'packages/gateway/src/llm', ...DOOR, npm: ['undici'] },
  // The hooks of coding agents: payloads in, answers out. Only its route is in the API.
  { at: 'packages/gateway/src/hooks', ...DOOR, node: false },
  {
    at: 'packages/gateway/src/api',
    ...DOOR,
    paths: [...DOOR.paths, ...gateway('hooks', 'workbench')],
    types: gateway('sign-in'),
  },
  // Access tokens of an issuer. The only room that reads JWTs.
  {
    at: 'packages/gateway/src/sign-in',
    paths: [...gateway('config', 'tokens.ts'), ...FROM_ANYWHERE],
    packages: ['kernel', 'evidence'],
    npm: ['jose', 'undici'],
    node: ['node:process'],
  },
  {
    at: 'packages/gateway/src/store',
    paths: FROM_ANYWHERE,
    packages: [...KERNEL, 'evidence'],
    npm: ['@photostructure/sqlite', 'pg'],
    node: true,
    // What several stores share.
    shelf: ['anchors', 'fsck-report', 'guard', 'heads', 'opened', 'seal', 'service', 'tiles'],
  },
  {
    at: 'packages/gateway/src/keyring.ts',
    paths: [...gateway('config'), ...FROM_ANYWHERE],
    packages: ['evidence', 'evidence/node'],
    node: true,
  },
  {
    at: 'packages/gateway/src/config',
    // The rule for server names and the names of model providers are shared.
    paths: [...gateway('tools/offer.ts', 'browser/servers', 'llm/providers.ts'), ...FROM_ANYWHERE],
    packages: [...KERNEL, 'evidence'],
    npm: ['yaml'],
    node: true,
  },
  { at: 'packages/gateway/src/log.ts' },
  { at: 'packages/gateway/src/error.ts' },
  { at: 'packages/gateway/src/directory.ts', paths: gateway('error.ts'), node: true },
  // Loads built code with a computed name.
  { at: 'packages/gateway/bin', dev: true, node: ['node:fs', 'node:module'] },
  {
    ...tests('gateway', 'kernel', 'client', 'sentinel', 'evidence'),
    npm: ['@photostructure/sqlite', 'commander', 'pg', 'ws', 'yaml'],
  },

  {
    at: 'examples',
    packages: ['client', 'client/playwright', 'evidence', 'evidence/node', 'sentinel', 'sentinel/page'],
    dev: true,
    node: true,
  },
  // Its package is in `compat/`, where the example is compiled.
  {
    at: 'examples/stagehand',
    paths: ['examples/environment.ts'],
    packages: ['client', 'client/playwright'],
    npm: ['@browserbasehq/stagehand'],
    dev: true,
    node: true,
  },
  // The bare driver is the floor for measurements of the ledger.
  { at: 'bench', ...WORKSHOP, npm: ['@photostructure/sqlite'] },
  { at: 'deploy/image', node: ['node:https', 'node:process'] },
  { at: 'tools', ...WORKSHOP, paths: [...WORKSHOP.paths, 'conformance'] },
  // It judges verifiers and gateways of any maker, so it has nothing of ours.
  { at: 'conformance', node: true },
  // The benchmark data is tested.
  { at: 'tools/test', ...WORKSHOP, npm: ['yaml'], paths: [...WORKSHOP.paths, 'bench', 'conformance'] },
  { at: '*.config.*', paths: ['tools/compat'], dev: true, node: true },
  { at: 'packages/*/*.config.*', dev: true, node: true },
  { at: 'vectors' },
  { at: 'docs' },
]

/** Tests may import their own package and those below it, also by path, because test data and contract suites are shared. */
function tests(name: string, ...below: readonly string[]): Room {
  const seen = [name, ...below].flatMap((each) => (each === 'kernel' ? KERNEL : [each]))
  const packages = [...seen, 'evidence/node']
  const paths = [...[name, ...below].map((each) => `packages/${each}`), 'tools', 'vectors']
  return { at: `packages/${name}/test`, paths, packages, dev: true, node: true }
}

/** A room of the kernel: it may import the small root files and the types of every room. */
function kernelRoom(name: string, ...reaches: readonly string[]): Room {
  const at = (each: string): string => `packages/kernel/src${each === '' ? '' : `/${each}`}`
  const low = ['error.ts', 'names.ts', 'plain.ts', 'rates.ts', 'spellings.ts', 'units.ts']
  return {
    at: at(name),
    paths: [...low, ...reaches].map(at),
    types: [at('')],
    packages: ['evidence', 'evidence/core'],
  }
}

const SCOPE = '@tollgate/'

/**
 * All leaks in these files, in order. Code is checked by its imports, a package by the dependencies in its `package.json`.
 * The root `package.json` lists the development dependencies.
 */
export function checkRooms(files: readonly Source[]): readonly Leak[] {
  const dev = dependenciesIn(
    files.find(({ path }) => path === 'package.json'),
    'devDependencies',
  )
  return files.flatMap((file) => {
    if (/^packages\/[^/]+\/package\.json$/.test(file.path)) return checkManifest(file)
    return CODE.test(file.path) ? checkCode(file, dev) : []
  })
}

/** A leak as one line. */
export function formatLeak({ path, line, imports, rule, allowed }: Leak): string {
  return `${path}:${line} imports \`${imports}\`: ${rule}; allowed: ${allowed}`
}

const CODE = /\.[cm]?[jt]sx?$/

function checkCode({ path, text }: Source, dev: readonly string[]): Leak[] {
  const room = roomOf(path)
  const npm = [...(room?.npm ?? []), ...(room?.dev === true ? dev : [])]
  return importsIn(path, text).flatMap((found) => {
    const rule = room ? ruleAgainst(found, path, { ...room, npm }) : NO_ROOM
    if (rule === undefined) return []
    return [
      { path, line: found.line, imports: found.name ?? 'a computed name', rule, allowed: allowedIn(room) },
    ]
  })
}

const NO_ROOM = 'the file is in no room, add a row to the table in `tools/check-rooms.ts`'

/** The dependencies of a package must be used by its shipped rooms. */
function checkManifest(file: Source): Leak[] {
  const folder = posix.dirname(file.path)
  const shipped = ROOMS.filter(({ at, dev }) => dev !== true && at.startsWith(`${folder}/`))
  const ours = shipped.flatMap(({ packages = [] }) => packages.map((name) => SCOPE + packageName(name)))
  const others = shipped.flatMap(({ npm = [], typesOfNpm = [] }) => [...npm, ...typesOfNpm])
  const allowed = [...new Set([...ours, ...others])]
  return ['dependencies', 'peerDependencies', 'optionalDependencies']
    .flatMap((section) => dependenciesIn(file, section))
    .filter((name) => !allowed.includes(name))
    .map((imports) => ({
      path: file.path,
      line: file.text.slice(0, file.text.indexOf(`"${imports}"`)).split('\n').length,
      imports,
      rule: `\`${folder}\` does not depend on it`,
      allowed: listed(allowed.map(quoted)),
    }))
}

function dependenciesIn(manifest: Source | undefined, section: string): readonly string[] {
  if (!manifest) return []
  // Sound: npm refuses any other form of manifest.
  const { [section]: dependencies } = JSON.parse(manifest.text) as Partial<Record<string, object>>
  return Object.keys(dependencies ?? {})
}

/** The rule that forbids an import, or undefined if it is allowed. */
function ruleAgainst({ name, typeOnly }: Import, path: string, room: Room): string | undefined {
  if (name === undefined) {
    return room.dev === true ? undefined : `\`${room.at}\` is shipped, so its imports are written out`
  }
  if (name.startsWith('.')) {
    return ruleAgainstPath(posix.join(posix.dirname(path), name), path, room, typeOnly)
  }
  if (isBuiltin(name) || /^node(?::|$)/.test(name)) return ruleAgainstBuiltin(name, room)
  if (name.startsWith(SCOPE)) return ruleAgainstPackage(name.slice(SCOPE.length), typeOnly, room)
  if (room.npm?.includes(packageName(name)) === true) return undefined
  if (room.typesOfNpm?.includes(packageName(name)) !== true)
    return `\`${room.at}\` does not take this package from npm`
  return typeOnly ? undefined : `\`${room.at}\` takes only types from it, write \`import type\``
}

function ruleAgainstPath(target: string, path: string, room: Room, typeOnly: boolean): string | undefined {
  const file = target.replace(/\.js$/, '.ts')
  const { at, paths = [], types = [], shelf } = room
  if (typeOnly && types.some((each) => fits(each, file))) return undefined
  if (shelf && fits(at, file)) return ruleAgainstNeighbour(itemOf(file, at), itemOf(path, at), room)
  if ([at, ...paths].some((each) => fits(each, file))) return undefined
  const [, here] = path.split('/')
  if (path.startsWith('packages/') && !file.startsWith(`packages/${here ?? ''}/`)) {
    return 'what is outside of a package is reached by its name, not by path'
  }
  return `\`${at}\` does not reach \`${roomOf(file)?.at ?? file}\``
}

function ruleAgainstNeighbour(item: string, from: string, { at, shelf = [] }: Room): string | undefined {
  if (item === from || from === 'index' || shelf.includes(item)) return undefined
  return `the items of \`${at}\` do not know each other`
}

function ruleAgainstBuiltin(name: string, { at, node = false }: Room): string | undefined {
  if (node === true || (node !== false && node.includes(name))) return undefined
  return `\`${at}\` takes no${node === false ? '' : ' other'} Node built-ins`
}

function ruleAgainstPackage(name: string, typeOnly: boolean, room: Room): string | undefined {
  const { at, packages = [], typesOf = [], paths = [] } = room
  if (packages.includes(name) || paths.some((path) => fits(path, `packages/${name}`))) return undefined
  if (!typesOf.includes(name)) return `\`${at}\` does not depend on this package`
  return typeOnly ? undefined : `\`${at}\` takes only types from it, write \`import type\``
}

function roomOf(path: string): Room | undefined {
  return ROOMS.filter(({ at }) => fits(at, path)).sort((a, b) => b.at.length - a.at.length)[0]
}

function fits(at: string, path: string): boolean {
  const pattern = at.replaceAll('.', '\\.').replaceAll('*', '[^/]*')
  return new RegExp(`^${pattern}(?:/|$)`).test(path)
}

/** The item of a shelf that a file belongs to: the file itself or its folder. */
function itemOf(path: string, shelf: string): string {
  return (path.slice(shelf.length + 1).split('/')[0] ?? '').replace(CODE, '')
}

function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

function allowedIn(room: Room | undefined): string {
  if (!room) return 'nothing'
  const { at, paths = [], packages = [], typesOf = [], npm = [], dev = false, node = false } = room
  const { typesOfNpm = [] } = room
  const built = typeof node === 'boolean' ? [] : node
  return listed([
    ...[...new Set([at, ...paths]), ...packages.map((name) => SCOPE + name), ...npm, ...built].map(quoted),
    ...[...typesOf.map((name) => SCOPE + name), ...typesOfNpm].map((name) => `types of \`${name}\``),
    ...(dev ? ['development dependencies'] : []),
    ...(node === true ? ['Node built-ins'] : []),
  ])
}

function quoted(name: string): string {
  return `\`${name}\``
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'nothing' : names.join(', ')
}

/** The files of the tree that the table covers. */
export function readTree(root: string): readonly Source[] {
  return namesUnder(root, '')
    .filter((path) => CODE.test(path) || posix.basename(path) === 'package.json')
    .map((path) => ({ path, text: readFileSync(posix.join(root, path), 'utf8') }))
}

function namesUnder(root: string, folder: string): readonly string[] {
  return readdirSync(posix.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name)
    const skipped = entry.name.startsWith('.') || entry.name === 'node_modules' || entry.name === 'dist'
    if (entry.isDirectory()) return skipped ? [] : namesUnder(root, path)
    return [path]
  })
}

function main(): void {
  const files = readTree(fileURLToPath(new URL('..', import.meta.url)))
  const leaks = checkRooms(files)
  for (const leak of leaks) console.error(formatLeak(leak))
  if (leaks.length === 0) console.log(`${files.length} files import only what their rooms allow`)
  else process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
