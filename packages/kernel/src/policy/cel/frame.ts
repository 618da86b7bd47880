// One evaluation under way: its inputs, its loop variables and what is left of its budget.

import { Exhausted } from './failure.ts'
import type { CelValue, ValueObject } from './value.ts'

/** Steps of one evaluation. A step is about ten nanoseconds of work, so that a condition ends within milliseconds. */
export const MAX_STEPS = 100_000

/** Compiled CEL. It changes nothing but the frame. */
export type Code = (frame: Frame) => CelValue

/** The state of one evaluation. */
export class Frame {
  readonly values: ValueObject
  /** The variables that were read so far. */
  readonly variables: (CelValue | undefined)[] = []
  /** The loop variables, by depth of nesting. */
  readonly locals: CelValue[] = []
  #left = MAX_STEPS

  constructor(values: ValueObject) {
    this.values = values
  }

  /**
   * Pays for work before it is done.
   *
   * Straight code is not charged: the size of a source bounds it. Loops and work in proportion to the size of a value
   * are.
   */
  charge(steps: number): void {
    this.#left -= steps
    if (this.#left < 0) throw new Exhausted()
  }
}
