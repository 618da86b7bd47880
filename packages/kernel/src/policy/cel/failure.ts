// The errors of evaluation and compilation.

/**
 * An error in the sense of CEL: `&&`, `||`, `all` and `exists` may absorb it.
 *
 * The message contains only source text and type names, never input values. It can therefore be created at compile time and thrown
 * many times.
 */
export class Failure extends Error {}

/** The step budget is used up. Nothing absorbs this. */
export class Exhausted extends Error {}

/** A problem in a source, with its offset. Thrown while compiling; it never leaves the compiler. */
export class Refused extends Error {
  readonly offset: number

  constructor(offset: number, message: string) {
    super(message)
    this.offset = offset
  }
}
