import { always, deny, type Gate } from './gate.ts'

/** Objects while the whole gateway, the principal, the tool or the session is frozen. */
export const freeze: Gate = {
  name: 'freeze',
  standing: always,
  check(intent, { freezes }) {
    if (freezes.all()) return deny('SYSTEM_FROZEN')
    if (freezes.principal(intent)) return deny('AGENT_KILLED')
    if (freezes.tool(intent)) return deny('TOOL_FROZEN')
    return freezes.session(intent) ? deny('SESSION_FROZEN') : undefined
  },
}
