// Reads `telemetry` of `tollgate.yaml`: the collector that gets the traces.

import type { Place, Reader } from '@tollgate/kernel/policy'
import { readHeaders } from './mcp.ts'
import { readUrl } from './value.ts'

/** The collector that gets the traces. */
export interface TelemetryConfig {
  /** Its base URL. It accepts OTLP over HTTP, as JSON. */
  readonly endpoint: string
  /** Headers for it, each with the environment variable that has its value. */
  readonly headersEnv: Readonly<Record<string, string>>
}

/** Reads the section; undefined after a mistake. */
export function readTelemetry(reader: Reader, place: Place): TelemetryConfig | undefined {
  const fields = reader.fields(place, ['endpoint', 'headers-env'])
  const { endpoint, 'headers-env': headers } = fields ?? {}
  if (fields && !endpoint)
    reader.note(place, '`telemetry` needs `endpoint`, the URL that accepts OTLP over HTTP')
  const url = endpoint && readUrl(reader, endpoint, '`endpoint`')
  const headersEnv = headers ? readHeaders(reader, headers) : {}
  return url === undefined ? undefined : { endpoint: url, headersEnv }
}
