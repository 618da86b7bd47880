// Explains why a condition holds or not: evaluates each part, and lists the values that it uses.

import type { ConditionValue, Values } from './condition.ts'
import { pathText, type Part, type Path } from './cel/parts.ts'

/** Whether a part holds; `failed` if its evaluation fails, which denies. */
type Truth = boolean | 'failed'

/** A value that a part uses. */
export interface Look {
  /** In the syntax of conditions: `args.path`. */
  readonly name: string
  /** Its value, shortened; undefined if it is missing or must not be shown. */
  readonly value: string | undefined
  /** The call does not have it. */
  readonly missing: boolean
}

/** A condition or part of one, with the values of a call. */
export interface Examined {
  readonly text: string
  readonly truth: Truth
  /** Why it failed. */
  readonly fault: string | undefined
  /** How its parts combine: all must hold, or any one; undefined if it has no parts. */
  readonly joins: 'all' | 'any' | undefined
  readonly parts: readonly Examined[]
  /** The values that it uses; empty if it has parts. */
  readonly looks: readonly Look[]
}

/** Evaluates a part. @throws with the reason of a failure. */
type Test = (part: Part) => boolean

/** Examines a part and all parts inside it. Shows only values of these variables. */
export function examine(part: Part, test: Test, values: Values, shown: ReadonlySet<string>): Examined {
  const { text, joins, paths } = part
  return {
    text,
    ...truthOf(part, test),
    joins,
    parts: part.parts.map((each) => examine(each, test, values, shown)),
    // The values of a whole are listed with its parts.
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
const MAX_DEPTH = 3

/** Returns a value as JSON, shortened. */
function valueText(value: ConditionValue): string {
  const text = spelled(value, MAX_DEPTH)
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
