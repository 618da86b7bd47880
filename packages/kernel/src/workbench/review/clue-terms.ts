// The terms of a condition: the part of a call that it names, and the constants.

import type { ASTNode } from '@marcbachmann/cel-js'
import { TIMESTAMP_FIELDS } from '../../policy/cel/time.ts'
import { CONDITION_VARIABLES } from '../../policy/parse/parse.ts'

/** A constant of a condition as plain data. Times are milliseconds. */
export type Constant = string | number | boolean | null | readonly Constant[]

/** The meaning of loop variables. */
export type ClueLocals = ReadonlyMap<
  string,
  { readonly path: readonly string[] } | { readonly literal: Constant }
>

/** The last step of a path for the size of a value. */
const SIZE = '#'

/** Returns the part of a call that a node names; undefined if it does not simply name one. */
export function pathOf(node: ASTNode, locals: ClueLocals): readonly string[] | undefined {
  if (node.op === 'id') return pathOfName(node.args, locals)
  if (node.op === '.') return below(pathOf(node.args[0], locals), node.args[1])
  if (node.op === '[]') return below(pathOf(node.args[0], locals), keyOf(readLiteral(node.args[1], locals)))
  if (node.op === 'call') return pathOfCall(node.args[0], node.args[1], locals)
  return node.op === 'rcall' ? pathOfMethod(node.args[0], node.args[1], node.args[2], locals) : undefined
}

function pathOfName(name: string, locals: ClueLocals): readonly string[] | undefined {
  const local = locals.get(name)
  if (local) return 'path' in local ? local.path : undefined
  return Object.hasOwn(CONDITION_VARIABLES, name) ? [name] : undefined
}

function below(path: readonly string[] | undefined, key: string | undefined): readonly string[] | undefined {
  return path && key !== undefined ? [...path, key] : undefined
}

/** A number is an index of a list; index 0 means any item. */
function keyOf(key: Constant | undefined): string | undefined {
  if (typeof key === 'number') return key === 0 ? '[]' : `[${key}]`
  return typeof key === 'string' ? key : undefined
}

const MAX_SOURCES = 16

/** Returns the parts of a call that the items of a combined list come from: `(has(a) ? [a] : []) + b`. */
export function sourcesOf(node: ASTNode, locals: ClueLocals): readonly (readonly string[])[] {
  return gathered(node, locals).slice(0, MAX_SOURCES)
}

function gathered(node: ASTNode, locals: ClueLocals): readonly (readonly string[])[] {
  if (node.op === '+') return node.args.flatMap((part) => gathered(part, locals))
  if (node.op === '?:') return node.args.slice(1).flatMap((part) => gathered(part, locals))
  if (node.op === 'list') return node.args.flatMap((item) => some(pathOf(item, locals)))
  if (node.op === 'rcall' && node.args[0] === 'filter') return gathered(node.args[1], locals)
  if (node.op === 'rcall' && node.args[0] === 'map') return mapped(node.args[1], node.args[2], locals)
  return some(below(pathOf(node, locals), '[]'))
}

function mapped(of: ASTNode, args: readonly ASTNode[], locals: ClueLocals): readonly (readonly string[])[] {
  const [name, body] = [args[0], args.at(-1)]
  if (name?.op !== 'id' || !body) return []
  return gathered(of, locals).flatMap((path) =>
    some(pathOf(body, new Map([...locals, [name.args, { path }]]))),
  )
}

function some<T>(one: T | undefined): readonly T[] {
  return one === undefined ? [] : [one]
}

const CONVERSIONS: ReadonlySet<string> = new Set(['string', 'int', 'uint', 'double', 'dyn', 'timestamp'])

function pathOfCall(
  name: string,
  args: readonly ASTNode[],
  locals: ClueLocals,
): readonly string[] | undefined {
  const [first] = args
  const path = first && args.length === 1 ? pathOf(first, locals) : undefined
  if (name === 'size') return below(path, SIZE)
  return CONVERSIONS.has(name) ? path : undefined
}

function pathOfMethod(
  name: string,
  of: ASTNode,
  args: readonly ASTNode[],
  locals: ClueLocals,
): readonly string[] | undefined {
  const path = pathOf(of, locals)
  if (name === 'size' && args.length === 0) return below(path, SIZE)
  if (name === 'filter') return path
  return TIMESTAMP_FIELDS.has(name) && path?.[0] === 'time' ? below(path, name) : undefined
}

/** Returns the constant value of a node; undefined if it has none that a call could contain. */
export function readLiteral(node: ASTNode, locals: ClueLocals): Constant | undefined {
  if (node.op === 'id') {
    const local = locals.get(node.args)
    return local && 'literal' in local ? local.literal : undefined
  }
  if (node.op === 'value') return plain(node.args)
  if (node.op === '-_') return minus(readLiteral(node.args, locals))
  if (node.op === 'list') return all(node.args.map((item) => readLiteral(item, locals)))
  if (node.op === 'map') return all(node.args.map(([key]) => readLiteral(key, locals)))
  return node.op === 'call' ? converted(node.args[0], node.args[1], locals) : undefined
}

function plain(value: unknown): Constant | undefined {
  if (typeof value === 'bigint') return Number(value)
  const isPlain = value === null || ['string', 'number', 'boolean'].includes(typeof value)
  // Safe cast: tested just before.
  return isPlain ? (value as Constant) : undefined
}

function minus(value: Constant | undefined): Constant | undefined {
  return typeof value === 'number' ? -value : undefined
}

function all(items: readonly (Constant | undefined)[]): Constant | undefined {
  const known = items.filter((item) => item !== undefined)
  return known.length === items.length ? known : undefined
}

function converted(name: string, args: readonly ASTNode[], locals: ClueLocals): Constant | undefined {
  const [first] = args
  const value = first && args.length === 1 ? readLiteral(first, locals) : undefined
  if (value === undefined || Array.isArray(value)) return undefined
  if (name === 'timestamp') {
    const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
    return Number.isNaN(ms) ? undefined : ms
  }
  if (name === 'string') return String(value)
  return CONVERSIONS.has(name) && Number.isFinite(Number(value)) ? Number(value) : undefined
}
