// Finds secrets in configuration files. Reports only their position.

import type { Json, JsonObject } from '@tollgate/evidence'
import { isObject } from '../../tools/offer.ts'

// Prefixes of common API keys.
const KEYS =
  'sk- sk_live_ sk_test_ pk_live_ ghp_ gho_ ghs_ github_pat_ glpat- xoxb- xoxp- AKIA AIza eyJ npm_ hf_ dop_v1_ SG. tg_'.split(
    ' ',
  )
const SECRET_NAME = /(?:key|token|secret|passw|pwd|credential|auth)/i
const MIN_SECRET_LENGTH = 8

/** Returns the fields of an entry that look like secrets, without their values. */
export function secretsIn(entry: JsonObject): readonly string[] {
  return [
    ...namesOfSecrets(entry['env']).map((each) => `\`env.${each}\``),
    ...namesOfSecrets(entry['headers']).map((each) => `\`headers.${each}\``),
    ...(textsIn(entry['args']).some(looksLikeKey) ? ['one of `args`'] : []),
    ...(textsIn(entry['url']).some(hasPassword) ? ['`url`'] : []),
  ]
}

/** Whether a value under this name is probably a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name.slice(0, 200))
}

/** Returns the strings in a value: itself, or those in a list. */
export function textsIn(value: Json | undefined): readonly string[] {
  return [value].flat().filter((each) => typeof each === 'string')
}

function namesOfSecrets(members: Json | undefined): readonly string[] {
  return Object.entries(isObject(members) ? members : {}).flatMap(([name, value]) => {
    if (typeof value !== 'string' || value.includes('${')) return []
    const isNamed = isSecretName(name) && value.length >= MIN_SECRET_LENGTH
    return isNamed || looksLikeKey(value) ? [name.slice(0, 80)] : []
  })
}

/** Whether a value has the form of a common API key. */
export function looksLikeKey(value: string): boolean {
  const bare = value.replace(/^(?:--?[\w-]{1,60}=|[Bb]earer )/, '')
  return KEYS.some((prefix) => bare.startsWith(prefix)) && bare.length >= 16
}

function hasPassword(url: string): boolean {
  return URL.canParse(url) && new URL(url).password !== ''
}
