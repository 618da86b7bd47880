// Recognises the command that puts an MCP server behind the gateway: `tollgate mcp -- COMMAND`.

/** A program with its arguments, as the configuration of a client has it. */
export interface Program {
  readonly command: string
  readonly args: readonly string[]
}

/** The program that `tollgate mcp --` starts, and the name that it was given. */
interface Wrapped {
  readonly inner: Program
  readonly name: string | undefined
}

const OURS = /(?:^|[/\\])tollgate(?:\.mjs|\.cmd|\.exe)?$/

/** Returns the program that `tollgate mcp --` starts; undefined if the given one is not `tollgate mcp --`. */
export function wrappedIn({ command, args }: Program): Wrapped | undefined {
  const words = [command, ...args]
  const at = words.findIndex((word, i) => i > 0 && word === 'mcp' && OURS.test(words[i - 1] ?? ''))
  const end = at === -1 ? -1 : words.indexOf('--', at)
  const [inner, ...rest] = end === -1 ? [] : words.slice(end + 1)
  if (inner === undefined) return undefined
  const named = words.slice(at, end).indexOf('--name')
  const name = named === -1 ? undefined : words[at + named + 1]
  return { inner: { command: inner, args: rest }, name }
}
