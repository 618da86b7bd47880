// Recognises a connection that failed because of TLS. "No gateway answers" would send people to the wrong place.

import { CommandError } from './terminal.ts'

const UNTRUSTED = [
  ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ...['UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'CERT_SIGNATURE_FAILURE'],
  ...['INVALID_CA', 'INVALID_PURPOSE', 'PATH_LENGTH_EXCEEDED'],
]

/** Returns the error of a failed TLS handshake; undefined if the fault is another one. `ca` is the file of the trusted authorities. */
export function tlsFault(fault: unknown, where: string, ca?: string): CommandError | undefined {
  const code = codeOf(fault)
  if (code === undefined) return undefined
  if (UNTRUSTED.includes(code)) return untrusted(where, ca, code)
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return new CommandError(
      `the certificate of \`${where}\` is for another name`,
      'use the name in the certificate as the address',
    )
  }
  if (code.startsWith('CERT_')) {
    return new CommandError(
      `the certificate of \`${where}\` is not valid (${code})`,
      'check the clock of this machine, and renew the certificate of the gateway',
    )
  }
  if (!/^(?:ERR_SSL_|ERR_TLS_|EPROTO$)/.test(code)) return undefined
  return new CommandError(
    `\`${where}\` answers, but TLS fails (${code})`,
    'if the gateway has no TLS, use an `http://` address',
  )
}

function untrusted(where: string, ca: string | undefined, code: string): CommandError {
  const whom = ca === undefined ? 'an authority that this machine trusts' : `an authority in \`${ca}\``
  return new CommandError(
    `the certificate of \`${where}\` is not from ${whom} (${code})`,
    'if you know its authority, give the PEM file of that authority: `--ca FILE` or TOLLGATE_CA',
    'for a data directory, `ca: FILE` in tollgate.yaml does the same',
  )
}

/** `fetch` hides the reason in the cause of its error. */
function codeOf(fault: unknown): string | undefined {
  const cause = fault instanceof Error ? (fault.cause ?? fault) : undefined
  if (!(cause instanceof Error) || !('code' in cause)) return undefined
  return typeof cause.code === 'string' ? cause.code : undefined
}
