// The two ways in which an evaluation ends without a value, and the one way in which a source is refused.

/**
 * An error in the sense of CEL: `&&`, `||`, `all` and `exists` may absorb it.
 *
 * The message is made of the source and of type names, never of input values. That also allows it to be made once,
 * when the condition is compiled, and to be thrown many times.
 */
export class Failure extends Error {}

/** The step budget is used up. Nothing absorbs this. */
export class Exhausted extends Error {}

/** What is wrong with a source, and where. Thrown while compiling; it never leaves the compiler. */
export class Refused extends Error {
  readonly offset: number

  constructor(offset: number, message: string) {
    super(message)
    this.offset = offset
  }
}
