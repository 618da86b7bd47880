// Adds address and signing secret from the environment to the receivers of `tollgate.yaml`.

import { problemOfUrl } from '../config/value.ts'
import type { WebhookEvent, WebhookTarget } from '../config/webhooks.ts'
import { GatewayError } from '../error.ts'

/** A receiver with everything that sending needs. */
export interface Receiver {
  readonly url: string
  /** The part of the address that messages may repeat. The rest can be a secret. */
  readonly host: string
  readonly secret: Uint8Array | undefined
  readonly arguments: boolean
  readonly events: ReadonlySet<WebhookEvent>
  readonly format: WebhookTarget['format']
}

type Environment = Readonly<Record<string, string | undefined>>

const MIN_SECRET = 24

/** Resolves a receiver. @throws GatewayError `CONFIG_INVALID` if its address or secret is missing or unusable. */
export function receiverOf(target: WebhookTarget, env: Environment): Receiver {
  const { format, events, secretEnv } = target
  const url = addressOf(target, env)
  const { host } = new URL(url)
  const secret = secretEnv === undefined ? undefined : secretOf(host, secretEnv, env)
  return { url, host, secret, arguments: target.arguments, events: new Set(events), format }
}

function addressOf({ url, urlEnv = '' }: WebhookTarget, env: Environment): string {
  if (url !== undefined) return url
  const text = env[urlEnv] ?? ''
  const problem = text === '' ? 'is not set' : problemOfUrl(text)
  if (problem === undefined) return text
  throw new GatewayError('CONFIG_INVALID', `\`${urlEnv}\`, the address of a webhook, ${problem}`, {
    hints: [`set ${urlEnv} to the address of the receiver, in the environment of the gateway`],
  })
}

function secretOf(host: string, secretEnv: string, env: Environment): Uint8Array {
  const text = (env[secretEnv] ?? '').replace(/^whsec_/, '')
  const secret = Buffer.from(text, 'base64')
  // Base64, with or without the prefix, as the libraries of receivers expect it.
  if (/^[A-Za-z0-9+/]+=*$/.test(text) && secret.length >= MIN_SECRET) return secret
  throw new GatewayError(
    'CONFIG_INVALID',
    `the webhook \`${host}\` has no usable secret in \`${secretEnv}\``,
    {
      hints: [
        `set ${secretEnv} to the base64 of at least ${MIN_SECRET} random bytes, for example from \`openssl rand -base64 24\``,
      ],
    },
  )
}
