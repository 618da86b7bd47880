// One running evaluation: its inputs, loop variables and remaining budget.

import { Exhausted } from './failure.ts'
import type { CelValue, ValueObject } from './value.ts'

/** Maximum steps of one evaluation. A step is about ten nanoseconds of work, so a condition ends within milliseconds. */
export const MAX_STEPS = 100_000

/** Compiled CEL. It changes nothing but the frame. */
export type Code = (frame: Frame) => CelValue

/** The state of one evaluation. */
export class Frame {
  readonly values: ValueObject
  /** The variables read so far. */
  readonly variables: (CelValue | undefined)[] = []
  /** The loop variables, by nesting depth. */
  readonly locals: CelValue[] = []
  #remaining = MAX_STEPS

  constructor(values: ValueObject) {
    this.values = values
  }

  /**
   * Charges for work before it is done.
   *
   * Only loops, and work proportional to the size of a value, are charged. The length of the source bounds all other code.
   */
  charge(steps: number): void {
    this.#remaining -= steps
    if (this.#remaining < 0) throw new Exhausted()
  }
}
