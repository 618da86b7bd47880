// Checks the members of an object or an array.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence/core'
import { entriesOf, get, numberOf, shown, shownStep, textsOf } from './keywords.ts'
import { NOTHING, type Check, type SchemaRun, type CheckedValues } from './run.ts'
import { areUnique, usablePattern } from './values.ts'

/** Compiles a subschema. */
export type Compile = (schema: Json) => Check

/** The problem of an unnamed property. The message does not repeat its name, because that is text of the caller. */
export const UNNAMED = 'has a property that the schema does not name'

/** The step to an unnamed property, in place of its name. */
export const ADDITIONAL = '/(additional)'

/** The ways to compile the subschemas of an object or array. */
interface MemberModes {
  /** For subschemas that describe a member. */
  readonly below: Compile
  /** For subschemas that only count or name members. */
  readonly plain: Compile
  /** Whether unnamed properties are refused although the schema does not say so. */
  readonly closed: boolean
}

/** Returns the checks of an object's properties. */
export function objectChecks(node: JsonObject, modes: MemberModes): readonly Check[] {
  const checks = [sizeCheck(node), requiredCheck(node), namesCheck(node, modes), propertiesCheck(node, modes)]
  const used = checks.filter((check) => check !== undefined)
  if (used.length === 0) return []
  return [
    (value, run, seen) => {
      if (!isObject(value)) return true
      const keys = Object.keys(value)
      run.spend(keys.length)
      for (const check of used) if (!check(value, keys, run, seen)) return false
      return true
    },
  ]
}

type ObjectCheck = (
  object: JsonObject,
  keys: readonly string[],
  run: SchemaRun,
  seen?: CheckedValues,
) => boolean

function sizeCheck(node: JsonObject): ObjectCheck | undefined {
  const fits = countCheck(node, 'minProperties', 'maxProperties', 'properties')
  return fits && ((_object, keys, run) => fits(keys.length, run))
}

function countCheck(
  node: JsonObject,
  minKeyword: string,
  maxKeyword: string,
  members: string,
): ((count: number, run: SchemaRun) => boolean) | undefined {
  const min = numberOf(node, minKeyword) ?? 0
  const max = numberOf(node, maxKeyword) ?? Number.POSITIVE_INFINITY
  if (min === 0 && max === Number.POSITIVE_INFINITY) return undefined
  const few = `must have at least ${min} ${members}`
  const many = `must have at most ${max} ${members}`
  return (count, run) => {
    if (count < min) return run.fail(few)
    return count <= max || run.fail(many)
  }
}

function requiredCheck(node: JsonObject): ObjectCheck | undefined {
  const always = textsOf(get(node, 'required')).map((name) => ({ name, problem: `lacks \`${shown(name)}\`` }))
  const sometimes = [
    ...entriesOf(get(node, 'dependentRequired')),
    ...entriesOf(get(node, 'dependencies')),
  ].flatMap(([given, names]) =>
    textsOf(names).map((name) => ({
      given,
      name,
      problem: `has \`${shown(given)}\` and lacks \`${shown(name)}\``,
    })),
  )
  if (always.length + sometimes.length === 0) return undefined
  const steps = (always.length + sometimes.length) >> 2
  return (object, _keys, run) => {
    run.spend(steps)
    for (const { name, problem } of always) if (!Object.hasOwn(object, name)) return run.fail(problem)
    for (const { given, name, problem } of sometimes) {
      if (Object.hasOwn(object, given) && !Object.hasOwn(object, name)) return run.fail(problem)
    }
    return true
  }
}

function namesCheck(node: JsonObject, { plain }: MemberModes): ObjectCheck | undefined {
  const names = get(node, 'propertyNames')
  if (names === undefined) return undefined
  const check = plain(names)
  const problem = 'has a property whose name the schema does not allow'
  return (_object, keys, run) => keys.every((key) => check(key, run)) || run.fail(problem)
}

function propertiesCheck(node: JsonObject, { below, closed }: MemberModes): ObjectCheck | undefined {
  const named = new Map(
    entriesOf(get(node, 'properties')).map(([name, to]) => [
      name,
      { check: below(to), step: shownStep(name) },
    ]),
  )
  const patterns = entriesOf(get(node, 'patternProperties')).map(
    ([pattern, to]) => [usablePattern(pattern), below(to)] as const,
  )
  const additional = get(node, 'additionalProperties')
  const rest = additional !== undefined ? below(additional) : closed ? NOTHING : undefined
  if (named.size + patterns.length === 0 && rest === undefined) return undefined

  return (object, keys, run, seen) => {
    if (seen) run.spend(2 * keys.length)
    for (const key of keys) {
      const value = object[key] as Json // Sound: an own key.
      const known = named.get(key)
      if (known && !known.check(value, run)) return run.below(known.step)
      let isNamed = known !== undefined
      for (const [pattern, check] of patterns) {
        if (!pattern(key, run)) continue
        isNamed = true
        if (!check(value, run)) return run.below(known?.step ?? ADDITIONAL)
      }
      if (isNamed || rest !== undefined) seen?.addName(key)
      if (isNamed || rest === undefined) continue
      if (rest === NOTHING) return run.fail(UNNAMED)
      if (!rest(value, run)) return run.below(ADDITIONAL)
    }
    return true
  }
}

/** Returns the checks of an array's items. */
export function arrayChecks(node: JsonObject, modes: MemberModes): readonly Check[] {
  const fits = countCheck(node, 'minItems', 'maxItems', 'items')
  const unique = get(node, 'uniqueItems') === true
  const checks = [itemsCheck(node, modes), containsCheck(node, modes)].filter((check) => check !== undefined)
  if (!fits && !unique && checks.length === 0) return []
  return [
    (value, run, seen) => {
      if (!isList(value)) return true
      if (fits && !fits(value.length, run)) return false
      for (const check of checks) if (!check(value, run, seen)) return false
      return !unique || areUnique(value, run) || run.fail('has the same item twice')
    },
  ]
}

type ArrayCheck = (items: readonly Json[], run: SchemaRun, seen?: CheckedValues) => boolean

function itemsCheck(node: JsonObject, { below }: MemberModes): ArrayCheck | undefined {
  const items = get(node, 'items')
  const tuple = get(node, 'prefixItems') ?? (isList(items) ? items : undefined)
  const prefix = isList(tuple) ? tuple.map(below) : []
  const others = isList(items) ? get(node, 'additionalItems') : items
  const rest = others === undefined ? undefined : below(others)
  if (prefix.length === 0 && rest === undefined) return undefined
  return (list, run, seen) => {
    const end = rest ? list.length : Math.min(prefix.length, list.length)
    for (let i = 0; i < end; i++) {
      const check = prefix[i] ?? rest
      if (check && !check(list[i] as Json, run)) return run.below(`/${i}`) // Sound: `i` is below the length.
    }
    seen?.addItemsTo(end)
    return true
  }
}

function containsCheck(node: JsonObject, { plain }: MemberModes): ArrayCheck | undefined {
  const contains = get(node, 'contains')
  if (contains === undefined) return undefined
  const check = plain(contains)
  const min = numberOf(node, 'minContains') ?? 1
  const max = numberOf(node, 'maxContains') ?? Number.POSITIVE_INFINITY
  const few = `must have at least ${min} items that match \`contains\``
  const many = `must have at most ${max} items that match \`contains\``
  return (list, run, seen) => {
    let count = 0
    list.forEach((item, i) => {
      if (!check(item, run)) return
      count++
      seen?.addItem(i)
    })
    if (count < min) return run.fail(few)
    return count <= max || run.fail(many)
  }
}
