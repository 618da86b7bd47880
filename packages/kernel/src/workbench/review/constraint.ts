// What must hold of one operand for comparisons with literals to be true, and whether anything can meet it.
//
// Only what is sure is said: that no value at all makes two comparisons true. Between an int and a double the double's
// precision counts, so that numbers are held against each other as doubles, and "less" is strict only where doubles tell
// neighbours apart.

import type { ASTNode } from '@marcbachmann/cel-js'
import { parseWithin, withinKindOf } from '../../policy/cel/within.ts'
import { print } from './tree.ts'

/** A literal that comparisons are made with. */
type LiteralValue = string | boolean | null | number | bigint

/** What a variable can be, where more is known of it than its type. */
export type Domain =
  | { readonly kind: 'text'; readonly accepts: (text: string) => boolean }
  | { readonly kind: 'number'; readonly least: number; readonly most: number }

/** What a comparison that is true says about its operand. */
export interface Constraint {
  /** The operand, as text that is the same for the same expression. */
  readonly operand: string
  readonly node: ASTNode
  /** It equals one of these. */
  readonly among?: readonly LiteralValue[]
  /** It equals none of these. */
  readonly except?: readonly LiteralValue[]
  /** It is a number, and not above this. */
  readonly most?: Bound
  /** It is a number, and not below this. */
  readonly least?: Bound
  /** It is a text of which this is true. */
  readonly text?: (text: string) => boolean
  /** It is a text that begins so. */
  readonly start?: string
  /** It is a text that ends so. */
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
 * What follows for an operand if the node is true (or false, with `holds` false); undefined if nothing does.
 *
 * An order that is false says nothing in general, because a NaN is on neither side; with `total` there is no NaN.
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

/** What a text begins with, ends with or contains. Of what is no text, neither is true nor false. */
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

/** What lies inside of a directory begins with it, as it is written. */
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

/** Whether no other number of either type has the same double. */
function isFine(literal: number | bigint): boolean {
  return typeof literal === 'number' || (literal < 2n ** 53n && literal > -(2n ** 53n))
}

function literalsOf(nodes: readonly ASTNode[]): readonly LiteralValue[] | undefined {
  const literals = nodes.map(literalOf).filter((literal) => literal !== undefined)
  return literals.length === nodes.length ? literals : undefined
}

/** The value of a literal; undefined for anything else, also for the few kinds that are not worth it. */
export function literalOf(node: ASTNode): LiteralValue | undefined {
  if (node.op === '-_' && node.args.op === 'value') {
    const positive = literalOf(node.args)
    return typeof positive === 'number' || typeof positive === 'bigint' ? -positive : undefined
  }
  if (node.op !== 'value') return undefined
  const { args } = node
  return typeof args === 'object' && args !== null ? undefined : args
}

/** Whether some value can meet all of these, which are about one operand. False only if it is sure that none can. */
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

/** Of two beginnings, one must be the beginning of the other; and so with ends. */
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
      // Only one double is left, and it must not be excluded.
      const isGone = excluded.some(
        (literal) => isNumeric(literal) && isFine(literal) && Number(literal) === low.value,
      )
      return !low.strict && !high.strict && !isGone
    }),
  )
}

/** Whether one value could equal both. */
function mayEqual(a: LiteralValue, b: LiteralValue): boolean {
  const areNumbers = isNumeric(a) && isNumeric(b)
  return areNumbers ? Number(a) === Number(b) : a === b
}

/** Whether whatever equals one equals the other. */
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
