// `tollgate policy schema`: prints the JSON Schema of policy files or case files.

import { CASE_SCHEMA } from '../../workbench/case-schema.ts'
import { POLICY_SCHEMA, policySchemaText } from '../../workbench/policy-schema.ts'
import type { Terminal } from '../program/terminal.ts'

interface SchemaOptions {
  readonly cases?: boolean
}

/** Prints a schema. */
export function runSchema(terminal: Terminal, options: SchemaOptions): Promise<number> {
  if (options.cases === true) terminal.exact(CASE_SCHEMA, JSON.stringify(CASE_SCHEMA, null, 2))
  else terminal.exact(POLICY_SCHEMA, policySchemaText())
  return Promise.resolve(0)
}
