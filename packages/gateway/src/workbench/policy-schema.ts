// The published JSON Schema of policy files, for editors.

import { POLICY_SCHEMA } from '@tollgate/kernel/policy'

export { POLICY_SCHEMA } from '@tollgate/kernel/policy'

export function policySchemaText(): string {
  return `${JSON.stringify(POLICY_SCHEMA, null, 2)}\n`
}
