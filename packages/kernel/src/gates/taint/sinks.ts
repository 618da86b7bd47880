// Decides which arguments of a call are sinks.

/** Whether an argument is a sink. If no sinks are declared, every argument is. */
export function isSink(path: string, sinks: readonly string[]): boolean {
  return sinks.length === 0 || sinks.some((sink) => isUnder(path, sink))
}

function isUnder(path: string, declared: string): boolean {
  const plain = declared.replaceAll('[*]', '')
  return path === plain || path.startsWith(`${plain}.`)
}
