// Patterns in the model.

/** Whether a name matches a pattern. `*` matches any characters. */
export function matches(pattern: string, name: string): boolean {
  if (pattern === '' || (name === '' && !pattern.startsWith('*'))) return name === pattern
  if (!pattern.startsWith('*'))
    return pattern.startsWith(name.charAt(0)) && matches(pattern.slice(1), name.slice(1))
  return matches(pattern.slice(1), name) || (name !== '' && matches(pattern, name.slice(1)))
}

/** Whether a name matches one of the patterns. An empty list matches everything. */
export function fits(patterns: readonly string[], name = '(nobody)'): boolean {
  return patterns.length === 0 || patterns.some((pattern) => matches(pattern, name))
}
