// The state of one check of arguments: remaining work, the problem, and the checked members.

import type { Json } from '@tollgate/evidence'
import { KernelError } from '../../error.ts'

/** Returns whether a value matches. If not, `run` has the problem. With `seen`, also records the checked members. */
export type Check = (value: Json, run: SchemaRun, seen?: CheckedValues) => boolean

export const ANYTHING: Check = () => true

export const NOTHING: Check = (_value, run) => run.fail('is not allowed')

/** Combines checks. It stops at the first problem. */
export function inOrder(checks: readonly Check[]): Check {
  const [first = ANYTHING] = checks
  if (checks.length <= 1) return first
  return (value, run, seen) => {
    for (const check of checks) if (!check(value, run, seen)) return false
    return true
  }
}

/** One step is about the work of checking one value with one subschema. */
const MAX_STEPS = 2_000_000

/** The state of a check. All its messages come from the schema, never from arguments. */
export class SchemaRun {
  #left = MAX_STEPS
  #problem = ''
  // From the innermost step to the outermost.
  #path: string[] = []
  #wrongType = false

  /** Uses up steps. @throws KernelError if none are left. */
  spend(steps: number): void {
    this.#left -= steps
    if (this.#left < 0) throw new KernelError('SCHEMA_REFUSED', 'the arguments take too much work to check')
  }

  /** Records a problem of the current value; `wrongType` if its type is wrong. */
  fail(problem: string, wrongType = false): false {
    return this.again({ problem, path: [], wrongType })
  }

  /** Records that the problem is one step below. */
  below(step: string): false {
    this.#path.push(step)
    return false
  }

  get found(): FoundProblem {
    return { problem: this.#problem, path: this.#path, wrongType: this.#wrongType && this.#path.length === 0 }
  }

  /** Records a problem that was found before. */
  again({ problem, path, wrongType }: FoundProblem): false {
    this.#problem = problem
    this.#path = path
    this.#wrongType = wrongType
    return false
  }
}

/** A problem and the path to it, innermost step first. */
export interface FoundProblem {
  readonly problem: string
  readonly path: string[]
  readonly wrongType: boolean
}

/** The members of one value that some keyword has checked ("annotations" in JSON Schema). */
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

  /** Adds all items before this index. */
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
