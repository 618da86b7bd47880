// Why a condition holds or does not: its parts, each by the evaluator that decides, with what it looks at.

import type { ConditionValue, Values } from './condition.ts'
import { pathText, type Part, type Path } from './cel/parts.ts'

/** Whether a part holds; `failed` if that cannot be told, which denies. */
type Truth = boolean | 'failed'

/** Something that a part looks at. */
export interface Look {
  /** As conditions write it: `args.path`. */
  readonly name: string
  /** Its value, shortened; undefined where it is missing, or is not the caller's own. */
  readonly value: string | undefined
  /** The call does not have it. */
  readonly missing: boolean
}

/** A condition, or a part of one, under the values of a call. */
export interface Examined {
  readonly text: string
  readonly truth: Truth
  /** Why it failed. */
  readonly fault: string | undefined
  /** How its parts make it up: all of them must hold, or any one; undefined if it has none. */
  readonly joins: 'all' | 'any' | undefined
  readonly parts: readonly Examined[]
  /** What it looks at; none if it has parts: they say so. */
  readonly looks: readonly Look[]
}

/** What tells whether a part holds. @throws with why it failed. */
type Test = (part: Part) => boolean

/** Examines a part and all that it is made of. Values are shown of these variables only. */
export function examine(part: Part, test: Test, values: Values, shown: ReadonlySet<string>): Examined {
  const { text, joins, paths } = part
  return {
    text,
    ...truthOf(part, test),
    joins,
    parts: part.parts.map((each) => examine(each, test, values, shown)),
    // What a whole looks at is what its parts do.
    looks: joins ? [] : paths.map((path) => lookAt(path, values, shown)),
  }
}

function truthOf(part: Part, test: Test): Pick<Examined, 'truth' | 'fault'> {
  try {
    return { truth: test(part), fault: undefined }
  } catch (fault) {
    return { truth: 'failed', fault: fault instanceof Error ? fault.message : 'it failed' }
  }
}

function lookAt(path: Path, values: Values, shown: ReadonlySet<string>): Look {
  const [variable, ...steps] = path
  const name = pathText(path)
  if (!shown.has(variable)) return { name, value: undefined, missing: false }
  const start = Object.hasOwn(values, variable) ? values[variable] : undefined
  const value = steps.reduce<ConditionValue | undefined>(stepInto, start)
  return { name, value: value === undefined ? undefined : valueText(value), missing: value === undefined }
}

function stepInto(value: ConditionValue | undefined, step: string | bigint): ConditionValue | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (isList(value)) return typeof step === 'bigint' ? value[Number(step)] : undefined
  return typeof step === 'string' && Object.hasOwn(value, step) ? value[step] : undefined
}

const MAX_VALUE = 80
const DEEPEST = 3

/** A value as JSON, cut where it is long. */
function valueText(value: ConditionValue): string {
  const text = spelled(value, DEEPEST)
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE - 1).toWellFormed()}…` : text
}

function spelled(value: ConditionValue, depth: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, MAX_VALUE))
  if (typeof value !== 'object' || value === null) return String(value)
  if (depth === 0) return '…'
  if (isList(value)) {
    return `[${value
      .slice(0, MAX_VALUE)
      .map((item) => spelled(item, depth - 1))
      .join(', ')}]`
  }
  const members = Object.entries(value).slice(0, MAX_VALUE)
  return `{${members.map(([name, each]) => `${JSON.stringify(name.slice(0, MAX_VALUE))}: ${spelled(each, depth - 1)}`).join(', ')}}`
}

/** `Array.isArray` does not narrow a readonly array. */
function isList(value: object): value is readonly ConditionValue[] {
  return Array.isArray(value)
}
