// The patterns of allow, ask and deny lists.

import { parseIpv4, parseIpv6 } from './address.ts'
import { defaultPort, type Target } from './destination.ts'
import { readHost } from './host.ts'

/** Which hosts a pattern is for. */
type Hosts =
  | { readonly kind: 'all' }
  | { readonly kind: 'exactly'; readonly host: string }
  | { readonly kind: 'below'; readonly host: string }
  | { readonly kind: 'network'; readonly bytes: readonly number[]; readonly bits: number }

/** A parsed pattern; {@link parseHostPattern} makes them. */
export interface HostPattern {
  /** The scheme it is for; undefined for every scheme. */
  readonly scheme: string | undefined
  readonly hosts: Hosts
  /** The port it is for; undefined for those that need no naming; `*` for every port. */
  readonly port: number | '*' | undefined
}

/**
 * Parses a pattern of a policy, or says in words what is wrong with it.
 *
 * `example.com` is exactly that host, `*.example.com` any host below it but not itself, `10.0.0.0/8` and
 * `2001:db8::/32` the addresses of a network, `*` everything that can be read. `example.com:8443` and `[::1]:8080` are
 * for that port, `example.com:*` for any, `https://example.com` and `mailto:example.com` for that scheme. Hosts are
 * normalised as destinations are; one that could be read in two ways is a mistake.
 */
export function parseHostPattern(text: string): HostPattern | string {
  if (text === '*') return { scheme: undefined, hosts: { kind: 'all' }, port: '*' }
  const network = readNetwork(text)
  if (network !== undefined) return network
  const scheme = /^(?:[a-z][a-z0-9+.-]*(?=:\/\/)|mailto(?=:))/i.exec(text)?.[0]
  const rest = scheme === undefined ? text : text.slice(scheme.length).replace(/^:(?:\/\/)?/, '')
  if (rest.includes('/'))
    return `\`${text}\` is no host pattern; write a host such as \`example.com\`, without a path`
  const [host, stated] = splitPort(rest)
  const port = readPort(stated)
  if (port === 0) return `\`${text}\` has no valid port; write a number from 1 to 65535, or \`*\``
  const hosts = readHosts(host)
  if (typeof hosts === 'string') return `\`${text}\` ${hosts}`
  return { scheme: scheme?.toLowerCase(), hosts, port }
}

/** The host and the port as they stand. More than one colon outside of brackets is IPv6, and then there is no port. */
function splitPort(text: string): readonly [string, string | undefined] {
  const colon = text.indexOf(':', text.indexOf(']') + 1)
  const isBare = !text.startsWith('[') && colon !== text.lastIndexOf(':')
  return colon < 0 || isBare ? [text, undefined] : [text.slice(0, colon), text.slice(colon + 1)]
}

/** The port; undefined for none, 0 for one that is not valid. */
function readPort(text: string | undefined): number | '*' | undefined {
  if (text === undefined || text === '*') return text
  return /^[1-9][0-9]{0,4}$/.test(text) && Number(text) <= 65535 ? Number(text) : 0
}

function readHosts(text: string): Hosts | string {
  if (text === '*') return { kind: 'all' }
  const isBelow = text.startsWith('*.')
  const [host = '', ...others] = readHost(isBelow ? text.slice(2) : text)
  if (host === '')
    return 'names no host that can be read; `*` stands only for all hosts, or as in `*.example.com`'
  if (others.length > 0) return 'could be read as more than one host; write the one that is meant'
  if (!isBelow) return { kind: 'exactly', host }
  return bytesOf(host) === undefined
    ? { kind: 'below', host }
    : 'is an address with `*.`; write a network such as `10.0.0.0/8`'
}

/** `10.0.0.0/8`; undefined if it has not that form, words if it is not a network. */
function readNetwork(text: string): HostPattern | string | undefined {
  const match = /^([0-9a-f.:]+)\/([0-9]{1,3})$/i.exec(text)
  const bytes = bytesOf((match?.[1] ?? '').toLowerCase())
  if (match === null || bytes === undefined) return undefined
  const bits = Number(match[2])
  const isWhole = bytes.every(
    (byte, index) => byte % 2 ** Math.min(8, Math.max(0, 8 * (index + 1) - bits)) === 0,
  )
  if (bits > 8 * bytes.length || !isWhole) {
    return `\`${text}\` is no network: bits are set behind its first ${bits}; write for example \`10.0.0.0/8\``
  }
  return { scheme: undefined, hosts: { kind: 'network', bytes, bits }, port: undefined }
}

/** The bytes of an address in normal form; undefined for a name. */
function bytesOf(host: string): readonly number[] | undefined {
  return parseIpv4(host) ?? parseIpv6(host)?.flatMap((group) => [group >> 8, group & 255])
}

/**
 * Whether the pattern is for this destination. A destination that cannot be read matches none, not even `*`.
 *
 * Without a port a pattern is for the default port of the destination's scheme, and for destinations that state none
 * (an e-mail address, a bare host); for a bare host also for 80 and 443. Any other port must be named.
 */
export function matchesHost(pattern: HostPattern, destination: Target): boolean {
  if (destination.host === '') return false
  if (pattern.scheme !== undefined && pattern.scheme !== destination.scheme) return false
  return matchesPort(pattern.port, destination) && matchesName(pattern.hosts, destination.host)
}

function matchesPort(wanted: HostPattern['port'], { scheme, port }: Target): boolean {
  if (wanted === '*') return true
  if (wanted !== undefined) return port === wanted
  return port === 0 || port === defaultPort(scheme) || (scheme === '' && (port === 80 || port === 443))
}

function matchesName(hosts: Hosts, host: string): boolean {
  switch (hosts.kind) {
    case 'all':
      return true
    case 'exactly':
      return host === hosts.host
    case 'below':
      return host.endsWith(`.${hosts.host}`)
    case 'network':
      return isWithin(hosts.bytes, hosts.bits, bytesOf(host))
  }
}

function isWithin(network: readonly number[], bits: number, address: readonly number[] | undefined): boolean {
  if (address?.length !== network.length) return false
  return address.every((byte, index) => {
    const free = 2 ** Math.min(8, Math.max(0, 8 * (index + 1) - bits))
    return Math.floor(byte / free) === Math.floor((network[index] ?? 0) / free)
  })
}
