// Finds packages without an exact version in a command: then the publisher decides at every start what runs.

const RUNNERS: Readonly<Record<string, readonly string[]>> = {
  // The words between the runner and the package.
  npx: [],
  bunx: [],
  uvx: [],
  'pnpm dlx': ['dlx'],
  'yarn dlx': ['dlx'],
  'npm exec': ['exec'],
  'npm x': ['x'],
  'uv tool run': ['tool', 'run'],
  'pipx run': ['run'],
}
const SHELLS = ['cmd', 'powershell', 'pwsh']
const TAKING = [
  '-p',
  '--package',
  '--from',
  '--with',
  '--python',
  '--registry',
  '--index-url',
  '--cache',
  '-c',
  '--call',
]
const NAMING = ['-p', '--package', '--from']

/** Returns findings about a command; none if it fetches no package, or an exact version. */
export function packageFindings(command: readonly string[], args: readonly string[]): readonly string[] {
  const words = [...command, ...args]
  // On Windows, clients start `cmd /c npx …`.
  const isShell = SHELLS.includes(baseName(words[0] ?? ''))
  const runner = runnerOf(
    isShell ? words.slice(words.findIndex((word, i) => i > 0 && !isSwitch(word))) : words,
  )
  if (!runner) return []
  return packagesOf(runner.rest)
    .filter((each) => !isPinned(each))
    .map(
      (each) =>
        `\`${runner.name}\` always fetches the newest version of \`${plain(each)}\`; give an exact version`,
    )
}

function isSwitch(word: string): boolean {
  return /^[/-]/.test(word)
}

function runnerOf(
  words: readonly string[],
): { readonly name: string; readonly rest: readonly string[] } | undefined {
  const [first = '', ...rest] = words
  for (const [name, between] of Object.entries(RUNNERS)) {
    const [program] = name.split(' ')
    if (baseName(first) === program && between.every((word, i) => rest[i] === word)) {
      return { name, rest: rest.slice(between.length) }
    }
  }
  return undefined
}

function baseName(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1).toLowerCase()
  return name.replace(/\.(?:cmd|exe|ps1)$/, '')
}

/** Returns the packages named by options, or the first word that is not an option. */
function packagesOf(words: readonly string[]): readonly string[] {
  const named: string[] = []
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? ''
    const [option = '', value] = word.startsWith('--') ? word.split('=', 2) : [word]
    if (NAMING.includes(option)) named.push(value ?? words[i + 1] ?? '')
    if (word === '--') continue
    if (!word.startsWith('-')) return named.length > 0 ? named : [word]
    if (TAKING.includes(option) && value === undefined) i++
  }
  return named
}

const EXACT = /^[0-9]{1,9}\.[0-9]{1,9}(?:\.[0-9]{1,9})?(?:[-+.a-zA-Z0-9]{0,60})$/

function isPinned(spec: string): boolean {
  if (spec === '' || /^(?:[./~]|[a-zA-Z]:\\)/.test(spec)) return true
  const [, python] = spec.split('==', 2)
  if (python !== undefined) return EXACT.test(python)
  const at = spec.lastIndexOf('@')
  if (isRepository(spec)) return /[@#][0-9a-f]{40}$/.test(spec)
  return at > 0 && EXACT.test(spec.slice(at + 1))
}

function isRepository(spec: string): boolean {
  return /^(?:git\+|https?:|github:|git@)/.test(spec)
}

/** Returns a safe form of a package name. An address could contain a password. */
function plain(spec: string): string {
  return isRepository(spec) ? 'an address' : spec.slice(0, 100).replaceAll(/[^\w@/.:=<>~^*-]/g, '·')
}
