// Checks the hooks of a settings file of Claude Code. It drops a whole settings file because of one invalid hook, without a message.

const TYPES: Readonly<Record<string, string>> = {
  command: 'command',
  http: 'url',
  prompt: 'prompt',
  agent: 'prompt',
  mcp_tool: 'tool',
}

/** The place of the first invalid hook, such as `hooks.PreToolUse[0].hooks[1].timeout`; undefined if all are valid. */
export function invalidHook(settings: unknown): string | undefined {
  const hooks = memberOf(settings, 'hooks')
  if (hooks === undefined) return undefined
  if (!isRecord(hooks)) return 'hooks'
  return firstOf(Object.entries(hooks), ([event, groups]) =>
    Array.isArray(groups)
      ? firstOf(groups.entries(), ([i, group]) => invalidGroup(group, `hooks.${event}[${i}]`))
      : `hooks.${event}`,
  )
}

function invalidGroup(group: unknown, place: string): string | undefined {
  if (!isRecord(group)) return place
  const { matcher, hooks } = group
  if (matcher !== undefined && typeof matcher !== 'string') return `${place}.matcher`
  if (!Array.isArray(hooks)) return `${place}.hooks`
  return firstOf(hooks.entries(), ([i, hook]) => invalidEntry(hook, `${place}.hooks[${i}]`))
}

function invalidEntry(hook: unknown, place: string): string | undefined {
  if (!isRecord(hook)) return place
  const { type, timeout, onFailure } = hook
  const needed = typeof type === 'string' && Object.hasOwn(TYPES, type) ? TYPES[type] : undefined
  if (needed === undefined) return `${place}.type`
  if (typeof hook[needed] !== 'string') return `${place}.${needed}`
  if (timeout !== undefined && !(typeof timeout === 'number' && timeout > 0)) return `${place}.timeout`
  const isKnown = onFailure === undefined || onFailure === 'block' || onFailure === 'continue'
  return isKnown ? undefined : `${place}.onFailure`
}

function firstOf<T>(all: Iterable<T>, check: (each: T) => string | undefined): string | undefined {
  for (const each of all) {
    const found = check(each)
    if (found !== undefined) return found
  }
  return undefined
}

function memberOf(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
