// The catalogue: the known tools, their definitions, and the definition of each that a person pinned.

import { canonicalize, sha256Hex, type JsonObject } from '@tollgate/evidence/core'
import type { Policy, ToolDeclaration } from '../policy/parse/parse.ts'
import type { ArgumentsSchema } from '../gates/schema/schema.ts'
import { createSpellings, type Spellings } from '../spellings.ts'
import { DETECTORS } from '../gates/index.ts'

/** The complete definition of a tool as its server gives it: description, schemas and annotations. */
export interface Definition {
  readonly hash: string
  readonly text: string
  readonly content: JsonObject
}

/** The facts about a tool that a call is judged with. */
export interface KnownTool {
  /** The declaration in the policy, if there is one. */
  readonly declared: ToolDeclaration | undefined
  /** Hash of the definition that its server offers now. */
  readonly offered: string | undefined
  /** Hash of the definition that a person pinned. */
  readonly pinned: string | undefined
  /** The argument schemas, pinned and declared. The arguments must match all of them. */
  readonly schemas: readonly ArgumentsSchema[]
}

/** The catalogue of a kernel. Pins survive a restart; servers offer their definitions again. */
export interface Catalogue {
  /** Stores the definition that a server offers for a tool; returns false if the catalogue is full. */
  offer(tool: string, definition: Definition): boolean
  /** Removes the definition that a server no longer offers. */
  withdraw(tool: string): void
  /** Compiles the schema of a definition to pin. No other schema is compiled. @throws KernelError `SCHEMA_REFUSED`. */
  prepare(definition: Definition): Pinned
  /** Sets or removes a pin. */
  setPin(tool: string, pinned: Pinned | undefined): void
  /** Returns the offered definition, for a person to review. */
  offered(tool: string): Definition | undefined
  /** Hash of the definition that a person pinned. */
  pinned(tool: string): string | undefined
  /** Returns the names of all offered or pinned tools, sorted. */
  names(): readonly string[]
  /** How often a pin was set or removed. A list of tools is out of date once this changes. */
  readonly changes: number
  /** How often an offered definition was new or different. */
  readonly offerChanges: number
  /** Returns the facts about a tool under a policy, by its canonical name; undefined if the tool is unknown. */
  find(tool: string, policy: Policy): KnownTool | undefined
  /**
   * Returns the tools that a name can mean: tools that are offered or pinned, or that the policy declares without `*`. Several if
   * the name is ambiguous, none if no tool has it.
   */
  meant(name: string, policy: Policy): readonly string[]
  /** Returns the facts about the tool that a name means; of the name itself if it is unknown or ambiguous. */
  findNamed(name: string, policy: Policy): KnownTool | undefined
}

/** A pinned definition with its compiled schema. */
export interface Pinned {
  readonly hash: string
  readonly schema: ArgumentsSchema | undefined
}

// Limits the memory that invented tool names can use.
const MAX_REMEMBERED = 4096
const MAX_OFFERED = 64 << 20

/** Returns a server's definition in canonical form. @throws EvidenceError if it is not plain JSON. */
export function definitionOf(content: JsonObject): Definition {
  const text = canonicalize(content)
  return { hash: sha256Hex(text), text, content }
}

/** Returns an empty catalogue. */
export function createCatalogue(): Catalogue {
  const offers = new Map<string, Definition>()
  const pins = new Map<string, Pinned>()
  // A cache of facts by policy and tool name. Any change clears all of it.
  let remembered = new WeakMap<Policy, Map<string, KnownTool | undefined>>()
  let spellings = new WeakMap<Policy, Spellings>()
  const forget = (): void => {
    remembered = new WeakMap()
    spellings = new WeakMap()
  }
  let changes = 0
  let offerChanges = 0
  let size = 0

  const catalogue: Catalogue = {
    get changes() {
      return changes
    },
    get offerChanges() {
      return offerChanges
    },
    offer(tool, definition) {
      const before = offers.get(tool)
      if (before?.hash === definition.hash) return true
      const grown = size - (before?.text.length ?? 0) + definition.text.length
      if (grown > MAX_OFFERED) return false
      size = grown
      offers.set(tool, definition)
      offerChanges++
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
    meant(name, policy) {
      const known =
        spellings.get(policy) ?? createSpellings([...offers.keys(), ...pins.keys(), ...declaredIn(policy)])
      spellings.set(policy, known)
      return known.meant(name)
    },
    findNamed(name, policy) {
      const [only = name, ...others] = catalogue.meant(name, policy)
      return catalogue.find(others.length > 0 ? name : only, policy)
    },
  }
  return catalogue
}

function declaredIn({ tools }: Policy): readonly string[] {
  return tools.flatMap(({ name }) => (name.exact ? name.source : []))
}

/** The facts about the tool that a door adds to one call. */
interface Known {
  /** Hash of the definition that the server behind this call offers; null if it offers none. */
  readonly offered: string | null | undefined
  /** The argument schema in the request. */
  readonly demanded: { readonly schema: ArgumentsSchema } | undefined
}

/** Combines the facts of the catalogue with those of the door. */
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

/** Returns the schema of the arguments: `inputSchema` in MCP. @throws KernelError `SCHEMA_REFUSED`. */
function schemaOf(content: JsonObject): ArgumentsSchema | undefined {
  const schema = content['inputSchema']
  return schema === undefined ? undefined : DETECTORS.schema.compile(schema)
}
