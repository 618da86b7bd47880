// Parses and matches the patterns of allow, ask and deny lists.

import { parseIpv4, parseIpv6 } from './address.ts'
import { defaultPort, type Target } from './destination.ts'
import { readHost } from './host.ts'

/** The hosts that a pattern matches. */
type Hosts =
  | { readonly kind: 'all' }
  | { readonly kind: 'exactly'; readonly host: string }
  | { readonly kind: 'below'; readonly host: string }
  | { readonly kind: 'network'; readonly bytes: readonly number[]; readonly bits: number }

/** A parsed pattern, made by {@link parseHostPattern}. */
export interface HostPattern {
  /** The scheme that it matches; undefined for every scheme. */
  readonly scheme: string | undefined
  readonly hosts: Hosts
  /** The port that it matches; undefined for default ports; `*` for every port. */
  readonly port: number | '*' | undefined
}

/**
 * Parses a pattern of a policy, or returns a sentence about its mistake. `example.com` matches exactly that host, `*.example.com`
 * any host below it but not itself, `10.0.0.0/8` and `2001:db8::/32` the addresses of a network, `*` everything that is readable.
 * `example.com:8443` and `[::1]:8080` match that port, `example.com:*` any port, `https://example.com` and `mailto:example.com`
 * that scheme. Hosts are normalised like destinations. An ambiguous host is a mistake.
 */
export function parseHostPattern(text: string): HostPattern | string {
  if (text === '*') return { scheme: undefined, hosts: { kind: 'all' }, port: '*' }
  const network = readNetwork(text)
  if (network !== undefined) return network
  const scheme = /^(?:[a-z][a-z0-9+.-]*(?=:\/\/)|mailto(?=:))/i.exec(text)?.[0]
  const rest = scheme === undefined ? text : text.slice(scheme.length).replace(/^:(?:\/\/)?/, '')
  if (rest.includes('/'))
    return `\`${text}\` is not a host pattern; write a host such as \`example.com\`, without a path`
  const [host, stated] = splitPort(rest)
  const port = readPort(stated)
  if (port === 0) return `\`${text}\` has no valid port; write a number from 1 to 65535, or \`*\``
  const hosts = readHosts(host)
  if (typeof hosts === 'string') return `\`${text}\` ${hosts}`
  return { scheme: scheme?.toLowerCase(), hosts, port }
}

/** Returns host and port as written. More than one colon outside of brackets is IPv6 without a port. */
function splitPort(text: string): readonly [string, string | undefined] {
  const colon = text.indexOf(':', text.indexOf(']') + 1)
  const isBare = !text.startsWith('[') && colon !== text.lastIndexOf(':')
  return colon < 0 || isBare ? [text, undefined] : [text.slice(0, colon), text.slice(colon + 1)]
}

/** Returns the port; undefined if there is none, 0 if it is invalid. */
function readPort(text: string | undefined): number | '*' | undefined {
  if (text === undefined || text === '*') return text
  return /^[1-9][0-9]{0,4}$/.test(text) && Number(text) <= 65535 ? Number(text) : 0
}

function readHosts(text: string): Hosts | string {
  if (text === '*') return { kind: 'all' }
  const isBelow = text.startsWith('*.')
  const [host = '', ...others] = readHost(isBelow ? text.slice(2) : text)
  if (host === '') return 'is not a valid host; use `*` alone for all hosts, or as in `*.example.com`'
  if (others.length > 0) return 'can mean more than one host; write the intended one'
  if (!isBelow) return { kind: 'exactly', host }
  return bytesOf(host) === undefined
    ? { kind: 'below', host }
    : 'is an address after `*.`; write a network such as `10.0.0.0/8`'
}

/** Parses `10.0.0.0/8`. Returns undefined for another form, and a sentence if it is not a network. */
function readNetwork(text: string): HostPattern | string | undefined {
  const match = /^([0-9a-f.:]+)\/([0-9]{1,3})$/i.exec(text)
  const bytes = bytesOf((match?.[1] ?? '').toLowerCase())
  if (match === null || bytes === undefined) return undefined
  const bits = Number(match[2])
  const isWhole = bytes.every(
    (byte, index) => byte % 2 ** Math.min(8, Math.max(0, 8 * (index + 1) - bits)) === 0,
  )
  if (bits > 8 * bytes.length || !isWhole) {
    return `\`${text}\` is not a network: bits are set after the first ${bits}; write for example \`10.0.0.0/8\``
  }
  return { scheme: undefined, hosts: { kind: 'network', bytes, bits }, port: undefined }
}

/** Returns the bytes of a normalised address; undefined for a name. */
function bytesOf(host: string): readonly number[] | undefined {
  return parseIpv4(host) ?? parseIpv6(host)?.flatMap((group) => [group >> 8, group & 255])
}

/**
 * Returns whether the pattern matches this destination. No pattern matches an unreadable destination, not even `*`. A pattern
 * without a port matches the default port of the scheme and destinations without a port (an e-mail address, a bare host). For a
 * bare host it also matches 80 and 443. Other ports must be stated.
 */
export function matchesHost(pattern: HostPattern, destination: Target): boolean {
  if (destination.host === '') return false
  if (pattern.scheme !== undefined && pattern.scheme !== destination.scheme) return false
  return matchesPort(pattern.port, destination) && matchesName(pattern.hosts, destination.host)
}

function matchesPort(expected: HostPattern['port'], { scheme, port }: Target): boolean {
  if (expected === '*') return true
  if (expected !== undefined) return port === expected
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
