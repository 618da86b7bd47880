// Reads IPv4 and IPv6 literals in every spelling that some resolver accepts.

/** Returns whether this last label makes the host an IPv4 address for `inet_aton` and browsers. */
export function isNumeric(label: string): boolean {
  return /^(?:[0-9]+|0x[0-9a-f]*)$/.test(label)
}

/**
 * Returns the addresses that a host with a numeric last label can mean, in dotted decimal. Contains an empty string if it is
 * unreadable here: overflow, an octal 8, more than four parts, a part that is no number. `inet_aton` and browsers read `0177` as
 * octal, `0x7f` as hexadecimal and `127.1` as `127.0.0.1`. Others read `010.0.0.1` as `10.0.0.1`. If they differ, both are
 * returned.
 */
export function ipv4Readings(labels: readonly string[]): readonly string[] {
  if (labels.length > 4 || !labels.every(isNumeric)) return ['']
  const classic = ipv4(labels.map(classicPart))
  if (labels.length < 4 || !labels.some((label) => /^0[0-9]/.test(label))) return [classic]
  const decimal = ipv4(labels.map((label) => (/^[0-9]+$/.test(label) ? Number(label) : NaN)))
  return classic === decimal ? [classic] : [classic, decimal]
}

/** Reads a part like `inet_aton`; NaN for `08` and for a bare `0x`, on which parsers differ. */
function classicPart(label: string): number {
  if (label.startsWith('0x')) return label.length > 2 ? Number(label) : NaN
  if (!/^0[0-9]/.test(label)) return Number(label)
  return /^[0-7]+$/.test(label) ? Number.parseInt(label, 8) : NaN
}

/** The last part fills the remaining bytes, as in `127.1`. Returns an empty string if a part is too large. */
function ipv4(parts: readonly number[]): string {
  const last = parts.at(-1) ?? NaN
  const leading = parts.slice(0, -1)
  const limit = 256 ** (4 - leading.length)
  if (!leading.every((part) => part < 256) || !(last < limit)) return ''
  return dotted(leading.reduce((sum, part, index) => sum + part * 256 ** (3 - index), last))
}

/** Returns a 32-bit number in dotted decimal. */
function dotted(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.')
}

/** Returns the four bytes of a strict dotted-decimal address (no leading zeros), or undefined. */
export function parseIpv4(text: string): readonly number[] | undefined {
  if (!/^(?:0|[1-9][0-9]{0,2})(?:\.(?:0|[1-9][0-9]{0,2})){3}$/.test(text)) return undefined
  const bytes = text.split('.').map(Number)
  return bytes.every((byte) => byte < 256) ? bytes : undefined
}

/**
 * Returns the eight groups of an IPv6 address (RFC 4291, 2.2, also with a dotted IPv4 tail), or undefined. No brackets, no zone.
 */
export function parseIpv6(text: string): readonly number[] | undefined {
  if (text.length > 45 || !/^[0-9a-f:.]+$/i.test(text)) return undefined
  const halves = text.split('::')
  const head = groups(halves[0] ?? '', halves.length === 1)
  const tail = halves.length === 1 ? [] : groups(halves[1] ?? '', true)
  if (halves.length > 2 || head === undefined || tail === undefined) return undefined
  const missing = 8 - head.length - tail.length
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined
  return [...head, ...new Array<number>(missing).fill(0), ...tail]
}

/** Returns the groups of one side of `::`. Only the last side can end with an IPv4 address. */
function groups(text: string, isLast: boolean): readonly number[] | undefined {
  if (text === '') return []
  const parts = text.split(':')
  const quad = isLast ? parseIpv4(parts.at(-1) ?? '') : undefined
  const words = quad === undefined ? parts : parts.slice(0, -1)
  if (!words.every((word) => /^[0-9a-f]{1,4}$/i.test(word))) return undefined
  const numbers = words.map((word) => Number.parseInt(word, 16))
  if (quad === undefined) return numbers
  const [a = 0, b = 0, c = 0, d = 0] = quad
  return [...numbers, a * 256 + b, c * 256 + d]
}

/**
 * Returns the hosts that an IPv6 address means. An IPv4-mapped address (`::ffff:127.0.0.1`) is the IPv4 host, so only that is
 * returned. Addresses through which a translator or tunnel reaches an IPv4 host (compatible, translated, NAT64, 6to4) are
 * returned as both.
 */
export function ipv6Readings(address: readonly number[]): readonly string[] {
  const [a, b, c, d, e, f, g = 0, h = 0] = address
  const tail = dotted(g * 65536 + h)
  const zeros = a === 0 && b === 0 && c === 0 && d === 0
  if (zeros && e === 0 && f === 0xffff) return [tail]
  const compatible = zeros && e === 0 && f === 0 && g !== 0
  const translated = zeros && e === 0xffff && f === 0
  if (compatible || translated || (a === 0x64 && b === 0xff9b)) return [formatIpv6(address), tail]
  if (a === 0x2002) return [formatIpv6(address), dotted((b ?? 0) * 65536 + (c ?? 0))]
  return [formatIpv6(address)]
}

/** RFC 5952: lower case, with the first longest run of two or more zero groups as `::`. */
function formatIpv6(address: readonly number[]): string {
  let [start, length] = [0, 1]
  for (let from = 0; from < 8; from++) {
    let run = 0
    while (address[from + run] === 0) run++
    if (run > length) [start, length] = [from, run]
  }
  const hex = address.map((group) => group.toString(16))
  if (length < 2) return hex.join(':')
  return `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`
}
