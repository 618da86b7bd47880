// A gate's section of a policy file: its parser, editor schema, formatting and comparison.

import type { JsonObject, LadderStep } from '@tollgate/evidence/core'
import type { Place, Reader } from './read.ts'

/** The settings of one gate under `gates`. The parser, the editor schema, `policy fmt` and `policy diff` use it. */
export interface GateSection<Settings> {
  /** The name in the policy file, as in the ladder. */
  readonly name: LadderStep
  /** Parses the section. Missing settings get their defaults. Mistakes are noted, and parsing continues. */
  read(reader: Reader, place: Place | undefined): Settings
  /** For editors; `policy fmt` uses the same order. A gate that is configured elsewhere has none. */
  readonly schema?: JsonObject
  /** Parts that the schema refers to, by name. */
  readonly parts?: Readonly<Record<string, JsonObject>>
  readonly quoted?: Quoted
  /** The changes that single calls show; by default all of them, at the gate's own step. */
  readonly calls?: Shown<NonNullable<Settings>>
  /** The changes that only a history, an output or a person shows; by default none. */
  readonly history?: Shown<NonNullable<Settings>>
  /** The gate uses the contents of texts and the origin of data, so both are scanned and kept. */
  readonly remembersData?: boolean
  /** Returns whether the settings count something for more than one principal. */
  sharesTenant?(settings: Settings): boolean
}

/**
 * The texts that `policy fmt` quotes: names that may contain `*`, and texts that YAML could misread. Given by path, with `*` for any member
 * of a mapping with free names. Items have the path of their list.
 */
export interface Quoted {
  /** Mappings with such keys. */
  readonly keys?: readonly string[]
  /** Texts, or lists of texts. */
  readonly texts?: readonly string[]
}

/** Where to look for a change of settings. */
export interface Shown<Settings> {
  /** Returns the part that counts; by default all. Undefined if nothing could be lost. */
  of?(settings: Settings): unknown
  /** The steps at which a call shows the change; by default its own. */
  readonly rungs?: readonly LadderStep[]
  /** Returns whether a change can only allow less; by default it may allow more. */
  isStricter?(before: Settings, after: Settings): boolean
}
