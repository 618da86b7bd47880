// Computes the possible results of a condition from its syntax tree and the known values of its variables.
//
// A failure differs from `false`: a condition that fails denies. There are three results, and each is ruled out only if that is
// certain. Parts that name only known variables are run by the evaluator.

import type { ASTNode } from '@marcbachmann/cel-js'
import { compile } from '../../policy/cel/compile.ts'
import { Frame, type Code } from '../../policy/cel/frame.ts'
import type { ValueObject } from '../../policy/cel/value.ts'
import { canMeet, constraintOf, type Constraint, type Domain } from './constraint.ts'
import { literalIn, loopVariablesIn, namesIn } from './tree.ts'

/** The possible results of a condition. */
export interface ReviewOutcome {
  readonly true: boolean
  readonly false: boolean
  readonly fails: boolean
}

/** The facts about the variables of a condition. */
export interface Knowledge {
  /** All variables, true for timestamps, as the compiler needs them. */
  readonly variables: ReadonlyMap<string, boolean>
  /** Variables with one known value. */
  readonly values: ValueObject
  /** Variables with a known domain. They always have a value of this kind. */
  readonly domains: ReadonlyMap<string, Domain>
  /** A cache of compiled parts. */
  readonly codes: WeakMap<ASTNode, Code | 'unusable'>
}

const ANYTHING: ReviewOutcome = { true: true, false: true, fails: true }
const FAILS: ReviewOutcome = { true: false, false: false, fails: true }

/** Returns the possible results of a part that must be a bool. */
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

/** Returns the result of a part that names only known variables; undefined for other parts. */
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
    // The part cannot be compiled separately.
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

/** Returns the parts of a chain of one operator. */
function partsOf(node: ASTNode, op: '&&' | '||'): readonly ASTNode[] {
  return node.op === op ? [...partsOf(node.args[0], op), ...partsOf(node.args[1], op)] : [node]
}

/** Returns whether the parts cannot all be true together. */
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

/** Returns the possible values of an operand, unless it fails. */
function rangeOf(constraints: readonly Constraint[], known: Knowledge): Domain | undefined {
  const node = constraints[0]?.node
  const isSize = (node?.op === 'call' || node?.op === 'rcall') && node.args[0] === 'size'
  return isSize ? SIZES : domainOf(constraints, known)
}

/** Returns whether a comparison is certainly between numbers, unless it fails. */
function isTotal(part: ASTNode, known: Knowledge): boolean {
  const constraint = constraintOf(part, true, true)
  return constraint !== undefined && rangeOf([constraint], known)?.kind === 'number'
}

/** Returns the possible results of a comparison with a literal; for other nodes, all results. */
function comparison(node: ASTNode, known: Knowledge): ReviewOutcome {
  const held = constraintOf(node, true)
  if (!held) return ANYTHING
  const range = rangeOf([held], known)
  const outcome = { ...ANYTHING, true: canMeet([held], range) }
  // For texts only equality cannot fail, and the remaining texts are only known as patterns.
  const isEquality = held.most === undefined && held.least === undefined && held.text === undefined
  if (!range || (range.kind === 'text' && !isEquality)) return outcome
  const missed = constraintOf(node, false, range.kind === 'number')
  const isSure = domainOf([held], known) !== undefined
  return { ...outcome, false: !missed || canMeet([missed], range), fails: !isSure }
}
