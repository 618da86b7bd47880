// Walks the syntax tree of a condition.

import type { ASTNode } from '@marcbachmann/cel-js'
import { childrenOf } from '../../policy/cel/reader.ts'

const names = new WeakMap<ASTNode, ReadonlySet<string>>()

/** Returns every name in a tree, including loop variables and types. */
export function namesIn(tree: ASTNode): ReadonlySet<string> {
  const known = names.get(tree)
  if (known) return known
  const found = new Set(childrenOf(tree).flatMap((child) => [...namesIn(child)]))
  if (tree.op === 'id') found.add(tree.args)
  names.set(tree, found)
  return found
}

/** Returns every node of a tree. */
export function nodesIn(tree: ASTNode): readonly ASTNode[] {
  return [tree, ...childrenOf(tree).flatMap(nodesIn)]
}

const loops = new WeakMap<ASTNode, ReadonlySet<string>>()

/** Returns the loop variables in a tree. They can have the names of variables. */
export function loopVariablesIn(tree: ASTNode): ReadonlySet<string> {
  const known = loops.get(tree)
  if (known) return known
  const found = new Set(childrenOf(tree).flatMap((child) => [...loopVariablesIn(child)]))
  const [variable, body] = tree.op === 'rcall' && tree.args[0] !== 'within' ? tree.args[2] : []
  if (body !== undefined && variable?.op === 'id') found.add(variable.args)
  loops.set(tree, found)
  return found
}

const texts = new WeakMap<ASTNode, string>()

/** Returns a text that is equal for equal expressions, independent of spaces. */
export function print(node: ASTNode): string {
  const known = texts.get(node)
  if (known !== undefined) return known
  const text = `(${node.op} ${own(node)} ${childrenOf(node).map(print).join(' ')})`
  texts.set(node, text)
  return text
}

/** Returns the part of a node's text without its children. */
function own(node: ASTNode): string {
  if (node.op === 'value') {
    const { args } = node
    return `${typeof args} ${args instanceof Uint8Array ? args.join() : JSON.stringify(String(args))}`
  }
  if (node.op === 'id') return node.args
  if (node.op === '.' || node.op === '.?') return node.args[1]
  return node.op === 'call' || node.op === 'rcall' ? node.args[0] : ''
}

/** Returns a node without negations, and whether it must be true for the whole to be true. `a != b` is `!(a == b)`. */
export function literalIn(node: ASTNode): { readonly text: string; readonly holds: boolean } {
  let holds = true
  let inner = node
  while (inner.op === '!_') {
    holds = !holds
    inner = inner.args
  }
  if (inner.op !== '!=') return { text: print(inner), holds }
  return { text: `(==  ${inner.args.map(print).join(' ')})`, holds: !holds }
}
