// Adds the secrets to the headers for the trace collector. Secrets are only in the environment.

import process from 'node:process'
import type { Config } from '../../config/config.ts'
import { GatewayError } from '../../error.ts'

const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

/**
 * Returns the headers for the trace collector.
 *
 * @throws GatewayError `CONFIG_INVALID` with every variable that is missing or unusable.
 */
export function collectorHeaders(
  { telemetry }: Pick<Config, 'telemetry'>,
  env: NodeJS.ProcessEnv = process.env,
): Readonly<Record<string, string>> {
  const pairs = Object.entries(telemetry?.headersEnv ?? {})
  const wrong = pairs.filter(([, variable]) => !HEADER_VALUE.test(env[variable] ?? ''))
  if (wrong.length > 0) {
    const names = wrong.map(([, variable]) => `\`${variable}\``).join(', ')
    throw new GatewayError(
      'CONFIG_INVALID',
      `environment: ${names} is missing or is not a valid header value`,
      {
        hints: ['set it, or remove it from `telemetry.headers-env` in the configuration'],
      },
    )
  }
  return Object.fromEntries(pairs.map(([header, variable]) => [header, env[variable] ?? '']))
}
