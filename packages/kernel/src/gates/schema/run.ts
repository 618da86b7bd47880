// One check of one call's arguments: how much work is left, what was found, and what was looked at.

import type { Json } from '@tollgate/evidence'
import { KernelError } from '../../error.ts'

/** Whether a value fits. If not, `run` holds the problem. With `seen`, also notes which members were looked at. */
export type Check = (value: Json, run: SchemaRun, seen?: CheckedValues) => boolean

/** Accepts anything. */
export const ANYTHING: Check = () => true

/** Accepts nothing. */
export const NOTHING: Check = (_value, run) => run.fail('is not allowed')

/** All of the checks in their order, up to the first that finds a problem. */
export function inOrder(checks: readonly Check[]): Check {
  const [first = ANYTHING] = checks
  if (checks.length <= 1) return first
  return (value, run, seen) => {
    for (const check of checks) if (!check(value, run, seen)) return false
    return true
  }
}

/** A step is the work of looking at one value with one subschema, or about as much. */
const MAX_STEPS = 2_000_000

/** The state of a check. Every sentence it holds was made from the schema, before there were arguments. */
export class SchemaRun {
  #left = MAX_STEPS
  #problem = ''
  // From the inside out: a step is added where a check has come back.
  #path: string[] = []
  #wrongType = false

  /** Takes steps from what is left. @throws KernelError if nothing is left. */
  spend(steps: number): void {
    this.#left -= steps
    if (this.#left < 0) throw new KernelError('SCHEMA_REFUSED', 'the arguments take too long to check')
  }

  /** Notes a problem of the value at hand; `wrongType` if it is not even of the right type. */
  fail(problem: string, wrongType = false): false {
    return this.again({ problem, path: [], wrongType })
  }

  /** Notes that the problem is one step further down. */
  below(step: string): false {
    this.#path.push(step)
    return false
  }

  get found(): FoundProblem {
    return { problem: this.#problem, path: this.#path, wrongType: this.#wrongType && this.#path.length === 0 }
  }

  /** Takes up a problem that was found before. */
  again({ problem, path, wrongType }: FoundProblem): false {
    this.#problem = problem
    this.#path = path
    this.#wrongType = wrongType
    return false
  }
}

/** A problem and the way to it, from the inside out. */
export interface FoundProblem {
  readonly problem: string
  readonly path: string[]
  readonly wrongType: boolean
}

/** The members of one value that some keyword has looked at (annotations, in the words of JSON Schema). */
export class CheckedValues {
  readonly #names = new Set<string>()
  readonly #items = new Set<number>()
  #prefix = 0

  addName(name: string): void {
    this.#names.add(name)
  }

  addItem(index: number): void {
    this.#items.add(index)
  }

  /** All items before this index. */
  addItemsTo(end: number): void {
    this.#prefix = Math.max(this.#prefix, end)
  }

  addAll(other: CheckedValues, run: SchemaRun): void {
    run.spend(2 * (other.#names.size + other.#items.size))
    for (const name of other.#names) this.#names.add(name)
    for (const index of other.#items) this.#items.add(index)
    this.addItemsTo(other.#prefix)
  }

  hasName(name: string): boolean {
    return this.#names.has(name)
  }

  hasItem(index: number): boolean {
    return index < this.#prefix || this.#items.has(index)
  }
}
