// The JSON Schema of a tool's arguments. The schema comes from an untrusted server, so it is reviewed before use, no code is
// generated from it, and checks take bounded time.

import { isObject, type Json } from '@tollgate/evidence/core'
import { KernelError } from '../../error.ts'
import { compileChecks } from './compile.ts'
import { reviewSchema } from './review.ts'
import { SchemaRun, type Check } from './run.ts'

/** A reviewed schema. */
export interface ArgumentsSchema {
  /**
   * Returns the first problem of the arguments, or undefined if they match. Never throws. The time is bounded: arguments that
   * need more are refused.
   */
  check(args: Json): SchemaProblem | undefined
}

/** A problem of arguments. It contains no values and names from the caller. */
interface SchemaProblem {
  /** A JSON pointer. An unnamed property is written `(additional)`. */
  readonly at: string
  readonly problem: string
}

/**
 * Compiles the schema of a tool to a check of its arguments. The arguments must be an object, match the schema (annotations such
 * as `format` are not checked), and have no unnamed properties. A schema that has `properties` but neither `additionalProperties`
 * nor `unevaluatedProperties` is treated as if it had `unevaluatedProperties: false`, in every dialect. The root is treated so
 * even without `properties`. Below the root, an object without named properties accepts anything. @throws KernelError
 * `SCHEMA_REFUSED` with all problems of `problemsInSchema`.
 */
export function compileSchema(schema: Json): ArgumentsSchema {
  const problems = problemsInSchema(schema)
  if (problems.length > 0 || !isObject(schema)) {
    throw new KernelError('SCHEMA_REFUSED', `the schema cannot be used: ${problems.join('; ')}`)
  }
  const check = compileChecks(schema)
  return { check: (args) => firstProblem(check, args) }
}

/** Returns the problems for which `compileSchema` refuses a schema. Never throws. */
export function problemsInSchema(schema: Json): readonly string[] {
  return reviewSchema(schema)
}

function firstProblem(check: Check, args: Json): SchemaProblem | undefined {
  if (!isObject(args)) return { at: '', problem: 'must be an object' }
  const run = new SchemaRun()
  try {
    if (check(args, run)) return undefined
  } catch {
    // Out of steps or stack. The arguments are not proven to match.
    return { at: '', problem: 'takes too much work to check' }
  }
  const { problem, path } = run.found
  return { at: path.toReversed().join(''), problem }
}
