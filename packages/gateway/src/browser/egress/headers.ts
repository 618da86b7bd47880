// Removes the headers that concern only the connection between two neighbours, and everything about proxies.

const HOP: ReadonlySet<string> = new Set([
  ...[
    'connection',
    'keep-alive',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
    'expect',
    'http2-settings',
  ],
])

/** The headers to pass on, as names and values in turn. `without` is also left out. */
export function endToEnd(raw: readonly string[], without: readonly string[] = []): string[] {
  const pairs = pairsOf(raw)
  const named = pairs
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(',').map((each) => each.trim().toLowerCase()))
  return pairs
    .filter(([name]) => {
      const lower = name.toLowerCase()
      return (
        !HOP.has(lower) && !lower.startsWith('proxy-') && !named.includes(lower) && !without.includes(lower)
      )
    })
    .flat()
}

function pairsOf(raw: readonly string[]): readonly (readonly [string, string])[] {
  return Array.from({ length: raw.length / 2 }, (_, i) => [raw[2 * i] ?? '', raw[2 * i + 1] ?? ''] as const)
}
