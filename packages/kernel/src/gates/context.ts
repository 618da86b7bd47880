import { deny, type Gate } from './gate.ts'

/** Objects to a call from an environment, tenant or workspace that the policy is not for. A missing name matches no list. */
export const context: Gate = {
  name: 'context',
  standing({ context: { environments, tenants, workspaces } }) {
    return environments.length + tenants.length + workspaces.length > 0 ? 'active' : 'not configured'
  },
  check({ tenant, context: said, misplaced }, { policy: { context: policy } }) {
    if (misplaced) return deny('CONTEXT_MISMATCH', 'the call names a context that is not its own')
    // A call can name only the tenant of its credential.
    if (said.tenant !== undefined && said.tenant !== tenant) return deny('CONTEXT_MISMATCH', '`tenant`')
    if (outside(policy.tenants, tenant)) return deny('CONTEXT_MISMATCH', '`tenant`')
    if (outside(policy.environments, said.environment)) return deny('CONTEXT_MISMATCH', '`environment`')
    return outside(policy.workspaces, said.workspace) ? deny('CONTEXT_MISMATCH', '`workspace`') : undefined
  },
}

function outside(allowed: readonly string[], name: string | undefined): boolean {
  return allowed.length > 0 && (name === undefined || !allowed.includes(name))
}
