// Constraints on an operand that follow from comparisons with literals, and whether any value meets them.
//
// It only rules out what is certainly impossible. An int and a double compare with the precision of a double, so numbers are
// compared as doubles, and "less" is strict only where doubles are exact.

import type { ASTNode } from '@marcbachmann/cel-js'
import { parseWithin, withinKindOf } from '../../policy/cel/within.ts'
import { print } from './tree.ts'

/** A literal in a comparison. */
type LiteralValue = string | boolean | null | number | bigint

/** The possible values of a variable, if more is known than its type. */
export type Domain =
  | { readonly kind: 'text'; readonly accepts: (text: string) => boolean }
  | { readonly kind: 'number'; readonly least: number; readonly most: number }

/** The facts about an operand that follow from a true comparison. */
export interface Constraint {
  /** The operand as text, equal for equal expressions. */
  readonly operand: string
  readonly node: ASTNode
  /** It equals one of these. */
  readonly among?: readonly LiteralValue[]
  /** It equals none of these. */
  readonly except?: readonly LiteralValue[]
  /** It is a number, at most this. */
  readonly most?: Bound
  /** It is a number, at least this. */
  readonly least?: Bound
  /** It is a text that passes this test. */
  readonly text?: (text: string) => boolean
  /** It is a text with this prefix. */
  readonly start?: string
  /** It is a text with this suffix. */
  readonly end?: string
}

interface Bound {
  readonly value: number
  readonly strict: boolean
}

const MIRRORED = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const
const OPPOSITE = { '<': '>=', '<=': '>', '>': '<=', '>=': '<' } as const
type Ordering = keyof typeof MIRRORED

/**
 * Returns the constraint that follows if the node is true (or false, with `holds` false), or undefined.
 *
 * A false order says nothing in general, because a NaN is on neither side; `total` excludes NaN.
 */
export function constraintOf(node: ASTNode, holds: boolean, total = false): Constraint | undefined {
  if (node.op === '!_') return constraintOf(node.args, !holds, total)
  if (node.op === '==' || node.op === '!=') return equality(node.args, (node.op === '==') === holds)
  if (node.op === 'in') return membership(node.args, holds)
  if (node.op === 'rcall') return within(node.args, holds) ?? part(node.args, holds)
  if (!isOrder(node)) return undefined
  if (holds) return order(node.args, node.op)
  return total ? order(node.args, OPPOSITE[node.op]) : undefined
}

function isOrder(node: ASTNode): node is Extract<ASTNode, { op: Ordering }> {
  return Object.hasOwn(MIRRORED, node.op)
}

type Limits = Omit<Constraint, 'operand' | 'node'>

function about(node: ASTNode, limits: Limits): Constraint {
  return { operand: print(node), node, ...limits }
}

function equality([left, right]: readonly [ASTNode, ASTNode], equal: boolean): Constraint | undefined {
  const [operand, literal] =
    literalOf(right) === undefined ? [right, literalOf(left)] : [left, literalOf(right)]
  if (literal === undefined) return undefined
  return about(operand, equal ? { among: [literal] } : { except: [literal] })
}

function membership([operand, list]: readonly [ASTNode, ASTNode], holds: boolean): Constraint | undefined {
  const literals = list.op === 'list' ? literalsOf(list.args) : undefined
  return literals && about(operand, holds ? { among: literals } : { except: literals })
}

const PARTS: Readonly<Record<string, (text: string, part: string) => boolean>> = {
  startsWith: (text, part) => text.startsWith(part),
  endsWith: (text, part) => text.endsWith(part),
  contains: (text, part) => text.includes(part),
}

/** Constrains the prefix, suffix or contents of a text. For other types the test neither holds nor fails to hold. */
function part(
  [name, operand, given]: Extract<ASTNode, { op: 'rcall' }>['args'],
  holds: boolean,
): Constraint | undefined {
  const has = Object.hasOwn(PARTS, name) ? PARTS[name] : undefined
  const [first, ...more] = given
  const literal = first && literalOf(first)
  if (!has || typeof literal !== 'string' || more.length > 0) return undefined
  return about(operand, {
    text: (text) => has(text, literal) === holds,
    ...(holds && name === 'startsWith' && { start: literal }),
    ...(holds && name === 'endsWith' && { end: literal }),
  })
}

/** A path inside a directory begins with the directory as written. */
function within(
  [name, receiver, [operand, given]]: Extract<ASTNode, { op: 'rcall' }>['args'],
  holds: boolean,
): Constraint | undefined {
  const kind = name === 'within' && receiver.op === 'id' ? withinKindOf(receiver.args) : undefined
  const base = given && literalOf(given)
  const test = kind && typeof base === 'string' ? parseWithin(kind, base) : undefined
  if (!operand || typeof test !== 'function' || typeof base !== 'string') return undefined
  return about(operand, {
    text: (text) => test(text) === holds,
    ...(holds && kind === 'path' && { start: base.replace(/\/$/, '') }),
  })
}

