// A gate's section of a policy file, as one item: what reads it, shows it to editors, lays it out and compares it.

import type { JsonObject, LadderStep } from '@tollgate/evidence/core'
import type { Place, Reader } from './read.ts'

/** The settings of one rung under `gates`. The parser, the editors' schema, `policy fmt` and `policy diff` are made from it. */
export interface GateSection<Settings> {
  /** How the policy file names it: as the ladder does. */
  readonly name: LadderStep
  /** Reads the section; what is not said has its default. Mistakes are noted, and reading goes on. */
  read(reader: Reader, place: Place | undefined): Settings
  /** For editors; its order is also that of `policy fmt`. A rung that is configured elsewhere has none. */
  readonly schema?: JsonObject
  /** Parts that the schema refers to, by name. */
  readonly parts?: Readonly<Record<string, JsonObject>>
  readonly quoted?: Quoted
  /** What single calls show of a change; left out, all of it at its own rung. */
  readonly calls?: Shown<NonNullable<Settings>>
  /** What only a history, an answer or a person shows of a change; left out, nothing. */
  readonly history?: Shown<NonNullable<Settings>>
  /** It acts on what texts hold and where data came from, so that both are read and remembered. */
  readonly remembersData?: boolean
  /** Whether the settings count something for more than one principal. */
  sharesTenant?(settings: Settings): boolean
}

/**
 * What `policy fmt` writes in quotes: names that may hold a `*`, and texts that YAML could take for something else. By path,
 * with `*` for any member of a mapping with free names; items have the path of their list.
 */
export interface Quoted {
  /** Mappings whose keys are such names. */
  readonly keys?: readonly string[]
  /** Texts, or lists of them. */
  readonly texts?: readonly string[]
}

/** What of some settings a change is looked for in. */
export interface Shown<Settings> {
  /** The part that counts; left out, all of it. Undefined where there is nothing that could be lost. */
  of?(settings: Settings): unknown
  /** The rungs at which a call would show it; left out, its own. */
  readonly rungs?: readonly LadderStep[]
  /** Whether a change from one to the other can only let less pass; left out, it may let more pass. */
  isStricter?(before: Settings, after: Settings): boolean
}
