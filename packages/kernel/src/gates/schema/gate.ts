import { always, deny, escalate, type Gate } from '../gate.ts'

/**
 * Objects to an unknown tool, to a tool whose definition is not pinned or differs from its pin, and to arguments that do not
 * match its schema.
 */
export const schema: Gate = {
  name: 'schema',
  standing: always,
  check({ args, tool: name, unclear }, { tool }) {
    if (!tool) return deny('DENY_TOOL_NOT_FOUND', unclear && candidatesText(name, unclear))
    const { offered, pinned, schemas } = tool
    // The offered definition must equal the pin. A server that offers no definition has not changed it.
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

/** Names the tools that an ambiguous name can mean. */
function candidatesText(name: string, unclear: readonly string[]): string {
  const listed = unclear.map((tool) => `\`${tool}\``).join(' or ')
  return `\`${name}\` can mean ${listed}; call the tool by one of these names`
}
