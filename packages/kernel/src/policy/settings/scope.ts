// `gates.scope`: whether every session must have a scope.

import type { Place, Reader } from '../read.ts'

/** The settings of the scope rung. */
export interface ScopeSettings {
  /** Side effects of a session without a scope are asked about. */
  readonly required: boolean
}

/** Reads `scope`; what is not said has its default. */
export function readScopeSettings(reader: Reader, place: Place): ScopeSettings {
  const fields = reader.fields(place, ['required'])
  return { required: (fields?.required && reader.flag(fields.required, '`required`')) ?? false }
}
