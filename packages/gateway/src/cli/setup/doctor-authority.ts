// The `tollgate doctor` check of `ca`: the authority that commands on the data directory trust.

import type { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Config } from '../../config/config.ts'
import { certificatesIn, readAuthorities } from '../program/authorities.ts'
import { UsageError } from '../program/terminal.ts'
import type { DoctorFinding } from './doctor-checks.ts'

const about = 'authority'

/** Checks that the file is usable, and that an authority in it signed the certificate of this gateway. */
export function checkAuthority({ ca, listen: { tls } }: Config): Promise<readonly DoctorFinding[]> {
  return Promise.resolve(ca === undefined ? [] : [findingOf(ca, tls?.cert)])
}

function findingOf(ca: string, cert: string | undefined): DoctorFinding {
  if (cert === undefined) {
    const remedy = ['remove `ca`, or set `listen.tls` in tollgate.yaml']
    return { level: 'warn', about, found: '`ca` has no effect, because the gateway has no TLS', remedy }
  }
  try {
    const authorities = readAuthorities(ca)
    const own = certificatesIn(readFileSync(cert, 'utf8')) ?? []
    if (isSignedBy(own, authorities)) return { level: 'ok', about, found: `\`${ca}\` signed \`${cert}\`` }
    const remedy = ['set `ca` in tollgate.yaml to the file of the authority that signed the certificate']
    return { level: 'fail', about, found: `\`${ca}\` did not sign \`${cert}\``, remedy }
  } catch (fault) {
    if (!(fault instanceof UsageError)) throw fault
    return { level: 'fail', about, found: fault.message, remedy: fault.hints }
  }
}

/** Follows the chain from the certificate of the gateway, over those that it sends, to an authority. */
function isSignedBy(own: readonly X509Certificate[], authorities: readonly X509Certificate[]): boolean {
  let [current] = own
  for (const _ of own) {
    if (current === undefined) return false
    const child = current
    if (authorities.some((each) => each.raw.equals(child.raw) || hasSigned(each, child))) return true
    current = own.find((each) => each !== child && hasSigned(each, child))
  }
  return false
}

function hasSigned(issuer: X509Certificate, child: X509Certificate): boolean {
  return child.checkIssued(issuer) && child.verify(issuer.publicKey)
}
