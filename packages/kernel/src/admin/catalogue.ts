// The catalogue: which tools there are, what they do, and which definition of each a person has pinned.

import { canonicalize, sha256Hex, type JsonObject } from '@tollgate/evidence/core'
import type { Policy, ToolDeclaration } from '../policy/parse/parse.ts'
import type { ArgumentsSchema } from '../gates/schema/schema.ts'
import { DETECTORS } from '../gates/index.ts'

/** A tool's definition as its server gives it: description, schemas and annotations, all of it. */
export interface Definition {
  readonly hash: string
  readonly text: string
  readonly content: JsonObject
}

/** What is known of a tool when a call for it comes. */
export interface KnownTool {
  /** What the policy says about it, if it does. */
  readonly declared: ToolDeclaration | undefined
  /** Hash of the definition its server offers now. */
  readonly offered: string | undefined
  /** Hash of the definition that a person pinned. */
  readonly pinned: string | undefined
  /** The schemas of its arguments, pinned and declared: all of them must hold. */
  readonly schemas: readonly ArgumentsSchema[]
}

/** The catalogue of a kernel. Pins outlive a restart; what is offered is offered anew. */
export interface Catalogue {
  /** Notes the definition that a server offers for a tool now; false if there is no room for another. */
  offer(tool: string, definition: Definition): boolean
  /** Notes that a server no longer offers the tool. */
  withdraw(tool: string): void
  /** Compiles the schema of a definition that a person pins; never of any other. @throws KernelError `SCHEMA_REFUSED`. */
  prepare(definition: Definition): Pinned
  /** Notes a pin or the end of one. */
  setPin(tool: string, pinned: Pinned | undefined): void
  /** The definition on offer, for a person to look at. */
  offered(tool: string): Definition | undefined
  /** Hash of the definition that a person pinned. */
  pinned(tool: string): string | undefined
  /** Names of all tools that are offered or pinned, in order. */
  names(): readonly string[]
  /** How often a pin was set or released: whoever shows tools looks here whether something has changed. */
  readonly changes: number
  /** What is known of a tool under a policy; undefined if it is in no catalogue. */
  find(tool: string, policy: Policy): KnownTool | undefined
}

/** A pinned definition, ready to be used. */
export interface Pinned {
  readonly hash: string
  readonly schema: ArgumentsSchema | undefined
}

// Names that strangers invent must not fill the memory.
const MAX_REMEMBERED = 4096
const MAX_OFFERED = 64 << 20

/** A definition from a server, made canonical. @throws EvidenceError if it is not plain JSON. */
export function definitionOf(content: JsonObject): Definition {
  const text = canonicalize(content)
  return { hash: sha256Hex(text), text, content }
}

/** An empty catalogue. */
export function createCatalogue(): Catalogue {
  const offers = new Map<string, Definition>()
  const pins = new Map<string, Pinned>()
  // What is known of a tool, by policy and name. Few things change it, and then all of it is looked up anew.
  let remembered = new WeakMap<Policy, Map<string, KnownTool | undefined>>()
  const forget = (): void => void (remembered = new WeakMap())
  let changes = 0
  let size = 0

  return {
    get changes() {
      return changes
    },
    offer(tool, definition) {
      const before = offers.get(tool)
      if (before?.hash === definition.hash) return true
      const grown = size - (before?.text.length ?? 0) + definition.text.length
      if (grown > MAX_OFFERED) return false
      size = grown
      offers.set(tool, definition)
      forget()
      return true
    },
    withdraw(tool) {
      size -= offers.get(tool)?.text.length ?? 0
      offers.delete(tool)
      forget()
    },
    prepare: ({ hash, content }) => ({ hash, schema: schemaOf(content) }),
    setPin(tool, pinned) {
      if (pinned) pins.set(tool, pinned)
      else pins.delete(tool)
      changes++
      forget()
    },
    offered: (tool) => offers.get(tool),
    pinned: (tool) => pins.get(tool)?.hash,
    names: () => [...new Set([...offers.keys(), ...pins.keys()])].sort(),
    find(tool, policy) {
      const known = remembered.get(policy) ?? new Map<string, KnownTool | undefined>()
      if (known.size === 0) remembered.set(policy, known)
      if (known.has(tool)) return known.get(tool)
      if (known.size > MAX_REMEMBERED) known.clear()
      const found = find(tool, policy, offers.get(tool), pins.get(tool))
      known.set(tool, found)
      return found
    },
  }
}

/** What a door knows of the tool of one call. */
interface Known {
  /** Which definition the server behind this very call offers; null if none. */
  readonly offered: string | null | undefined
  /** What the request itself says its arguments must be. */
  readonly demanded: { readonly schema: ArgumentsSchema } | undefined
}

/** What is known of a tool, with what its door knows of it. */
export function knownAs(tool: KnownTool | undefined, { offered, demanded }: Known): KnownTool | undefined {
  if (offered === null) return undefined
  const known =
    offered === undefined || tool?.offered === offered ? tool : { ...(tool ?? NOTHING_KNOWN), offered }
  return known && demanded ? { ...known, schemas: [...known.schemas, demanded.schema] } : known
}

const NOTHING_KNOWN: KnownTool = { declared: undefined, offered: undefined, pinned: undefined, schemas: [] }

function find(
  tool: string,
  policy: Policy,
  offered: Definition | undefined,
  pinned: Pinned | undefined,
): KnownTool | undefined {
  const exact = policy.tools.find(({ name }) => name.exact && name.matches(tool))
  const declared = exact ?? policy.tools.find(({ name }) => name.matches(tool))
  if (!declared && !offered && !pinned) return undefined
  return {
    declared,
    offered: offered?.hash,
    pinned: pinned?.hash,
    schemas: [pinned?.schema, declared?.schema].filter((schema) => schema !== undefined),
  }
}

/** The schema of a definition's arguments: `inputSchema`, as MCP names it. @throws KernelError `SCHEMA_REFUSED`. */
function schemaOf(content: JsonObject): ArgumentsSchema | undefined {
  const schema = content['inputSchema']
  return schema === undefined ? undefined : DETECTORS.schema.compile(schema)
}
