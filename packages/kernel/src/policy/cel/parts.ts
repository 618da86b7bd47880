// Splits a condition into its parts for people: `&&` and `||` operands, each with its source text.

import type { ASTNode } from '@marcbachmann/cel-js'
import { compile } from './compile.ts'
import type { Code } from './frame.ts'
import { childrenOf } from './reader.ts'
import { bracketsIn, type Bracket } from './scan.ts'

/** The path to a value: a variable, then keys and indexes. */
export type Path = readonly [variable: string, ...steps: readonly (string | bigint)[]]

/** A part of a condition. */
export interface Part {
  readonly text: string
  /** How its parts combine: all must hold, or any one; undefined if it has no parts. */
  readonly joins: 'all' | 'any' | undefined
  readonly parts: readonly Part[]
  /** The values that it uses. */
  readonly paths: readonly Path[]
  /** Its code, from the compiler of the whole condition. */
  readonly code: Code
}

/** The condition to split. */
interface Whole {
  readonly source: string
  readonly brackets: readonly Bracket[]
  /** As in `Names`. */
  readonly variables: ReadonlyMap<string, boolean>
}

/** Splits the tree of a source. */
export function partOf(tree: ASTNode, source: string, variables: ReadonlyMap<string, boolean>): Part {
  return takeApart(tree, { source, brackets: bracketsIn(source), variables })
}

const JOINS: Readonly<Record<string, 'all' | 'any' | undefined>> = { '&&': 'all', '||': 'any' }

function takeApart(node: ASTNode, whole: Whole): Part {
  const joins = JOINS[node.op]
  const { variables } = whole
  return {
    text: textOf(node, whole),
    joins,
    parts: joins ? sidesOf(node, node.op).map((side) => takeApart(side, whole)) : [],
    paths: pathsIn(node, variables, []),
    code: compile(node, { variables, locals: [], uses: new Map() }),
  }
}

/** Returns the operands of a chain of one operator. */
function sidesOf(node: ASTNode, op: ASTNode['op']): readonly ASTNode[] {
  return node.op === op ? childrenOf(node).flatMap((side) => sidesOf(side, op)) : [node]
}

/** Returns the source text of a node. The parser drops outer brackets, so unbalanced ones are restored. */
function textOf({ start, end }: ASTNode, { source, brackets }: Whole): string {
  let [from, to, open] = [start, end, 0]
  const before = brackets.filter(({ at, opens }) => at < start && opens).map(({ at }) => at)
  const after = brackets.filter(({ at, opens }) => at >= end && !opens).map(({ at }) => at)
  for (const { at, opens } of brackets) {
    if (at < start || at >= end) continue
    if (opens) open++
    else if (open > 0) open--
    else from = before.pop() ?? from
  }
  for (; open > 0; open--) to = (after.shift() ?? to - 1) + 1
  return source.slice(from, to)
}

type Variables = Whole['variables']

const MACROS: readonly string[] = ['all', 'exists', 'exists_one', 'filter', 'map']

/** Returns the values that a node uses. A loop variable counts as the range of its loop. */
function pathsIn(node: ASTNode, variables: Variables, locals: readonly string[]): readonly Path[] {
  const path = pathOf(node, variables, locals)
  if (path) return [path]
  const [inside, names] = insideOf(node, locals)
  const found = inside.flatMap((child, i) => pathsIn(child, variables, i === 0 ? locals : names))
  const texts = found.map(pathText)
  return found.filter((_, i) => texts.indexOf(texts[i] ?? '') === i)
}

/** Returns the children of a node, and the local names in all children but the first. */
function insideOf(
  node: ASTNode,
  locals: readonly string[],
): readonly [children: readonly ASTNode[], locals: readonly string[]] {
  if (node.op === 'rcall') {
    const [name, receiver, [variable, ...body]] = node.args
    if (MACROS.includes(name) && variable?.op === 'id' && body.length > 0) {
      return [
        [receiver, ...body],
        [...locals, variable.args],
      ]
    }
  }
  return [childrenOf(node), locals]
}

function pathOf(node: ASTNode, variables: Variables, locals: readonly string[]): Path | undefined {
  if (node.op === 'id') {
    return variables.has(node.args) && !locals.includes(node.args) ? [node.args] : undefined
  }
  if (node.op !== '.' && node.op !== '[]') return undefined
  const whole = pathOf(node.args[0], variables, locals)
  const step = node.op === '.' ? node.args[1] : literalIn(node.args[1])
  return whole && step !== undefined ? [...whole, step] : undefined
}

function literalIn(node: ASTNode): string | bigint | undefined {
  if (node.op !== 'value') return undefined
  return typeof node.args === 'string' || typeof node.args === 'bigint' ? node.args : undefined
}

/** Returns a path in the syntax of conditions. */
export function pathText([variable, ...steps]: Path): string {
  return variable + steps.map(stepText).join('')
}

function stepText(step: string | bigint): string {
  if (typeof step === 'bigint') return `[${step}]`
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`
}
