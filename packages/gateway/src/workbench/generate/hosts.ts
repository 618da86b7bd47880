// Generates addresses for the hostname lists of policies: matching ones, subdomains and lookalikes.

import type { GateSettings, Policy } from '@tollgate/kernel/policy'

type HostPattern = GateSettings['egress']['allow'][number]

/** A hostname that no policy contains. */
export const STRANGER = 'unknown-host.example'

const MAX_HOSTS = 400

/** Addresses for all hostname lists of these policies. Entries that only one policy has come first. */
export function addressesOf(...policies: readonly Policy[]): readonly string[] {
  const lists = policies.map(
    (policy) => new Map(patternsIn(policy).map((each) => [JSON.stringify(each), each])),
  )
  const all = new Map(lists.flatMap((list) => [...list]))
  const isShared = (key: string): boolean => lists.every((list) => list.has(key))
  const sorted = [...all].sort(([a], [b]) => Number(isShared(a)) - Number(isShared(b)))
  const wanted = sorted.slice(0, MAX_HOSTS).flatMap(([, pattern]) => addressesFor(pattern))
  const urls = [`https://${STRANGER}/`, ...wanted, `mailto:somebody@${STRANGER}`, 'https://192.0.2.7/']
  return [...new Set(urls)].slice(0, MAX_HOSTS)
}

/** An address without objections: preferably one that all policies allow. */
export function insideOf(policies: readonly Policy[]): string | undefined {
  const lists = policies.map(({ gates: { egress } }) =>
    egress.allow.flatMap((each) => addressesFor(each).slice(0, 1)),
  )
  const all = lists.flat()
  return all.find((url) => lists.every((list) => list.includes(url))) ?? all[0]
}

/** A page without objections. */
export function pageInside(policies: readonly Policy[]): string | undefined {
  const lists = policies.map(({ gates: { browser } }) =>
    browser.domains.flatMap((each) => addressesFor(each).slice(0, 1)),
  )
  const all = lists.flat()
  return all.find((url) => lists.every((list) => list.includes(url))) ?? all[0] ?? insideOf(policies)
}

function patternsIn({ gates }: Policy): readonly HostPattern[] {
  const { egress, browser, taint, compliance } = gates
  return [
    ...egress.allow,
    ...egress.ask,
    ...egress.deny,
    ...browser.domains,
    ...(taint?.internal ?? []),
    ...(compliance?.jurisdictions ?? []).flatMap(({ hosts }) => hosts),
  ]
}

function addressesFor({ scheme, hosts, port }: HostPattern): readonly string[] {
  const suffix = typeof port === 'number' ? `:${port}` : ''
  const written = namesIn(hosts).map((host) =>
    scheme === 'mailto' ? `mailto:somebody@${host}` : `${scheme ?? 'https'}://${host}${suffix}/`,
  )
  const [first] = namesIn(hosts)
  if (first === undefined) return written
  return [...written, `https://${first}:8443/`, `http://${first}/`, `mailto:somebody@${first}`]
}

/** The hostname, a subdomain, a lookalike with the same ending, and a longer name that contains it. */
function namesIn(hosts: HostPattern['hosts']): readonly string[] {
  switch (hosts.kind) {
    case 'all':
      return []
    case 'exactly':
      return isAddress(hosts.host) ? [bracketed(hosts.host)] : around(hosts.host)
    case 'below':
      return [`probe.${hosts.host}`, ...around(hosts.host)]
    case 'network':
      return within(hosts.bytes, hosts.bits)
  }
}

function around(host: string): readonly string[] {
  return [host, `sub.${host}`, `evil-${host}`, `${host}.${STRANGER}`]
}

function isAddress(host: string): boolean {
  return /^[0-9.]+$/.test(host) || host.includes(':')
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** The first and last address of a network, and their neighbours outside. */
function within(bytes: readonly number[], bits: number): readonly string[] {
  const size = 8 * bytes.length
  const first = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
  const last = first + (1n << BigInt(size - bits)) - 1n
  return [first, last, last + 1n, first - 1n]
    .filter((each) => each >= 0n && each < 1n << BigInt(size))
    .map((each) => (bytes.length === 4 ? dotted(each) : `[${grouped(each)}]`))
}

function dotted(address: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((address >> shift) & 255n)).join('.')
}

function grouped(address: bigint): string {
  return Array.from({ length: 8 }, (_, i) => ((address >> BigInt(16 * (7 - i))) & 65535n).toString(16)).join(
    ':',
  )
}
