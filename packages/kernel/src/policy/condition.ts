// Conditions of policy rules, in CEL. They are parsed and checked when a policy is loaded, and evaluated within a budget.

import type { ASTNode } from '@marcbachmann/cel-js'
import { KernelError } from '../error.ts'
import { compile } from './cel/compile.ts'
import { Exhausted, Failure, Refused } from './cel/failure.ts'
import { Frame, MAX_STEPS, type Code } from './cel/frame.ts'
import { partOf, type Part } from './cel/parts.ts'
import { createReader, type ExpressionReader } from './cel/reader.ts'
import { examine, type Examined } from './examine.ts'

type Scalar = 'string' | 'bool' | 'int' | 'double' | 'dyn'

/**
 * The type of a field. `dyn` is for data of unknown shape, like arguments.
 *
 * A record has exactly the named fields, and any other name in a condition is a mistake: `{ record: … }` for one record, `{ list: …
 * }` for a list of records.
 */
type FieldType =
  | Scalar
  | `list<${Scalar}>`
  | `map<string, ${Scalar}>`
  | { readonly record: Fields }
  | { readonly list: Fields }

/** The fields of a record, each with its type. */
type Fields = Readonly<Record<string, FieldType>>

/** The type of a variable. The value of a `timestamp` is `{ ms }`, milliseconds since 1970. */
type VariableType = FieldType | 'timestamp'

/** The variables that a condition may use, each with its CEL type. */
export type ConditionVariables = Readonly<Record<string, VariableType>>

/**
 * Values of variables. A JavaScript number is a CEL double and a bigint is a CEL int; objects are maps of their own keys. A
 * property may be a getter: it is read at most once, and only if the condition needs it.
 *
 * A value need not have the declared type: operations that it does not support fail.
 */
export type Values = Readonly<Record<string, ConditionValue>>

/** The possible values of a variable. */
export type ConditionValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly ConditionValue[]
  | { readonly [key: string]: ConditionValue }

/** A problem in the source of a condition, with its offset in characters from zero. */
interface ConditionMistake {
  readonly offset: number
  readonly message: string
}

/** A parsed, checked and compiled condition. */
export interface Condition {
  readonly source: string

  /** The variables that it uses. The others need no value. */
  readonly uses: ReadonlySet<string>

  /** The fields of variables that it names, such as `shell.hosts`. */
  readonly names: ReadonlySet<string>

  /** Parses its syntax tree again. Trees are large, and evaluation does not need them. */
  tree(): ASTNode

  /**
   * Returns whether the condition holds. The same values give the same answer on every platform.
   *
   * @throws KernelError `CONDITION_FAILED` if the evaluation fails (a missing key, incompatible types, an overflow), takes more
   * than 100,000 steps, or gives no bool. The message gives the reason without any values.
   */
  test(values: Values): boolean

  /**
   * Evaluates each part with a separate budget. Shows only values of variables in `shown`. It is far slower than `test`, and splits
   * the condition on first use.
   */
  examine(values: Values, shown: ReadonlySet<string>): Examined
}

/** A set of declared variables, for any number of conditions. */
interface ConditionEnvironment {
  /**
   * Compiles the source of a condition, or returns its problem; only a condition has a `test`. Never throws.
   *
   * A mistake is everything that is known ahead: syntax, an undeclared name, incompatible types, a pattern that RE2 does not
   * accept, more than 4,096 characters, more than 64 levels, an unsupported feature of CEL.
   */
  compile(source: string): Condition | ConditionMistake
}

/**
 * Returns the environment for conditions with these variables.
 *
 * @throws KernelError `CONDITION_INVALID` for an invalid variable name, or one of CEL's own, like `int`.
 */
export function conditionEnvironment(variables: ConditionVariables): ConditionEnvironment {
  const reader = createReader()
  for (const [name, type] of Object.entries(variables)) declare(reader, name, type)
  const names = new Map(Object.entries(variables).map(([name, type]) => [name, type === 'timestamp']))

  return {
    compile(source) {
      try {
        return build(reader, names, source)
      } catch (error) {
        if (error instanceof Refused) return { offset: error.offset, message: error.message }
        throw error
      }
    },
  }
}

