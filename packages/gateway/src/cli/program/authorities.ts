// Reads the file of `--ca`: the certificates of the authorities that a command trusts instead of those of the machine.

import { X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { UsageError } from './terminal.ts'

/** Maximum size of the file. All authorities of a machine take a quarter of it. */
const MAX_BYTES = 1 << 20

/** Reads the certificates of a PEM file. Text around them is ignored. @throws UsageError if it cannot be read, or has anything else. */
export function readAuthorities(file: string): readonly X509Certificate[] {
  const text = readSmall(file)
  const kinds = [...text.matchAll(/^-----BEGIN ([A-Z0-9 ]+)-----/gm)].map(([, kind = '']) => kind)
  if (kinds.some((kind) => kind.endsWith('PRIVATE KEY'))) {
    throw unusable(file, 'contains a private key', 'give a file that has only certificates')
  }
  if (kinds.length === 0) {
    throw unusable(
      file,
      'has no certificate in PEM form',
      'it must have a line `-----BEGIN CERTIFICATE-----`',
    )
  }
  const certificates = certificatesIn(text)
  if (certificates?.length === kinds.length) return certificates
  throw unusable(file, 'has an entry that is not a certificate, or is damaged', 'get the file again')
}

/** Returns the certificates in a PEM text; undefined if one is damaged. */
export function certificatesIn(text: string): readonly X509Certificate[] | undefined {
  const blocks = text.match(/^-----BEGIN CERTIFICATE-----$[^-]*^-----END CERTIFICATE-----$/gm) ?? []
  try {
    return blocks.map((block) => new X509Certificate(block))
  } catch {
    return undefined
  }
}

function readSmall(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found) throw unusable(file, 'does not exist', ISSUER)
  // A pipe or a device might never end.
  if (!found.isFile()) throw unusable(file, 'is not a file', ISSUER)
  if (found.size > MAX_BYTES) throw unusable(file, `is larger than ${MAX_BYTES} bytes`, ISSUER)
  return readFileSync(file, 'utf8').replaceAll('\r\n', '\n')
}

const ISSUER = 'give the PEM file of the authority that signed the certificate of the gateway'

function unusable(file: string, what: string, hint: string): UsageError {
  return new UsageError(`the file of authorities \`${file}\` ${what}`, hint)
}
