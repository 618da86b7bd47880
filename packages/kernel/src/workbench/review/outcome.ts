// What can come of a condition: worked out on its syntax tree, with what is known of its variables.
//
// A failure is no `false`: a condition that fails denies. So three things are told apart, and each of them is only ruled
// out where that is sure. Whatever names nothing but variables of known values is run by the evaluator itself.

import type { ASTNode } from '@marcbachmann/cel-js'
import { compile } from '../../policy/cel/compile.ts'
import { Frame, type Code } from '../../policy/cel/frame.ts'
import type { ValueObject } from '../../policy/cel/value.ts'
import { canMeet, constraintOf, type Constraint, type Domain } from './constraint.ts'
import { literalIn, loopVariablesIn, namesIn } from './tree.ts'

/** What can come of a condition. */
export interface ReviewOutcome {
  readonly true: boolean
  readonly false: boolean
  readonly fails: boolean
}

/** What is known of the variables of a condition. */
export interface Knowledge {
  /** All variables, true for moments; as the compiler wants them. */
  readonly variables: ReadonlyMap<string, boolean>
  /** Variables with one known value. */
  readonly values: ValueObject
  /** Variables of which something is known. They have a value of this kind, always. */
  readonly domains: ReadonlyMap<string, Domain>
  /** Compiled parts, kept while the values change. */
  readonly codes: WeakMap<ASTNode, Code | 'unusable'>
}

const ANYTHING: ReviewOutcome = { true: true, false: true, fails: true }
const FAILS: ReviewOutcome = { true: false, false: false, fails: true }

/** What can come of a part of a condition that stands where a bool is wanted. */
export function outcomeOf(node: ASTNode, known: Knowledge): ReviewOutcome {
  const run = runNow(node, known)
  if (run) return run
  if (node.op === '&&') return both(node, known)
  if (node.op === '||') return either(node, known)
  if (node.op === '?:') return choice(node.args, known)
  if (node.op !== '!_') return comparison(node, known)
  const inner = outcomeOf(node.args, known)
  return { true: inner.false, false: inner.true, fails: inner.fails }
}

/** The outcome of a part that names only variables whose values are known; undefined for other parts. */
function runNow(node: ASTNode, { values, variables, codes }: Knowledge): ReviewOutcome | undefined {
  for (const name of namesIn(node)) {
    const isLoop = !variables.has(name) && loopVariablesIn(node).has(name)
    if (!isLoop && !Object.hasOwn(values, name)) return undefined
  }
  let code = codes.get(node)
  if (code === undefined) codes.set(node, (code = codeOf(node, variables)))
  if (code === 'unusable') return undefined
  try {
    const value = code(new Frame(values))
    return typeof value === 'boolean' ? { true: value, false: !value, fails: false } : FAILS
  } catch {
    return FAILS
  }
}

function codeOf(node: ASTNode, variables: ReadonlyMap<string, boolean>): Code | 'unusable' {
  try {
    return compile(node, { variables, locals: [], uses: new Map() })
  } catch {
    // A part that makes no sense by itself.
    return 'unusable'
  }
}

type Pair = Extract<ASTNode, { op: '&&' | '||' }>

function both(node: Pair, known: Knowledge): ReviewOutcome {
  const [left, right] = [outcomeOf(node.args[0], known), outcomeOf(node.args[1], known)]
  return {
    true: left.true && right.true && !isContradiction(partsOf(node, '&&'), known),
    false: left.false || right.false,
    fails: (left.fails && (right.true || right.fails)) || (right.fails && (left.true || left.fails)),
  }
}

function either(node: Pair, known: Knowledge): ReviewOutcome {
  const [left, right] = [outcomeOf(node.args[0], known), outcomeOf(node.args[1], known)]
  return {
    true: left.true || right.true,
    false: left.false && right.false && !hasOpposites(partsOf(node, '||')),
    fails: (left.fails && (right.false || right.fails)) || (right.fails && (left.false || left.fails)),
  }
}

function choice([test, yes, no]: readonly [ASTNode, ASTNode, ASTNode], known: Knowledge): ReviewOutcome {
  const tested = outcomeOf(test, known)
  const [first, second] = [outcomeOf(yes, known), outcomeOf(no, known)]
  return {
    true: (tested.true && first.true) || (tested.false && second.true),
    false: (tested.true && first.false) || (tested.false && second.false),
    fails: tested.fails || (tested.true && first.fails) || (tested.false && second.fails),
  }
}

/** The parts of a chain of one operator. */
function partsOf(node: ASTNode, op: '&&' | '||'): readonly ASTNode[] {
  return node.op === op ? [...partsOf(node.args[0], op), ...partsOf(node.args[1], op)] : [node]
}

/** Whether parts cannot all be true at once, whatever each alone can be. */
function isContradiction(parts: readonly ASTNode[], known: Knowledge): boolean {
  if (hasOpposites(parts)) return true
  const byOperand = new Map<string, readonly Constraint[]>()
  for (const part of parts) {
    const constraint = constraintOf(part, true, isTotal(part, known))
    if (!constraint) continue
    byOperand.set(constraint.operand, [...(byOperand.get(constraint.operand) ?? []), constraint])
  }
  return [...byOperand.values()].some((constraints) => !canMeet(constraints, rangeOf(constraints, known)))
}

function hasOpposites(parts: readonly ASTNode[]): boolean {
  const seen = new Map<string, boolean>()
  return parts.some((part) => {
    const { text, holds } = literalIn(part)
    const isOpposite = seen.get(text) === !holds
    seen.set(text, holds)
    return isOpposite
  })
}

function domainOf([first]: readonly Constraint[], { domains }: Knowledge): Domain | undefined {
  return first?.node.op === 'id' ? domains.get(first.node.args) : undefined
}

const SIZES: Domain = { kind: 'number', least: 0, most: Infinity }

/** What an operand can be, unless it fails. */
function rangeOf(constraints: readonly Constraint[], known: Knowledge): Domain | undefined {
  const node = constraints[0]?.node
  const isSize = (node?.op === 'call' || node?.op === 'rcall') && node.args[0] === 'size'
  return isSize ? SIZES : domainOf(constraints, known)
}

/** Whether a comparison is of what is a number for certain, unless it fails. */
function isTotal(part: ASTNode, known: Knowledge): boolean {
  const constraint = constraintOf(part, true, true)
  return constraint !== undefined && rangeOf([constraint], known)?.kind === 'number'
}

/** What can come of a comparison with a literal; of all else, anything. */
function comparison(node: ASTNode, known: Knowledge): ReviewOutcome {
  const held = constraintOf(node, true)
  if (!held) return ANYTHING
  const range = rangeOf([held], known)
  const outcome = { ...ANYTHING, true: canMeet([held], range) }
  // Of texts only equality cannot fail; and which texts are left, only patterns say.
  const isEquality = held.most === undefined && held.least === undefined && held.text === undefined
  if (!range || (range.kind === 'text' && !isEquality)) return outcome
  const missed = constraintOf(node, false, range.kind === 'number')
  const isSure = domainOf([held], known) !== undefined
  return { ...outcome, false: !missed || canMeet([missed], range), fails: !isSure }
}
