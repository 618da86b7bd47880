// Subschemas that look at the same value as the schema they stand in.

import type { Json, JsonObject } from '@tollgate/evidence'
import { entriesOf, get, isList, isObject, resolve } from './keywords.ts'
import { ADDITIONAL, UNNAMED, type Compile } from './members.ts'
import { NOTHING, CheckedValues, type Check, type FoundProblem, type SchemaRun } from './run.ts'

/** How the branches of a schema are compiled. */
interface BranchModes {
  /** For branches that a value has to fit. */
  readonly branch: Compile
  /** For branches that a value may also have to miss: these are used exactly as they were written. */
  readonly plain: Compile
}

/** The checks of the branches. */
export function branchChecks(root: JsonObject, node: JsonObject, modes: BranchModes): readonly Check[] {
  const { branch } = modes
  const all = get(node, 'allOf')
  const any = get(node, 'anyOf')
  const one = get(node, 'oneOf')
  const ref = get(node, '$ref')
  // Not reached: a schema whose reference leads nowhere is refused before.
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

const NO_ALTERNATIVE = 'fits none of the alternatives'

function anyOf(alternatives: readonly Check[]): Check {
  return (value, run, seen) => {
    let fits = false
    const near: FoundProblem[] = []
    for (const alternative of alternatives) {
      const own = seen && new CheckedValues()
      if (alternative(value, run, own)) {
        if (!seen || !own) return true // nobody needs to know what the others look at
        seen.addAll(own, run)
        fits = true
      } else if (!run.found.wrongType) near.push(run.found)
    }
    if (fits) return true
    // Where only one alternative was of the right kind, its problem says more.
    const [only] = near
    return near.length === 1 && only ? run.again(only) : run.fail(NO_ALTERNATIVE)
  }
}

/**
 * Counted as written, and the one that fits must also fit when closed. Counting the closed ones instead could make one
 * fit out of two, and let through what the author refuses.
 */
function oneOf(schemas: readonly Json[], { branch, plain }: BranchModes): Check {
  const written = schemas.map(plain)
  const closed = schemas.map(branch)
  const any = anyOf(closed)
  return (value, run, seen) => {
    const fitting = closed.filter((_check, i) => written[i]?.(value, run) === true)
    const [only] = fitting
    if (fitting.length > 1) return run.fail('fits more than one of the alternatives')
    if (only) return only(value, run, seen)
    any(value, run) // for its problem
    return false
  }
}

function notChecks(node: JsonObject, { plain }: BranchModes): readonly Check[] {
  const not = get(node, 'not')
  if (not === undefined) return []
  const excluded = plain(not)
  return [(value, run) => !excluded(value, run) || run.fail('is what the schema excludes')]
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

/** What is said of the members that nothing else has looked at; undefined if nothing is said. */
interface Unevaluated {
  readonly properties: Check | undefined
  readonly items: Check | undefined
}

/** `rest`, and then what is said of the members that nothing in `rest` has looked at. */
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
