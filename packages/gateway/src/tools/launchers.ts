// Programs that run other programs, such as `npx`, and the options that determine what they run.

export interface Launcher {
  /** Its subcommand, such as `dlx`. */
  readonly verbs: readonly string[]
  /** Options without a value that do not affect what is run. */
  readonly flags: RegExp
  /** Options with a value that does not affect what is run. */
  readonly skipped: readonly string[]
  /** Options whose value determines what is run, or where it is fetched from. */
  readonly telling: readonly string[]
  /** The `telling` options after which only arguments of the program follow. */
  readonly last: readonly string[]
  /** Whether it runs a file, unless the argument is a URL. */
  readonly runsFiles: boolean
}

type Family = Omit<Launcher, 'verbs'>

const words = (text: string): readonly string[] => text.split(' ')

const NPM: Family = {
  flags:
    /^(?:-[yqs]|--yes|--no|--quiet|--silent|--verbose|--offline|--(?:prefer|no)-[a-z-]+|--ignore-scripts|--bun)$/,
  skipped: ['--cache', '--loglevel'],
  telling: words('-p --package --registry --prefix -w --workspace --userconfig --dir'),
  last: [],
  runsFiles: false,
}

const UV: Family = {
  flags:
    /^(?:-[qvnU]|--quiet|--verbose|--isolated|--offline|--refresh|--upgrade|--frozen|--locked|--active|--exact|--native-tls|--script|--no-[a-z-]+)$/,
  skipped: words('-p --python --cache-dir --color --prerelease --resolution --link-mode --python-preference'),
  telling: words(
    '--from --with -w --with-editable --with-requirements --index --default-index -i --index-url --extra-index-url -f --find-links --directory --project --config-file --env-file -m --module',
  ),
  last: ['-m', '--module'],
  runsFiles: false,
}

const PIPX: Family = {
  flags: /^(?:-[qv]|--quiet|--verbose|--no-cache)$/,
  skipped: ['--python'],
  telling: words('--spec --with -i --index-url'),
  last: [],
  runsFiles: false,
}

const NODE: Family = {
  flags:
    /^(?:--enable-source-maps|--watch|--inspect(?:-brk)?|--preserve-symlinks|--experimental-(?:strip-types|transform-types|vm-modules|sqlite|wasm-modules|json-modules)|--trace-[a-z-]+|--no-[a-z-]+)$/,
  skipped: words(
    '--max-old-space-size --max-http-header-size --stack-size --disable-warning --unhandled-rejections',
  ),
  telling: words(
    '-r --require --import --loader --experimental-loader --env-file --env-file-if-exists -C --conditions --tsconfig -P --project',
  ),
  last: [],
  runsFiles: true,
}

const BUN: Family = {
  flags: /^(?:--silent|--watch|--hot|--smol|--bun|-b|--no-[a-z-]+)$/,
  skipped: [],
  telling: words('-r --preload --cwd --env-file -c --config'),
  last: [],
  runsFiles: false,
}

const DENO: Family = {
  flags:
    /^(?:-[AqREWNS]|--quiet|--cached-only|--frozen|--(?:allow|deny|no|unstable)-[a-z-]+|--allow-all|--unstable)$/,
  skipped: ['--log-level', '--seed', '--v8-flags'],
  telling: words('-c --config --import-map --preload --lock --env-file'),
  last: [],
  runsFiles: true,
}

const PYTHON: Family = {
  flags: /^-[uBIsSEObqvP]+$/,
  skipped: ['-W', '-X'],
  telling: ['-m'],
  last: ['-m'],
  runsFiles: true,
}

// The longest match counts: `bun run` before `bun`.
const LAUNCHERS: readonly (readonly [name: string, family: Family])[] = [
  ...words('npx bunx pnpx').map((name) => [name, NPM] as const),
  ...['npm exec', 'npm x', 'pnpm dlx', 'pnpm exec', 'yarn dlx', 'bun x'].map((name) => [name, NPM] as const),
  ['uv tool run', UV],
  ['uv run', UV],
  ['uvx', UV],
  ['pipx run', PIPX],
  ['node inspect', NODE],
  ['tsx watch', NODE],
  ...words('node nodejs tsx ts-node').map((name) => [name, NODE] as const),
  ['bun run', BUN],
  ['bun', BUN],
  ['deno run', DENO],
  ...words('python python3 py').map((name) => [name, PYTHON] as const),
]

/** The launchers of a program name, those with the longest subcommand first. */
export function launchersOf(program: string): readonly Launcher[] {
  // `python3.12` is also Python.
  const name = program.replace(/^(python3?)\.[0-9]{1,2}$/, '$1')
  return LAUNCHERS.filter(([each]) => each.split(' ')[0] === name).map(([each, family]) => ({
    ...family,
    verbs: each.split(' ').slice(1),
  }))
}
