// Derives the name of a wrapped server from its command.

const RUNNERS: ReadonlySet<string> = new Set(
  'npx bunx pnpx uvx pipx npm pnpm yarn bun deno uv node nodejs python python3 tsx ts-node docker podman java env'.split(
    ' ',
  ),
)
// Subcommands of runners.
const VERBS: ReadonlySet<string> = new Set('run exec dlx x tool'.split(' '))
// Options of runners that take a value.
const VALUED: ReadonlySet<string> = new Set(
  '-p --package --from --with --python -e --env -v --volume --mount --network --name -w --workdir -u --user --entrypoint --env-file --import -r --require --loader'.split(
    ' ',
  ),
)
// Options whose value is the program to run.
const NAMING: ReadonlySet<string> = new Set(['-m', '-jar'])
const FOLDERS: ReadonlySet<string> = new Set('dist build src lib bin out .'.split(' '))
const PLAIN: ReadonlySet<string> = new Set('index main cli app __main__'.split(' '))

/** Returns a name for the server that this command starts. */
export function serverNameOf(words: readonly string[]): string {
  const name = shortened(subjectOf(words))
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replaceAll(/^[-_]+|[-_]+$/g, '')
    .slice(0, 32)
  return name === '' ? 'server' : name
}

/** Returns the word that names the package, script, image or program. */
function subjectOf([program = '', ...rest]: readonly string[]): string {
  if (!RUNNERS.has(stem(program))) return stem(program)
  for (let i = 0; i < rest.length; i++) {
    const word = rest[i] ?? ''
    if (NAMING.has(word)) return subject(rest[i + 1] ?? '')
    if (VALUED.has(word)) i++
    else if (RUNNERS.has(word)) return subjectOf(rest.slice(i))
    else if (!word.startsWith('-') && !VERBS.has(word) && !/^[A-Z_]+=/.test(word)) return subject(word)
  }
  return stem(program)
}

/** Removes the location and the version from a package, script or image. */
function subject(word: string): string {
  const bare = word.replace(/(?<=.)@[^/@]*$/, '').replace(/(?:==|\[|>=|:(?!\/\/|\\)).*$/, '')
  const parts = bare.split(/[/\\]/).filter((part) => part !== '')
  const last = stem(parts.at(-1) ?? '')
  if (!PLAIN.has(last)) return last
  return stem(parts.slice(0, -1).findLast((part) => !FOLDERS.has(part)) ?? last)
}

function stem(path: string): string {
  const base = path.split(/[/\\]/).at(-1) ?? ''
  return base.replace(/\.(?:exe|cmd|bat|ps1|sh|[cm]?[jt]s|py|jar)$/i, '')
}

/** Removes words such as `mcp` and `server`, unless there are no others. */
function shortened(name: string): string {
  const words = name.split(/[-_.]/).filter((word) => !['mcp', 'server', ''].includes(word.toLowerCase()))
  return words.length === 0 ? name : words.join('-')
}
