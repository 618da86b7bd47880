// Reads `gates.scope`: whether every session must have a scope.

import { about, keysOf, record, TRUE_OR_FALSE } from '../../policy/reader/schema.ts'
import type { GateSection } from '../../policy/reader/section.ts'

/** The settings of the scope gate. */
export interface ScopeSettings {
  /** Side effects of a session without a scope are escalated. */
  readonly required: boolean
}

const SCHEMA = record(
  'Scopes of tasks',
  'Whether every session must be opened with a scope. A session with a scope is always checked against it.',
  {
    required: about('Side effects of a session without a scope are escalated.', TRUE_OR_FALSE),
  },
)

/** `gates.scope`. */
export const scopeSettings: GateSection<ScopeSettings | undefined> = {
  name: 'scope',
  read(reader, place) {
    if (!place) return undefined
    const fields = reader.fields(place, keysOf(SCHEMA))
    return { required: (fields?.required && reader.flag(fields.required, '`required`')) ?? false }
  },
  schema: SCHEMA,
  calls: { of: ({ required }) => required || undefined },
}
