// Reads `console` of `tollgate.yaml`: the address at which people open the console.

import type { Place, Reader } from '@tollgate/kernel/policy'
import { readUrl } from './value.ts'

/** The console as people reach it. */
export interface ConsoleConfig {
  /** The address of the gateway, without `/console` and without a slash at its end. */
  readonly url: string
}

/** Reads the section; undefined after a mistake. */
export function readConsole(reader: Reader, place: Place): ConsoleConfig | undefined {
  const fields = reader.fields(place, ['url'])
  if (!fields?.url) {
    reader.note(place, '`console` needs `url`, the address of the gateway that people use')
    return undefined
  }
  const url = readUrl(reader, fields.url, '`url`')
  if (url === undefined || url === `${new URL(url).origin}/`)
    return url === undefined ? undefined : { url: new URL(url).origin }
  reader.note(fields.url, '`url` must be an address without a path, such as `https://gate.example.com`')
  return undefined
}
