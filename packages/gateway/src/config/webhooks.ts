// Reads `webhooks` of `tollgate.yaml`: which receivers get which events, and in which form.

import type { Place, Reader } from '@tollgate/kernel/policy'
import { readUrl, VARIABLE } from './value.ts'

/** The events that receivers can get. */
export const WEBHOOK_EVENTS = [
  'approval.requested',
  'approval.answered',
  'call.denied',
  'freeze.changed',
  'tools.quarantined',
  'hook.silent',
] as const
/** An event that receivers can get. */
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number]

const FORMATS = ['json', 'slack'] as const

// Without `events`. Denials are left out: with a strict policy they are daily work, and no person has to act.
const DEFAULT_EVENTS = WEBHOOK_EVENTS.filter((event) => event !== 'call.denied')

/** A receiver. Secrets are only in the environment: `urlEnv` and `secretEnv` name variables. */
export interface WebhookTarget {
  /** Exactly one of the two is set. */
  readonly url?: string
  readonly urlEnv?: string
  /** Names the variable with the signing secret. Only a receiver with the format `slack` can do without. */
  readonly secretEnv?: string
  /** Whether an approval request includes the arguments of the call. */
  readonly arguments: boolean
  readonly events: readonly WebhookEvent[]
  /** `slack`: the body of a Slack incoming webhook, never with arguments. */
  readonly format: (typeof FORMATS)[number]
}

const FIELDS = ['url', 'url-env', 'secret-env', 'arguments', 'events', 'format'] as const
type Fields = Partial<Record<(typeof FIELDS)[number], Place>>

/** Reads the list of receivers. */
export function readWebhooks(reader: Reader, place: Place): readonly WebhookTarget[] {
  return reader.items(place, '`webhooks`').flatMap((item) => {
    const fields = reader.fields(item, FIELDS)
    const target = fields && readTarget(reader, item, fields)
    return target ? [target] : []
  })
}

function readTarget(reader: Reader, item: Place, fields: Fields): WebhookTarget | undefined {
  const format = fields.format ? reader.word(fields.format, '`format`', FORMATS) : 'json'
  const problem = missingIn(fields, format)
  if (problem !== undefined) {
    reader.note(item, problem)
    return undefined
  }
  const url = fields.url && readUrl(reader, fields.url, '`url`')
  const urlEnv = readVariable(reader, fields['url-env'], '`url-env`', 'the address')
  const secretEnv = readVariable(reader, fields['secret-env'], '`secret-env`', 'the secret')
  return {
    ...(url !== undefined && { url }),
    ...(urlEnv !== undefined && { urlEnv }),
    ...(secretEnv !== undefined && { secretEnv }),
    arguments: readArguments(reader, fields.arguments),
    events: fields.events ? readEvents(reader, fields.events) : DEFAULT_EVENTS,
    format: format ?? 'json',
  }
}

function missingIn(fields: Fields, format: WebhookTarget['format'] | undefined): string | undefined {
  if (!fields.url && !fields['url-env'])
    return 'a webhook needs `url`, or `url-env`, the name of the environment variable with the address'
  if (fields.url && fields['url-env']) return 'a webhook has either `url` or `url-env`; remove one of them'
  if (fields['secret-env'] || format !== 'json') return undefined
  return 'a webhook needs `secret-env`, the name of the environment variable with its secret'
}

function readVariable(
  reader: Reader,
  place: Place | undefined,
  what: string,
  value: string,
): string | undefined {
  const name = place && reader.textLine(place, what)
  if (!place || name === undefined || VARIABLE.test(name)) return name
  reader.note(place, `${what} must be the name of an environment variable, not ${value}`)
  return undefined
}

function readArguments(reader: Reader, place: Place | undefined): boolean {
  const given = place ? reader.plain(place) : true
  if (place && typeof given !== 'boolean') reader.note(place, '`arguments` must be `true` or `false`')
  return given !== false
}

function readEvents(reader: Reader, place: Place): readonly WebhookEvent[] {
  const items = reader.items(place, '`events`')
  if (items.length === 0) reader.note(place, '`events` is empty; name an event, or remove the webhook')
  const events = items.map((item) => reader.word(item, 'an item of `events`', WEBHOOK_EVENTS))
  return [...new Set(events.filter((event) => event !== undefined))]
}
