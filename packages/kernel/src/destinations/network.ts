// Tells public addresses from those of a private network, of this machine and of its surroundings.

import { readHost } from './host.ts'
import { matchesHost, parseHostPattern, type HostPattern } from './pattern.ts'

/** `special`: the link of this machine, metadata services of clouds, multicast, and addresses that no host has. */
type Network = 'public' | 'private' | 'loopback' | 'special'

/**
 * Returns the network of each host that an address means: an address of a translator (NAT64, 6to4) also means an IPv4 host.
 * Empty if the text is not an address.
 */
export function networksOf(address: string): readonly { readonly host: string; readonly network: Network }[] {
  return readHost(address).flatMap((host) => (isAddress(host) ? [{ host, network: networkOf(host) }] : []))
}

function isAddress(host: string): boolean {
  return isIn(EVERY, host)
}

function networkOf(host: string): Network {
  if (isIn(METADATA, host)) return 'special'
  if (isIn(PRIVATE, host)) return 'private'
  if (isIn(LOOPBACK, host)) return 'loopback'
  return isIn(GLOBAL, host) && !isIn(RESERVED, host) ? 'public' : 'special'
}

function isIn(networks: readonly HostPattern[], host: string): boolean {
  return networks.some((network) => matchesHost(network, { scheme: '', host, port: 0 }))
}

function networks(list: string): readonly HostPattern[] {
  return list.split(' ').map((text) => {
    const pattern = parseHostPattern(text)
    if (typeof pattern === 'string') throw new Error(pattern)
    return pattern
  })
}

const EVERY = networks('0.0.0.0/0 ::/0')
// AWS, Google Cloud, Alibaba Cloud and Azure. 169.254.169.254 is link-local.
const METADATA = networks('fd00:ec2::254 fd20:ce::254 100.100.100.200 168.63.129.16')
const LOOPBACK = networks('127.0.0.0/8 ::1')
const PRIVATE = networks('10.0.0.0/8 100.64.0.0/10 172.16.0.0/12 192.168.0.0/16 fc00::/7')
// 64:ff9b::/96 is NAT64: the IPv4 host behind it is judged too.
const GLOBAL = networks('0.0.0.0/0 2000::/3 64:ff9b::/96')
const RESERVED = networks(
  '0.0.0.0/8 169.254.0.0/16 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 ' +
    '203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 2001::/23 2001:db8::/32 3fff::/20',
)
