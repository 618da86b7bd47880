// Checks of subschemas that apply to the same value as their parent schema.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence/core'
import { entriesOf, get, resolve } from './keywords.ts'
import { ADDITIONAL, UNNAMED, type Compile } from './members.ts'
import { NOTHING, CheckedValues, type Check, type FoundProblem, type SchemaRun } from './run.ts'

/** The ways to compile the branches of a schema. */
interface BranchModes {
  /** For branches that a value must match. */
  readonly branch: Compile
  /** For branches that a value may have to fail. They are used exactly as written. */
  readonly plain: Compile
}

/** Returns the checks of the branches. */
export function branchChecks(root: JsonObject, node: JsonObject, modes: BranchModes): readonly Check[] {
  const { branch } = modes
  const all = get(node, 'allOf')
  const any = get(node, 'anyOf')
  const one = get(node, 'oneOf')
  const ref = get(node, '$ref')
  // A schema with an unresolved reference is already refused, so `false` is never used.
  const target = typeof ref === 'string' ? (resolve(root, ref) ?? false) : undefined
  return [
    ...(target === undefined ? [] : [branch(target)]),
    ...(isList(all) ? all.map(branch) : []),
    ...(isList(any) ? [anyOf(any.map(branch))] : []),
    ...(isList(one) ? [oneOf(one, modes)] : []),
    ...notChecks(node, modes),
    ...conditionChecks(node, modes),
    ...dependentChecks(node, modes),
  ]
}

const NO_ALTERNATIVE = 'matches none of the alternatives'

function anyOf(alternatives: readonly Check[]): Check {
  return (value, run, seen) => {
    let fits = false
    const near: FoundProblem[] = []
    for (const alternative of alternatives) {
      const own = seen && new CheckedValues()
      if (alternative(value, run, own)) {
        if (!seen || !own) return true // Nothing records the members that others check.
        seen.addAll(own, run)
        fits = true
      } else if (!run.found.wrongType) near.push(run.found)
    }
    if (fits) return true
    // If only one alternative accepts the type, its problem is the most precise.
    const [only] = near
    return near.length === 1 && only ? run.again(only) : run.fail(NO_ALTERNATIVE)
  }
}

/**
 * Counts matches of the alternatives as written. The one that matches must also match when closed. Counting closed alternatives
 * could turn two matches into one and accept a value that the author refuses.
 */
function oneOf(schemas: readonly Json[], { branch, plain }: BranchModes): Check {
  const written = schemas.map(plain)
  const closed = schemas.map(branch)
  const any = anyOf(closed)
  return (value, run, seen) => {
    const fitting = closed.filter((_check, i) => written[i]?.(value, run) === true)
    const [only] = fitting
    if (fitting.length > 1) return run.fail('matches more than one of the alternatives')
    if (only) return only(value, run, seen)
    any(value, run) // Records the problem.
    return false
  }
}

function notChecks(node: JsonObject, { plain }: BranchModes): readonly Check[] {
  const not = get(node, 'not')
  if (not === undefined) return []
  const excluded = plain(not)
  return [(value, run) => !excluded(value, run) || run.fail('is a value that the schema excludes')]
}

function conditionChecks(node: JsonObject, { branch, plain }: BranchModes): readonly Check[] {
  const condition = get(node, 'if')
  if (condition === undefined) return []
  const test = plain(condition)
  const then = branch(get(node, 'then') ?? true)
  const otherwise = branch(get(node, 'else') ?? true)
  return [
    (value, run, seen) => {
      const own = new CheckedValues()
      if (!test(value, run, seen && own)) return otherwise(value, run, seen)
      seen?.addAll(own, run)
      return then(value, run, seen)
    },
  ]
}

function dependentChecks(node: JsonObject, { branch }: BranchModes): readonly Check[] {
  const dependent = [...entriesOf(get(node, 'dependentSchemas')), ...entriesOf(get(node, 'dependencies'))]
  return dependent.flatMap(([name, schema]) => {
    if (isList(schema)) return []
    const check = branch(schema)
    return [
      (value, run, seen): boolean =>
        !isObject(value) || !Object.hasOwn(value, name) || check(value, run, seen),
    ] satisfies Check[]
  })
}

/** The checks for members that no other keyword has checked; undefined if there is none. */
interface Unevaluated {
  readonly properties: Check | undefined
  readonly items: Check | undefined
}

/** Returns a check that runs `rest`, then checks the members that `rest` has not checked. */
export function unevaluatedCheck(rest: Check, { properties, items }: Unevaluated): Check {
  return (value, run, outer) => {
    if (typeof value !== 'object' || value === null) return rest(value, run)
    const seen = new CheckedValues()
    if (!rest(value, run, seen)) return false
    const fits = isList(value)
      ? otherItems(value, items, run, seen)
      : otherNames(value, properties, run, seen)
    if (fits) outer?.addAll(seen, run)
    return fits
  }
}

function otherNames(value: Json, check: Check | undefined, run: SchemaRun, seen: CheckedValues): boolean {
  if (!check) return true
  for (const [key, member] of entriesOf(value)) {
    if (seen.hasName(key)) continue
    if (check === NOTHING) return run.fail(UNNAMED)
    if (!check(member, run)) return run.below(ADDITIONAL)
    seen.addName(key)
  }
  return true
}

function otherItems(
  list: readonly Json[],
  check: Check | undefined,
  run: SchemaRun,
  seen: CheckedValues,
): boolean {
  if (!check) return true
  for (const [i, item] of list.entries()) {
    if (!seen.hasItem(i) && !check(item, run)) return run.below(`/${i}`)
  }
  seen.addItemsTo(list.length)
  return true
}
