// The JSON Schema of policy files as it is published, for editors: completion, help and a first check.

import { POLICY_SCHEMA } from '@tollgate/kernel/policy'

export { POLICY_SCHEMA } from '@tollgate/kernel/policy'

/** The schema as it is published. */
export function policySchemaText(): string {
  return `${JSON.stringify(POLICY_SCHEMA, null, 2)}\n`
}
