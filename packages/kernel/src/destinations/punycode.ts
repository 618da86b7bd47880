// Encodes labels with non-ASCII letters as punycode (RFC 3492): `xn--…`.

const BASE = 36
const T_MIN = 1
const T_MAX = 26

/** Returns the `xn--` form of a label. The caller must map and check its characters first. */
export function toPunycode(label: string): string {
  const points = Array.from(label, (character) => character.codePointAt(0) ?? 0)
  const basic = points.filter((point) => point < 0x80)
  let output = `xn--${String.fromCharCode(...basic)}${basic.length > 0 ? '-' : ''}`
  let [n, delta, bias, handled] = [0x80, 0, 72, basic.length]
  while (handled < points.length) {
    const next = Math.min(...points.filter((point) => point >= n))
    delta += (next - n) * (handled + 1)
    n = next
    for (const point of points) {
      if (point < n) delta++
      if (point !== n) continue
      output += variableLength(delta, bias)
      bias = adapt(delta, handled + 1, handled === basic.length)
      delta = 0
      handled++
    }
    delta++
    n++
  }
  return output
}

function variableLength(delta: number, bias: number): string {
  let digits = ''
  let rest = delta
  for (let k = BASE; ; k += BASE) {
    const t = Math.min(Math.max(k - bias, T_MIN), T_MAX)
    if (rest < t) return digits + digit(rest)
    digits += digit(t + ((rest - t) % (BASE - t)))
    rest = Math.floor((rest - t) / (BASE - t))
  }
}

function adapt(delta: number, handled: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? 700 : 2))
  rest += Math.floor(rest / handled)
  let k = 0
  for (; rest > ((BASE - T_MIN) * T_MAX) / 2; k += BASE) rest = Math.floor(rest / (BASE - T_MIN))
  return k + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + 38))
}

function digit(value: number): string {
  return 'abcdefghijklmnopqrstuvwxyz0123456789'.charAt(value)
}
