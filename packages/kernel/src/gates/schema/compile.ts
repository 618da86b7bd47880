// Compiles a reviewed schema to a check: one closure per subschema. No code is generated.

import { isObject, type Json, type JsonObject } from '@tollgate/evidence/core'
import { branchChecks, unevaluatedCheck } from './branches.ts'
import { closingRules, type ClosingRules } from './closing.ts'
import { get } from './keywords.ts'
import { arrayChecks, objectChecks, type Compile } from './members.ts'
import { ANYTHING, inOrder, NOTHING, type Check } from './run.ts'
import { valueChecks } from './values.ts'

/**
 * The way a subschema is used. `root` and `place`: it describes a separate value and is closed. `branch`: it describes a value
 * together with other schemas, so it is not closed, but the schemas of its members are. `plain`: nothing is closed.
 */
type Mode = 'root' | 'place' | 'branch' | 'plain'

/** Compiles a schema that passed the review. With `plain`, nothing is closed. */
export function compileChecks(root: JsonObject, mode: 'root' | 'plain' = 'root'): Check {
  return new Compiler(root).compile(mode)
}

class Compiler {
  readonly #root: JsonObject
  readonly #rules: ClosingRules
  readonly #made = new Map<Mode, Map<JsonObject, Check>>()
  // A work list, because schemas can refer to each other in cycles and long chains that would exhaust the stack.
  readonly #waiting: (() => void)[] = []

  constructor(root: JsonObject) {
    this.#root = root
    this.#rules = closingRules(root)
  }

  compile(mode: Mode): Check {
    const check = this.#check(this.#root, mode)
    for (let next = this.#waiting.pop(); next; next = this.#waiting.pop()) next()
    return check
  }

  #check(schema: Json, mode: Mode): Check {
    if (!isObject(schema)) return schema === true ? ANYTHING : NOTHING
    const made = this.#made.get(mode) ?? new Map<JsonObject, Check>()
    this.#made.set(mode, made)
    const before = made.get(schema)
    if (before) return before
    let body = NOTHING
    const check: Check = (value, run, seen) => {
      run.spend(1)
      return body(value, run, seen)
    }
    made.set(schema, check)
    this.#waiting.push(() => (body = this.#body(schema, mode)))
    return check
  }

  #body(node: JsonObject, mode: Mode): Check {
    const isPlace = mode === 'root' || mode === 'place'
    const sole = isPlace ? this.#rules.soleBranch(node) : undefined
    const closing = isPlace && !sole ? this.#rules.closing(node, mode === 'root') : 'no'
    // If two branches describe the same member, neither names all of its properties, so neither is closed.
    const asWritten = mode === 'plain' || (isPlace && this.#rules.overlaps(node))
    const plain: Compile = (schema) => this.#check(schema, 'plain')
    const below: Compile = (schema) => this.#check(schema, asWritten ? 'plain' : 'place')
    const branch: Compile = (schema) =>
      this.#check(schema, schema === sole ? mode : asWritten ? 'plain' : 'branch')

    const checks = inOrder([
      ...valueChecks(node),
      ...objectChecks(node, { below, plain, closed: closing === 'own' }),
      ...arrayChecks(node, { below, plain, closed: false }),
      ...branchChecks(this.#root, node, { branch, plain }),
    ])
    const otherProperties = closing === 'unevaluated' ? false : get(node, 'unevaluatedProperties')
    const otherItems = get(node, 'unevaluatedItems')
    if (otherProperties === undefined && otherItems === undefined) return checks
    return unevaluatedCheck(checks, {
      properties: otherProperties === undefined ? undefined : below(otherProperties),
      items: otherItems === undefined ? undefined : below(otherItems),
    })
  }
}
