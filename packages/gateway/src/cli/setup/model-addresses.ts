// Adds the keys to the configured model servers. Keys are only in the environment or in a file.

import { readFileSync, statSync } from 'node:fs'
import process from 'node:process'
import type { Config, ModelConfig } from '../../config/config.ts'
import { GatewayError } from '../../error.ts'
import { PROVIDERS, type Provider } from '../../llm/providers.ts'
import type { UpstreamAddress } from '../../llm/upstream.ts'

/**
 * Returns the address and key of each configured model server.
 *
 * @throws GatewayError `CONFIG_INVALID` if a key is missing, malformed, or readable by other users.
 */
export function modelAddresses(
  { llm }: Pick<Config, 'llm'>,
  env: NodeJS.ProcessEnv = process.env,
): ReadonlyMap<Provider, UpstreamAddress> {
  const addresses = new Map<Provider, UpstreamAddress>()
  for (const provider of PROVIDERS) {
    const model = llm[provider]
    if (!model) continue
    const { url, patience, parameters } = model
    addresses.set(provider, {
      url,
      patience,
      parameters: new Set(parameters),
      key: keyOf(model, provider, env),
      own: new Map(
        [...(model.own ?? [])].map(([principal, variable]) => [
          principal,
          // Sound: a key from the environment is no key of the client, so there is one.
          keyOf({ key: { from: 'environment', variable } }, provider, env) ?? '',
        ]),
      ),
    })
  }
  return addresses
}

function keyOf(
  { key }: Pick<ModelConfig, 'key'>,
  provider: Provider,
  env: NodeJS.ProcessEnv,
): string | undefined {
  if (key.from === 'client') return undefined
  const value = key.from === 'file' ? readKey(key.path, provider) : (env[key.variable] ?? '')
  if (/^[\x21-\x7e]{1,1000}$/.test(value)) return value
  const where = key.from === 'file' ? `\`${key.path}\`` : `the environment variable \`${key.variable}\``
  throw missing(provider, `${where} contains no key`)
}

function readKey(path: string, provider: Provider): string {
  try {
    if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
      throw new GatewayError('CONFIG_INVALID', `\`${path}\` can be read by other users`, {
        hints: [`run \`chmod 600 ${path}\``],
      })
    }
    return readFileSync(path, 'utf8').trim()
  } catch (fault) {
    if (fault instanceof GatewayError) throw fault
    throw missing(provider, `\`${path}\` cannot be read`)
  }
}

function missing(provider: Provider, what: string): GatewayError {
  return new GatewayError('CONFIG_INVALID', `${what}; \`llm.${provider}\` needs it`, {
    hints: [`put the key of the model server there, or remove \`llm.${provider}\` from tollgate.yaml`],
  })
}
