// The JSON Schema of a tool's arguments. Its text comes from a server that nobody here trusts: it is reviewed before it is
// used, no code is made from it, and checking arguments against it takes bounded time.

import type { Json } from '@tollgate/evidence'
import { KernelError } from '../../error.ts'
import { compileChecks } from './compile.ts'
import { isObject } from './keywords.ts'
import { reviewSchema } from './review.ts'
import { SchemaRun, type Check } from './run.ts'

/** A schema that was reviewed and can be used. */
export interface ArgumentsSchema {
  /**
   * The first problem with the arguments, or undefined if they fit.
   *
   * Never throws and takes bounded time: arguments that need more are a problem. They are not changed.
   */
  check(args: Json): SchemaProblem | undefined
}

/** What is wrong with arguments. Made of the schema's words and ours only: neither values nor names of the caller's. */
interface SchemaProblem {
  /** Where, as a JSON pointer. A property that the schema does not name is written `(additional)`. */
  readonly at: string
  readonly problem: string
}

/**
 * Makes the check of a tool's arguments out of its schema.
 *
 * The arguments must be an object, fit the schema (`format`s and other annotations are not checked), and hold no
 * property that nobody has named. Where a schema names `properties` and says nothing of others (with
 * `additionalProperties` or `unevaluatedProperties`), others are refused, in every dialect, as they would be by
 * `unevaluatedProperties: false`. At the root this also holds if it names none. Below the root, an object without
 * named properties may hold anything.
 *
 * @throws KernelError `SCHEMA_REFUSED` with all that `problemsInSchema` finds.
 */
export function compileSchema(schema: Json): ArgumentsSchema {
  const problems = problemsInSchema(schema)
  if (problems.length > 0 || !isObject(schema)) {
    throw new KernelError('SCHEMA_REFUSED', `the schema cannot be used: ${problems.join('; ')}`)
  }
  const check = compileChecks(schema)
  return { check: (args) => firstProblem(check, args) }
}

/** The problems for which `compileSchema` would refuse a schema. Only reads it. Never throws. */
export function problemsInSchema(schema: Json): readonly string[] {
  return reviewSchema(schema)
}

function firstProblem(check: Check, args: Json): SchemaProblem | undefined {
  if (!isObject(args)) return { at: '', problem: 'must be an object' }
  const run = new SchemaRun()
  try {
    if (check(args, run)) return undefined
  } catch {
    // Out of steps, or of stack. Whatever it was, nobody has seen that these arguments fit.
    return { at: '', problem: 'cannot be checked with a reasonable amount of work' }
  }
  const { problem, path } = run.found
  return { at: path.toReversed().join(''), problem }
}
