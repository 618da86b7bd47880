// Random changes of JSON values, and of bytes.

import { isObject, type Json, type JsonObject } from '../../packages/evidence/src/index.ts'
import { below, oneOf, type Random } from './random.ts'

const OTHERS: readonly Json[] = [
  null,
  true,
  false,
  0,
  1,
  2,
  -1,
  1.5,
  1e-7,
  1e21,
  9_007_199_254_740_991,
  '',
  'x',
  '*',
  '\u0000',
  '\u0085',
  '😀',
  'a'.repeat(257),
  '0'.repeat(64),
  '0.0000',
  '-0.0000',
  '2026-02-30T00:00:00.000Z',
  '2024-02-29T00:00:00.000Z',
  [],
  {},
  ['a', 'a'],
]

/** Another value, of the same type or not. */
export function changedValue(value: Json, random: Random): Json {
  if (random() < 0.3) return oneOf(random, OTHERS)
  if (typeof value === 'number') return value + oneOf(random, [-2, -1, 1, 2, 0.5])
  if (typeof value === 'string') return changedText(value, random)
  if (typeof value === 'boolean') return !value
  if (Array.isArray(value)) return changedList(value, random)
  return isObject(value) ? changedObject(value, random) : oneOf(random, OTHERS)
}

function changedText(text: string, random: Random): string {
  const at = below(random, text.length + 1)
  const digit = oneOf(random, '0123456789abcdefZ/+=.-_ '.split(''))
  const rest = text.slice(at + (random() < 0.7 ? 1 : 0))
  return text.slice(0, at) + (random() < 0.8 ? digit : '') + rest
}

function changedList(list: readonly Json[], random: Random): Json {
  if (list.length === 0 || random() < 0.3) return [...list, list[0] ?? oneOf(random, OTHERS)]
  const at = below(random, list.length)
  if (random() < 0.3) return list.filter((_, i) => i !== at)
  return list.map((each, i) => (i === at ? changedValue(each, random) : each))
}

function changedObject(object: JsonObject, random: Random): Json {
  const names = Object.keys(object)
  if (names.length === 0 || random() < 0.2) return { ...object, [oneOf(random, ['v', 'extra', 'a'])]: 1 }
  const name = oneOf(random, names)
  const { [name]: value = null, ...others } = object
  return random() < 0.2 ? others : { ...others, [name]: changedValue(value, random) }
}

/** Other bytes: a bit flipped, or a part removed, repeated or replaced. */
export function changedBytes(bytes: Uint8Array, random: Random): Uint8Array {
  const at = below(random, bytes.length + 1)
  const length = oneOf(random, [1, 1, 1, 2, 8, 512])
  const before = bytes.slice(0, at)
  const part = bytes.slice(at, at + length)
  const after = bytes.slice(at + length)
  const flipped = part.map((byte) => byte ^ (1 << below(random, 8)))
  return new Uint8Array(
    Buffer.concat(
      oneOf(random, [
        [before, flipped, after],
        [before, after],
        [before, part, part, after],
      ]),
    ),
  )
}
