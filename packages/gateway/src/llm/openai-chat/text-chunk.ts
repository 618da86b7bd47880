// The most common chunk by far: one choice that says a few words, and nothing else. It goes the short way, and leaves as it would
// on the long one.

import { isList, isObject, type JsonObject } from '@tollgate/evidence'
import { MOST_ITEMS } from './calls.ts'
import { headOf, placeOf } from './members.ts'

/** What such a chunk says. */
interface Words {
  readonly index: number
  readonly content: string
  readonly hasRole: boolean
  readonly hasLogprobs: boolean
  readonly hasUsage: boolean
}

/** What a chunk says if that is all there is to it; undefined for any other chunk. @throws Garbled */
export function wordsIn({ choices, usage }: JsonObject): Words | undefined {
  const entry = isList(choices) && choices.length === 1 ? choices[0] : undefined
  if (!isObject(entry) || isObject(usage)) return undefined
  const { delta, logprobs, finish_reason: finish } = entry
  if (!isObject(delta) || isObject(logprobs) || (finish !== null && finish !== undefined)) return undefined
  const { content, role } = delta
  if (typeof content !== 'string' || content === '') return undefined
  const hasRole = role !== undefined && role !== null
  // Anything more has to be looked at.
  if (Object.keys(delta).length !== (hasRole ? 2 : 1)) return undefined
  return {
    index: placeOf(entry, MOST_ITEMS, 'a choice'),
    content,
    hasRole,
    hasLogprobs: logprobs !== undefined,
    hasUsage: usage === null,
  }
}

/** Writes the events of such chunks. What stands at the top of each is written once for as long as it stays the same. */
export function createWordWriter(): (chunk: JsonObject, words: Words) => string {
  let last: JsonObject = {}
  let head = ''

  return (chunk, { index, content, hasRole, hasLogprobs, hasUsage }) => {
    if (head === '' || !hasSameHead(chunk, last)) {
      head = JSON.stringify(headOf(chunk, 'chat.completion.chunk')).slice(0, -1)
      last = chunk
    }
    const role = hasRole ? '"role":"assistant",' : ''
    const logprobs = hasLogprobs ? '"logprobs":null,' : ''
    const usage = hasUsage ? ',"usage":null' : ''
    // JSON has no line breaks of its own, so that one line holds it.
    return `data: ${head},"choices":[{"index":${index},"delta":{${role}"content":${JSON.stringify(content)}},${logprobs}"finish_reason":null}]${usage}}\n\n`
  }
}

function hasSameHead(one: JsonObject, other: JsonObject): boolean {
  return (
    one['id'] === other['id'] &&
    one['created'] === other['created'] &&
    one['model'] === other['model'] &&
    one['system_fingerprint'] === other['system_fingerprint'] &&
    one['service_tier'] === other['service_tier']
  )
}