const NAME = /^(?!(?:true|false|null|in)$)[A-Za-z_][A-Za-z0-9_]*$/

function declare(reader: ExpressionReader, name: string, type: VariableType): void {
  try {
    if (!NAME.test(name)) throw new Error('not a name of CEL')
    reader.declare(name, nameOfType(reader, name, type))
  } catch (cause) {
    throw new KernelError('CONDITION_INVALID', `a variable cannot be called \`${name}\`; rename it`, {
      cause,
    })
  }
}

/** Returns the reader's name of a type. A record is named after its path. */
function nameOfType(reader: ExpressionReader, place: string, type: VariableType): string {
  if (type === 'timestamp') return 'google.protobuf.Timestamp'
  if (typeof type === 'string') return type
  const fields = Object.entries('record' in type ? type.record : type.list)
  const names = fields.map(([name, field]): [string, string] => [
    name,
    nameOfType(reader, `${place}.${name}`, field),
  ])
  const record = `${place}.record`
  reader.declareRecord(record, Object.fromEntries(names))
  return 'record' in type ? record : `list<${record}>`
}

function build(reader: ExpressionReader, variables: ReadonlyMap<string, boolean>, source: string): Condition {
  const reading = reader.read(source)
  const type = reading.check()
  if (type !== 'bool' && type !== 'dyn') {
    throw new Refused(0, `the condition gives \`${type}\`, not \`bool\`; compare it with something`)
  }
  const uses = new Map<string, number>()
  const code = compile(reading.tree, { variables, locals: [], uses })
  const tree = (): ASTNode => reader.read(source).tree
  let part: Part | undefined
  return {
    source,
    uses: new Set(uses.keys()),
    names: new Set(fieldNames(reading.tree)),
    tree,
    test: (values) => evaluate(code, values),
    examine(values, shown) {
      part ??= partOf(tree(), source, variables)
      return examine(part, (each) => evaluate(each.code, values), readable(values, variables), shown)
    },
  }
}

/** Returns the fields of variables in a syntax tree, as `variable.field`. */
function fieldNames(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(fieldNames)
  if (typeof node !== 'object' || node === null || !('op' in node) || !('args' in node)) return []
  const { op, args } = node
  if (op !== '.' || !Array.isArray(args)) return fieldNames(args)
  const [of, field] = args as readonly unknown[]
  const isVariable = typeof of === 'object' && of !== null && 'op' in of && of.op === 'id' && 'args' in of
  return isVariable ? [`${String(of.args)}.${String(field)}`] : fieldNames(of)
}

/** Returns the values with timestamps as text. */
function readable(values: Values, variables: ReadonlyMap<string, boolean>): Values {
  const moments = [...variables].flatMap(([name, isMoment]) => (isMoment ? [name] : []))
  return { ...values, ...Object.fromEntries(moments.map((name) => [name, momentText(values[name])])) }
}

function momentText(value: ConditionValue | undefined): ConditionValue {
  const ms = typeof value === 'object' && value !== null && 'ms' in value ? value['ms'] : undefined
  const date = typeof ms === 'number' ? new Date(ms) : undefined
  return date && !Number.isNaN(date.getTime()) ? date.toISOString() : null
}

function evaluate(code: Code, values: Values): boolean {
  try {
    const result = code(new Frame(values))
    if (typeof result === 'boolean') return result
  } catch (error) {
    if (error instanceof Failure) throw failed(error.message)
    if (error instanceof Exhausted) {
      throw failed(`it takes more than ${MAX_STEPS} steps; simplify it or shorten the arguments`)
    }
    throw error
  }
  throw failed('its result is not a bool; compare it with something')
}

function failed(reason: string): KernelError {
  return new KernelError('CONDITION_FAILED', `the condition failed: ${reason}`)
}
