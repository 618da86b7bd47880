// Finds the tests of a condition on texts in the arguments, and whether each must be true or false for the whole to hold.

import type { ASTNode } from '@marcbachmann/cel-js'
import { childrenOf } from '../../policy/cel/reader.ts'

/** A test of a text in the arguments. */
export interface ConditionSighting {
  readonly name: string
  /** The name before the dot, if it is not an argument: `path` of `path.within`. */
  readonly receiver: string
  /** The tested value. */
  readonly operand: ASTNode
  /** The name of the argument, or of the list that a loop iterates. */
  readonly called: string
  readonly argument: ASTNode | undefined
  /** Whether the condition needs it to be true. */
  readonly holds: boolean
}

const TESTS: ReadonlySet<string> = new Set(['startsWith', 'endsWith', 'contains', 'matches', 'within'])

type Locals = ReadonlyMap<string, string>

/** Returns the tests of a condition, in order. */
export function testsIn(tree: ASTNode): readonly ConditionSighting[] {
  return look(tree, true, new Map())
}

function look(node: ASTNode, holds: boolean, locals: Locals): readonly ConditionSighting[] {
  if (node.op === '!_') return look(node.args, !holds, locals)
  if (node.op !== 'rcall' && node.op !== 'call')
    return childrenOf(node).flatMap((child) => look(child, holds, locals))
  const [name] = node.args
  const receiver = node.op === 'rcall' ? node.args[1] : undefined
  const args = node.op === 'rcall' ? node.args[2] : node.args[1]
  if (TESTS.has(name)) return sighted(name, receiver, args, holds, locals)
  const [variable, ...body] = args
  if (!receiver || variable?.op !== 'id' || body.length === 0)
    return childrenOf(node).flatMap((child) => look(child, holds, locals))
  const inside = new Map([...locals, [variable.args, calledIn(receiver, locals) ?? '']])
  return [...look(receiver, holds, locals), ...body.flatMap((each) => look(each, holds, inside))]
}

function sighted(
  name: string,
  receiver: ASTNode | undefined,
  args: readonly ASTNode[],
  holds: boolean,
  locals: Locals,
): readonly ConditionSighting[] {
  const given = receiver && name !== 'within' ? [receiver, ...args] : args
  const [operand, argument] = given
  const called = operand && calledIn(operand, locals)
  if (!operand || called === undefined) return []
  const before = name === 'within' && receiver?.op === 'id' ? receiver.args : ''
  return [{ name, receiver: before, operand, called, argument, holds }]
}

/** Returns the name of an argument; undefined for anything else. */
function calledIn(node: ASTNode, locals: Locals): string | undefined {
  if (node.op === 'id') return node.args === 'args' ? '' : locals.get(node.args)
  if (node.op === '.') return calledIn(node.args[0], locals) === undefined ? undefined : node.args[1]
  if (node.op === '[]') {
    const [whole, key] = node.args
    const outer = calledIn(whole, locals)
    return outer !== undefined && key.op === 'value' && typeof key.args === 'string' ? key.args : outer
  }
  // Combined lists: `(has(args.path) ? [args.path] : []) + args.paths`.
  const names = ['+', '?:', 'list'].includes(node.op)
    ? childrenOf(node).flatMap((child) => calledIn(child, locals) ?? [])
    : []
  return names.find((each) => each !== '')
}
