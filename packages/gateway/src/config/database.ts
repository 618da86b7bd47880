// Reads `database`: the PostgreSQL ledger that several gateways share.

import type { Place, Reader } from '@tollgate/kernel/policy'

/** Where the ledger is, if not in the data directory. */
export interface DatabaseConfig {
  /** The environment variable with the connection URL, which may contain a password. */
  readonly urlEnv: string
  readonly schema: string
  /** The name of this gateway among the writers of the ledger. */
  readonly writer: string
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/
const SCHEMA = /^[a-z_][a-z0-9_]{0,40}$/
const WRITER = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

export const DEFAULT_SCHEMA = 'tollgate'
export const DEFAULT_WRITER = 'gateway'

export function readDatabase(reader: Reader, place: Place): DatabaseConfig | undefined {
  const fields = reader.fields(place, ['url-env', 'schema', 'writer'])
  if (!fields) return undefined
  if (!fields['url-env']) {
    reader.note(place, '`database` needs `url-env`, the environment variable with the connection URL')
    return undefined
  }
  const read = (at: Place | undefined, what: string, form: RegExp, example: string): string | undefined => {
    const text = at && reader.textLine(at, what)
    if (!at || text === undefined || form.test(text)) return text
    reader.note(at, `${what} must be ${example}`)
    return undefined
  }
  const variable = 'the name of an environment variable, such as `TOLLGATE_DATABASE_URL`'
  return {
    urlEnv: read(fields['url-env'], '`url-env`', VARIABLE, variable) ?? '',
    schema:
      read(fields.schema, '`schema`', SCHEMA, 'at most 41 lower-case letters, digits and `_`') ??
      DEFAULT_SCHEMA,
    writer:
      read(fields.writer, '`writer`', WRITER, 'a name such as `gateway-2`, with at most 64 characters') ??
      DEFAULT_WRITER,
  }
}
