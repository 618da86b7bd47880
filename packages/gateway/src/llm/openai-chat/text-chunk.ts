// The fast path for the most common chunk: one choice with text only. Its output equals that of the general path.

import { isList, isObject, type JsonObject } from '@tollgate/evidence'
import { MAX_ITEMS } from './calls.ts'
import { headOf, placeOf } from './members.ts'

/** The text of such a chunk. */
interface Words {
  readonly index: number
  readonly content: string
  readonly hasRole: boolean
  readonly hasLogprobs: boolean
  readonly hasUsage: boolean
}

/** The text of a chunk that has nothing else; undefined for any other chunk. @throws Garbled */
export function wordsIn({ choices, usage }: JsonObject): Words | undefined {
  const entry = isList(choices) && choices.length === 1 ? choices[0] : undefined
  if (!isObject(entry) || isObject(usage)) return undefined
  const { delta, logprobs, finish_reason: finish } = entry
  if (!isObject(delta) || isObject(logprobs) || (finish !== null && finish !== undefined)) return undefined
  const { content, role } = delta
  if (typeof content !== 'string' || content === '') return undefined
  const hasRole = role !== undefined && role !== null
  // Other members need the general path.
  if (Object.keys(delta).length !== (hasRole ? 2 : 1)) return undefined
  return {
    index: placeOf(entry, MAX_ITEMS, 'a choice'),
    content,
    hasRole,
    hasLogprobs: logprobs !== undefined,
    hasUsage: usage === null,
  }
}

/** Writes the events of such chunks. The constant head is serialized only when it changes. */
export class WordWriter {
  #last: JsonObject = {}
  #head = ''

  write(chunk: JsonObject, { index, content, hasRole, hasLogprobs, hasUsage }: Words): string {
    if (this.#head === '' || !hasSameHead(chunk, this.#last)) {
      this.#head = JSON.stringify(headOf(chunk, 'chat.completion.chunk')).slice(0, -1)
      this.#last = chunk
    }
    const role = hasRole ? '"role":"assistant",' : ''
    const logprobs = hasLogprobs ? '"logprobs":null,' : ''
    const usage = hasUsage ? ',"usage":null' : ''
    // JSON has no line breaks, so one data line holds it.
    return `data: ${this.#head},"choices":[{"index":${index},"delta":{${role}"content":${JSON.stringify(content)}},${logprobs}"finish_reason":null}]${usage}}\n\n`
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
