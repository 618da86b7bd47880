import { always, deny, escalate, type Gate } from '../gate.ts'

/**
 * Objects to a tool that nobody knows, whose definition nobody pinned or that has changed since, and to arguments that
 * do not fit its schema.
 */
export const schema: Gate = {
  name: 'schema',
  standing: always,
  check({ args }, { tool }) {
    if (!tool) return deny('DENY_TOOL_NOT_FOUND')
    const { offered, pinned, schemas } = tool
    // What is pinned and what a server offers must be the same; a server that offers nothing has not changed anything.
    if (pinned !== undefined && offered !== undefined && offered !== pinned)
      return deny('TOOL_DEFINITION_CHANGED')
    if (typeof args !== 'object' || args === null || Array.isArray(args)) {
      return deny('SCHEMA_VIOLATION', 'arguments must be an object')
    }
    for (const each of schemas) {
      const problem = each.check(args)
      if (problem) return deny('SCHEMA_VIOLATION', `\`${problem.at}\` ${problem.problem}`)
    }
    return offered !== undefined && pinned === undefined ? escalate('TOOL_NOT_PINNED') : undefined
  },
}