function order([left, right]: readonly [ASTNode, ASTNode], op: Ordering): Constraint | undefined {
  const behind = literalOf(right)
  const [operand, literal, direction] =
    behind === undefined ? [right, literalOf(left), MIRRORED[op]] : [left, behind, op]
  if (typeof literal !== 'number' && typeof literal !== 'bigint') return undefined
  const bound = { value: Number(literal), strict: direction.length === 1 && isFine(literal) }
  return about(operand, direction.startsWith('<') ? { most: bound } : { least: bound })
}

/** Returns whether no other number has the same double. */
function isFine(literal: number | bigint): boolean {
  return typeof literal === 'number' || (literal < 2n ** 53n && literal > -(2n ** 53n))
}

function literalsOf(nodes: readonly ASTNode[]): readonly LiteralValue[] | undefined {
  const literals = nodes.map(literalOf).filter((literal) => literal !== undefined)
  return literals.length === nodes.length ? literals : undefined
}

/** Returns the value of a literal; undefined for anything else, including rare kinds. */
export function literalOf(node: ASTNode): LiteralValue | undefined {
  if (node.op === '-_' && node.args.op === 'value') {
    const positive = literalOf(node.args)
    return typeof positive === 'number' || typeof positive === 'bigint' ? -positive : undefined
  }
  if (node.op !== 'value') return undefined
  const { args } = node
  return typeof args === 'object' && args !== null ? undefined : args
}

/** Returns whether a value can meet all constraints on one operand. False only if that is certain. */
export function canMeet(constraints: readonly Constraint[], domain?: Domain): boolean {
  const [first, ...others] = constraints.flatMap(({ among }) => (among ? [among] : []))
  if (first === undefined) return canLieBetween(constraints, domain) && canBegin(constraints)
  return first.some(
    (literal) =>
      others.every((list) => list.some((other) => mayEqual(other, literal))) &&
      !constraints.some(({ except = [] }) => except.some((other) => mustEqual(other, literal))) &&
      constraints.every((each) => isWithin(literal, each) && isText(literal, each)) &&
      (!domain || isIn(literal, domain)),
  )
}

function isWithin(literal: LiteralValue, { most, least }: Constraint): boolean {
  if (!most && !least) return true
  if (typeof literal !== 'number' && typeof literal !== 'bigint') return false
  const value = Number(literal)
  const isUnder = !most || (most.strict ? value < most.value : value <= most.value)
  return isUnder && (!least || (least.strict ? value > least.value : value >= least.value))
}

function isText(literal: LiteralValue, { text }: Constraint): boolean {
  return text === undefined || (typeof literal === 'string' && text(literal))
}

/** Of two prefixes one must begin with the other; the same applies to suffixes. */
function canBegin(constraints: readonly Constraint[]): boolean {
  const starts = constraints.flatMap(({ start }) => start ?? []).sort((a, b) => a.length - b.length)
  const ends = constraints.flatMap(({ end }) => end ?? []).sort((a, b) => a.length - b.length)
  return (
    starts.every((start) => starts.at(-1)?.startsWith(start)) &&
    ends.every((end) => ends.at(-1)?.endsWith(end))
  )
}

function isIn(literal: LiteralValue, domain: Domain): boolean {
  if (domain.kind === 'text') return typeof literal === 'string' && domain.accepts(literal)
  const isNumber = typeof literal === 'number' || typeof literal === 'bigint'
  return isNumber && Number(literal) >= domain.least && Number(literal) <= domain.most
}

function canLieBetween(constraints: readonly Constraint[], domain: Domain | undefined): boolean {
  const bounds = domain?.kind === 'number' ? domain : { least: -Infinity, most: Infinity }
  const mosts = [{ value: bounds.most, strict: false }, ...constraints.flatMap(({ most }) => most ?? [])]
  const leasts = [{ value: bounds.least, strict: false }, ...constraints.flatMap(({ least }) => least ?? [])]
  const excluded = constraints.flatMap(({ except = [] }) => except)
  return leasts.every((low) =>
    mosts.every((high) => {
      if (low.value !== high.value) return low.value < high.value
      // Only one double remains, and it must not be excluded.
      const isGone = excluded.some(
        (literal) => isNumeric(literal) && isFine(literal) && Number(literal) === low.value,
      )
      return !low.strict && !high.strict && !isGone
    }),
  )
}

/** Returns whether one value could equal both. */
function mayEqual(a: LiteralValue, b: LiteralValue): boolean {
  const areNumbers = isNumeric(a) && isNumeric(b)
  return areNumbers ? Number(a) === Number(b) : a === b
}

/** Returns whether every value that equals one equals the other. */
function mustEqual(a: LiteralValue, b: LiteralValue): boolean {
  if (a === b) return true
  return isNumeric(a) && isNumeric(b) && isFine(a) && isFine(b) && Number(a) === Number(b) && isSmall(a)
}

function isNumeric(literal: LiteralValue): literal is number | bigint {
  return typeof literal === 'number' || typeof literal === 'bigint'
}

function isSmall(literal: number | bigint): boolean {
  return Math.abs(Number(literal)) < 2 ** 53
}
