// Which arguments of a call have consequences.

/** Where no sinks are declared, every argument may be one. */
export function isSink(path: string, sinks: readonly string[]): boolean {
  return sinks.length === 0 || sinks.some((sink) => isUnder(path, sink))
}

/** Whether a path is the declared one, or below it. */
function isUnder(path: string, declared: string): boolean {
  const plain = declared.replaceAll('[*]', '')
  return path === plain || path.startsWith(`${plain}.`)
}
