// The spellings of tools. `files/read` is the canonical name of a tool. Model providers refuse `/`, and clients add prefixes of their
// own, so the same tool arrives as `files__read` or `mcp__files__read`. One table says which tools a name can mean.

import { sha256Hex } from '@tollgate/evidence/core'

/** A tool of a server: `SERVER/TOOL`. A name with `:` is another feature of a server and has no spellings. */
const OF_A_SERVER = /^([^/:]+)\/(.+)$/s
/** The characters and the length that all model providers accept. */
const FORBIDDEN = /[^a-zA-Z0-9_-]/g
const MAX_LENGTH = 64
const HASH_LENGTH = 8
const PLAIN = /^[a-zA-Z0-9_-]+$/

/** Returns the name of a tool for model providers: `files__read` for `files/read`. It fits `^[a-zA-Z0-9_-]{1,64}$`. */
export function plainName(tool: string): string {
  const whole = wholeName(tool)
  if (whole.length <= MAX_LENGTH) return whole
  // Two long names can begin alike, so the hash is that of the canonical name.
  const hash = sha256Hex(tool.toWellFormed()).slice(0, HASH_LENGTH)
  return `${whole.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${hash}`
}

function wholeName(tool: string): string {
  const [, server, own] = OF_A_SERVER.exec(tool) ?? []
  return (server === undefined ? tool : `${server}__${own}`).replace(FORBIDDEN, '_')
}

/**
 * Returns the other names of a tool of a server, which are not in canonical form. Clients such as Claude Code write `mcp__`, the name
 * of the server, `__` and the name of the tool; for them the merged endpoint is a server with the name `tollgate`.
 */
function spellingsOf(tool: string): readonly string[] {
  if (!OF_A_SERVER.test(tool)) return []
  const [plain, whole] = [plainName(tool), wholeName(tool)]
  return [...new Set([plain, whole, `mcp__${whole}`, `mcp__tollgate__${plain}`])]
}

/** The tools that names can mean. */
export interface Spellings {
  /** Returns the tools that a name can mean, sorted. A canonical name means itself; none if no known tool has this name. */
  meant(name: string): readonly string[]
}

/** Returns the table for these canonical names. */
export function createSpellings(tools: Iterable<string>): Spellings {
  const known = new Set(tools)
  const spelled = new Map<string, string[]>()
  for (const tool of known) {
    for (const name of spellingsOf(tool)) spelled.set(name, [...(spelled.get(name) ?? []), tool])
  }
  return {
    meant(name) {
      const own = known.has(name) ? [name] : []
      // A spelling has only these characters. Any other name is canonical.
      return PLAIN.test(name) ? [...own, ...(spelled.get(name) ?? [])].sort() : own
    },
  }
}
