// The compile-time scope of a node: the names that it may use, and the function that compiles its children.

import type { ASTNode } from '@marcbachmann/cel-js'
import { int } from './arithmetic.ts'
import { Failure, Refused } from './failure.ts'
import type { Code } from './frame.ts'
import { Bytes, Uint, type CelValue } from './value.ts'

/** The names that a node may use. */
export interface Names {
  /** The declared variables; true for timestamps. */
  readonly variables: ReadonlyMap<string, boolean>
  /** Loop variables, the innermost last. Each has the same index in the frame. */
  readonly locals: readonly string[]
  /** Filled while compiling: the used variables, each with its index in the frame. */
  readonly uses: Map<string, number>
}

/** The names, and the function that compiles a node. */
export interface CompileScope extends Names {
  readonly compile: (node: ASTNode, scope: CompileScope) => Code
}

type Literal = Extract<ASTNode, { op: 'value' }>

/** Returns the value of a literal. @throws Refused for a number out of range. */
export function literalOf({ args, start }: Literal): CelValue {
  if (typeof args === 'bigint') return inRange(args, start)
  if (args === null || typeof args !== 'object') return args
  return args instanceof Uint8Array ? new Bytes(args) : new Uint(args.valueOf())
}

/** Returns an int that fits into 64 bits. @throws Refused. */
export function inRange(value: bigint, offset: number): bigint {
  try {
    return int(value)
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause
    throw new Refused(offset, 'the number does not fit into 64 bits')
  }
}
