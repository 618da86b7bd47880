// Reads `llm` of `tollgate.yaml`: the upstream model servers.

import { resolve } from 'node:path'
import type { Place, Reader } from '@tollgate/kernel/policy'
import { PROVIDERS, TRAITS, type Provider } from '../llm/providers.ts'
import { readPrincipals } from './mcp.ts'
import { readMeasure, readUrl, VARIABLE, WAIT } from './value.ts'

/** A configured model server. It names the place of the key, not the key. */
export interface ModelConfig {
  /** Such as `https://api.openai.com/v1`. */
  readonly url: string
  readonly key:
    | { readonly from: 'environment'; readonly variable: string }
    | { readonly from: 'file'; readonly path: string }
    /** Each client sends its own key. */
    | { readonly from: 'client' }
  /** The variables with the keys of single principals. */
  readonly own?: ReadonlyMap<string, string>
  /** Further request parameters that are allowed besides the known ones. */
  readonly parameters: readonly string[]
  /** Milliseconds until the first byte of an answer, and between two parts of it. */
  readonly patience: number
}

/** Configuration of the LLM door. */
export interface LlmConfig extends Readonly<Partial<Record<Provider, ModelConfig>>> {
  /** Maximum size of a request in bytes. */
  readonly body: number
  /** Milliseconds that a request waits for the approval of its calls. */
  readonly wait: number
}

/** The default: no model servers. */
export const NO_LLM: LlmConfig = { body: 32 << 20, wait: 0 }

/** Reads `llm`. Paths are relative to `data`. */
export function readLlm(reader: Reader, place: Place, data: string): LlmConfig {
  const fields = reader.fields(place, [...PROVIDERS, 'body', 'wait']) ?? {}
  const models = PROVIDERS.flatMap((provider) => {
    const model = fields[provider] && readModel(reader, fields[provider], data, provider)
    return model ? [[provider, model] as const] : []
  })
  const body = fields.body && readMeasure(reader, fields.body, BODY)
  const wait = fields.wait && readMeasure(reader, fields.wait, WAIT)
  return {
    ...Object.fromEntries(models),
    body: body ?? NO_LLM.body,
    wait: wait ?? NO_LLM.wait,
  }
}

const BODY = {
  what: '`body`',
  units: { KiB: 1 << 10, MiB: 1 << 20 },
  least: 1 << 16,
  most: 128 << 20,
  example: 'a size such as `32MiB`, from 64KiB to 128MiB',
}
const PATIENCE = {
  what: '`timeout`',
  units: { s: 1000, m: 60_000 },
  least: 1000,
  most: 3_600_000,
  example: 'a time such as `90s` or `10m`, up to an hour',
}

function readModel(reader: Reader, place: Place, data: string, provider: Provider): ModelConfig | undefined {
  const fields = reader.fields(place, [
    'url',
    'key-env',
    'key-file',
    'key',
    'timeout',
    'parameters',
    'principals',
  ])
  if (!fields) return undefined
  const { example } = TRAITS[provider].url
  if (!fields.url)
    reader.note(place, `\`url\` is missing; add the address of the model server, such as \`${example}\``)
  const url = fields.url && readUrl(reader, fields.url, '`url`')
  const key = readKey(reader, place, fields, data)
  const patience = (fields.timeout && readMeasure(reader, fields.timeout, PATIENCE)) ?? 600_000
  const parameters = fields.parameters ? readParameters(reader, fields.parameters) : []
  const own = fields.principals && { own: readOwn(reader, fields.principals) }
  if (own && key?.from === 'client')
    reader.note(place, '`principals` needs `key-env` or `key-file`, the key of all others')
  return url === undefined || !key ? undefined : { url, key, ...own, parameters, patience }
}

function readOwn(reader: Reader, place: Place): ReadonlyMap<string, string> {
  return readPrincipals(reader, place, (value) => {
    const name = reader.textLine(value, 'the variable of a principal')
    if (name === undefined || VARIABLE.test(name)) return name
    reader.note(value, '`principals` must list names of environment variables, not the keys')
    return undefined
  })
}

type KeyFields = Partial<Record<'key-env' | 'key-file' | 'key', Place>>

function readKey(
  reader: Reader,
  place: Place,
  { 'key-env': variable, 'key-file': file, key }: KeyFields,
  data: string,
): ModelConfig['key'] | undefined {
  if ([variable, file, key].filter((each) => each !== undefined).length !== 1) {
    reader.note(
      place,
      'add one of `key-env` (an environment variable with the key), `key-file` (a file with the key) or `key: client` (each client sends its own key)',
    )
    return undefined
  }
  if (key) return reader.word(key, '`key`', ['client']) && { from: 'client' }
  if (file) {
    const path = reader.textLine(file, '`key-file`')
    return path === undefined ? undefined : { from: 'file', path: resolve(data, path) }
  }
  const name = variable && reader.textLine(variable, '`key-env`')
  if (name === undefined) return undefined
  if (VARIABLE.test(name)) return { from: 'environment', variable: name }
  reader.note(variable ?? place, '`key-env` must be the name of an environment variable, not the key')
  return undefined
}

function readParameters(reader: Reader, place: Place): readonly string[] {
  return reader.items(place, '`parameters`').flatMap((item) => {
    const name = reader.textLine(item, 'a name in `parameters`')
    if (name === undefined) return []
    if (/^[\w.-]{1,64}$/.test(name)) return [name]
    reader.note(item, 'a parameter name must have at most 64 letters, digits, `_`, `-` and `.`')
    return []
  })
}
