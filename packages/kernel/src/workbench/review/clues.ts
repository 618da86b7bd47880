// Finds ways to make a condition true or false, for programs that generate calls to try a policy. A way may be impossible: only the
// evaluator decides.

import type { ASTNode } from '@marcbachmann/cel-js'
import { pathOf, readLiteral, sourcesOf, type Constant, type ClueLocals } from './clue-terms.ts'
import { clueOf, negated, type Clue, type ClueTest } from './clue.ts'
import { countNodes, createReader } from '../../policy/cel/reader.ts'
import { withinKindOf } from '../../policy/cel/within.ts'

/** Clues that must be true together. */
export type Way = readonly Clue[]

/** The possible results of a condition. */
export interface Ways {
  /** Ways to make it true. In each, one part decides where possible. */
  readonly when: readonly Way[]
  /** Ways to make it false. */
  readonly unless: readonly Way[]
  /** All its tests, each in positive form. */
  readonly clues: readonly Clue[]
}

const NOTHING: Ways = { when: [], unless: [], clues: [] }
const ALWAYS: readonly Way[] = [[]]

/** Returns the ways of a condition, bounded in number; none for a source that is not CEL. Never throws. */
export function waysOf(source: string): Ways {
  try {
    const { tree } = reader.read(source)
    return new Walk(countNodes(tree)).visit(tree, new Map())
  } catch {
    // Parsed policies have no such source.
    return NOTHING
  }
}

// It only parses, so it needs no variables.
const reader = createReader()
const MAX_WAYS = 64
const MIN_WAYS = 6
const MAX_CLUES = 2048
// Above this number of parts, fewer ways of each are followed, so that the work stays bounded.
const MAX_WORK = 4096
const MAX_EXPANDED = 32
const MAX_GUESSES = 12

const FLIPPED: Readonly<Record<string, string>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' }
const TEXTUAL: ReadonlyMap<string, ClueTest> = new Map([
  ['startsWith', 'starts'],
  ['endsWith', 'ends'],
  ['contains', 'contains'],
  ['matches', 'matches'],
])

class Walk {
  readonly #most: number

  constructor(parts: number) {
    this.#most = Math.max(MIN_WAYS, Math.min(MAX_WAYS, Math.floor(MAX_WORK / parts)))
  }

  visit(node: ASTNode, locals: ClueLocals): Ways {
    if (node.op === '&&') {
      return this.#both(this.visit(node.args[0], locals), this.visit(node.args[1], locals))
    }
    if (node.op === '||') {
      const [left, right] = node.args.map((part) => swapped(this.visit(part, locals)))
      return swapped(this.#both(left ?? NOTHING, right ?? NOTHING))
    }
    if (node.op === '!_') return swapped(this.visit(node.args, locals))
    if (node.op === '?:') return this.#choice(node.args.map((part) => this.visit(part, locals)))
    if (node.op === 'value' && node.args === true) return { ...NOTHING, when: ALWAYS }
    if (node.op === 'value' && node.args === false) return { ...NOTHING, unless: ALWAYS }
    return this.#atom(node, locals) ?? guesses(node, locals)
  }

  /** Combines two parts that must both hold. Either can be the one that fails. */
  #both(a: Ways, b: Ways): Ways {
    return {
      when: this.#cut(along(a.when, b.when)),
      unless: this.#cut([...along(a.unless, b.when), ...along(a.when, b.unless)]),
      clues: together(a, b),
    }
  }

  #choice([asked = NOTHING, yes = NOTHING, no = NOTHING]: readonly Ways[]): Ways {
    return {
      when: this.#cut([...along(asked.when, yes.when), ...along(asked.unless, no.when)]),
      unless: this.#cut([...along(asked.when, yes.unless), ...along(asked.unless, no.unless)]),
      clues: together(asked, yes, no),
    }
  }

  /** Limits the number of ways, evenly across the list. */
  #cut(ways: readonly Way[]): readonly Way[] {
    if (ways.length <= this.#most) return ways
    return Array.from(
      { length: this.#most },
      (_, i) => ways[Math.floor((i * ways.length) / this.#most)] ?? [],
    )
  }

  #atom(node: ASTNode, locals: ClueLocals): Ways | undefined {
    if (node.op === '==') return equality(node.args[0], node.args[1], locals)
    if (node.op === '!=') return turned(equality(node.args[0], node.args[1], locals))
    if (node.op === 'in') return membership(node.args[0], node.args[1], locals)
    if (node.op === 'call') return call(node.args[0], node.args[1], locals)
    if (node.op === 'rcall') return this.#method(node.args[0], node.args[1], node.args[2], locals)
    if (node.op === '<' || node.op === '<=' || node.op === '>' || node.op === '>=') {
      return order(node.op, node.args[0], node.args[1], locals)
    }
    const path = pathOf(node, locals)
    return path && decided(clueOf(path, 'is', true))
  }

  #method(name: string, of: ASTNode, args: readonly ASTNode[], locals: ClueLocals): Ways | undefined {
    const [first, body] = args
    if (!first) return undefined
    if (TEXTUAL.has(name)) return textual(name, of, first, locals)
    if (name === 'within') return body && within(of, first, body, locals)
    if (!body || first.op !== 'id' || !['all', 'exists', 'exists_one'].includes(name)) return undefined
    const list = readLiteral(of, locals)
    if (Array.isArray(list)) return this.#expanded(name === 'all', first.args, list, body, locals)
    const turns = sourcesOf(of, locals).map((path) =>
      this.visit(body, new Map([...locals, [first.args, { path }]])),
    )
    return turns.length === 0 ? undefined : this.#gathered(turns)
  }

  /** A loop over several parts of a call. Each may be the only one present. */
  #gathered(turns: readonly Ways[]): Ways {
    const inTurn = (lists: readonly (readonly Way[])[]): readonly Way[] =>
      Array.from({ length: Math.max(...lists.map(({ length }) => length)) }, (_, i) =>
        lists.flatMap((list) => list.slice(i, i + 1)),
      ).flat()
    return {
      when: this.#cut(inTurn(turns.map(({ when }) => when))),
      unless: this.#cut(inTurn(turns.map(({ unless }) => unless))),
      clues: together(...turns),
    }
  }

  /** A loop over a list literal. */
  #expanded(
    all: boolean,
    name: string,
    list: readonly Constant[],
    body: ASTNode,
    locals: ClueLocals,
  ): Ways | undefined {
    const turns = list
      .slice(0, MAX_EXPANDED)
      .map((literal) => this.visit(body, new Map([...locals, [name, { literal }]])))
    const [first, ...rest] = all ? turns : turns.map(swapped)
    if (!first) return undefined
    const joined = rest.reduce((sum, each) => this.#both(sum, each), first)
    return all ? joined : swapped(joined)
  }
}

/** The step of a path for any item of a list. */
export const ITEM = '[]'

/** Pairs two lists so that each item of both is used at least once. */
function along(a: readonly Way[], b: readonly Way[]): readonly Way[] {
  if (a.length === 0 || b.length === 0) return []
  return Array.from({ length: Math.max(a.length, b.length) }, (_, i) => [
    ...(a[i % a.length] ?? []),
    ...(b[i % b.length] ?? []),
  ])
}

function together(...all: readonly Ways[]): readonly Clue[] {
  return all.flatMap(({ clues }) => clues).slice(0, MAX_CLUES)
}

function swapped({ when, unless, clues }: Ways): Ways {
  return { when: unless, unless: when, clues }
}

function turned(ways: Ways | undefined): Ways | undefined {
  return ways && swapped(ways)
}

function decided(clue: Clue): Ways {
  return { when: [[clue]], unless: [[negated(clue)]], clues: [clue] }
}

function equality(left: ASTNode, right: ASTNode, locals: ClueLocals): Ways | undefined {
  const type = typeName(left, right, locals) ?? typeName(right, left, locals)
  if (type) return type
  const [a, b] = [pathOf(left, locals), pathOf(right, locals)]
  const [x, y] = [readLiteral(left, locals), readLiteral(right, locals)]
  if (a && y !== undefined) return decided(clueOf(a, 'is', y))
  if (b && x !== undefined) return decided(clueOf(b, 'is', x))
  if (!a || !b) return undefined
  // The part that a caller can choose is made equal to the other.
  return decided(a[0] === 'args' ? clueOf(a, 'same', b) : clueOf(b, 'same', a))
}

function typeName(left: ASTNode, right: ASTNode, locals: ClueLocals): Ways | undefined {
  if (left.op !== 'call' || left.args[0] !== 'type' || right.op !== 'id') return undefined
  const [of] = left.args[1]
  const path = of && pathOf(of, locals)
  return path && decided(clueOf(path, 'type', right.args))
}

function order(op: string, left: ASTNode, right: ASTNode, locals: ClueLocals): Ways | undefined {
  const path = pathOf(left, locals)
  const limit = readLiteral(right, locals)
  if (path && limit !== undefined) return bounded(op, clueOf(path, isStrict(op) ? 'below' : 'up to', limit))
  const other = pathOf(right, locals)
  const from = readLiteral(left, locals)
  const flipped = FLIPPED[op] ?? op
  if (!other || from === undefined) return undefined
  return bounded(flipped, clueOf(other, isStrict(flipped) ? 'below' : 'up to', from))
}

/** Returns whether the bound itself is excluded: `x < 5` and `x >= 5` test the same. */
function isStrict(op: string): boolean {
  return op === '<' || op === '>='
}

function bounded(op: string, clue: Clue): Ways {
  return op === '<' || op === '<=' ? decided(clue) : swapped(decided(clue))
}

function membership(left: ASTNode, right: ASTNode, locals: ClueLocals): Ways | undefined {
  const path = pathOf(left, locals)
  const list = readLiteral(right, locals)
  if (path && Array.isArray(list)) return decided(clueOf(path, 'among', list))
  const whole = pathOf(right, locals)
  const item = readLiteral(left, locals)
  if (!whole || item === undefined) return undefined
  const asItem = clueOf([...whole, ITEM], 'is', item)
  if (typeof item !== 'string' || whole[0] !== 'args') return decided(asItem)
  // The value may be a list or a map.
  const asMember = clueOf([...whole, item], 'present', true)
  return {
    when: [[asItem], [asMember]],
    unless: [[negated(asItem)], [negated(asMember)]],
    clues: [asItem, asMember],
  }
}

function call(name: string, args: readonly ASTNode[], locals: ClueLocals): Ways | undefined {
  const [first, second] = args
  if (!first) return undefined
  if (second) return textual(name, first, second, locals)
  const path = pathOf(first, locals)
  if (!path) return undefined
  if (name === 'has') return decided(clueOf(path, 'present', true))
  return name === 'bool' || name === 'dyn' ? decided(clueOf(path, 'is', true)) : undefined
}

function textual(name: string, of: ASTNode, part: ASTNode, locals: ClueLocals): Ways | undefined {
  const test = TEXTUAL.get(name)
  const path = pathOf(of, locals)
  const text = readLiteral(part, locals)
  return test && path && typeof text === 'string' ? decided(clueOf(path, test, text)) : undefined
}

function within(of: ASTNode, text: ASTNode, base: ASTNode, locals: ClueLocals): Ways | undefined {
  const kind = of.op === 'id' ? withinKindOf(of.args, [...locals.keys()]) : undefined
  const path = pathOf(text, locals)
  const inside = readLiteral(base, locals)
  if (!kind || !path || typeof inside !== 'string') return undefined
  return decided(clueOf(path, `within ${kind}`, inside))
}

/** For a node of unknown form: every part that it names, with every constant. */
function guesses(node: ASTNode, locals: ClueLocals): Ways {
  const { paths, literals } = partsOf(node, locals)
  const clues = paths.flatMap((path) => [
    clueOf(path, 'present', true),
    ...literals.map((literal) => clueOf(path, 'is', literal)),
  ])
  const few = clues.slice(0, MAX_GUESSES).map((clue): Way => [{ ...clue, holds: undefined }])
  return { when: few, unless: few, clues: clues.slice(0, MAX_CLUES) }
}

interface ClueParts {
  readonly paths: readonly (readonly string[])[]
  readonly literals: readonly Constant[]
}

const NO_PARTS: ClueParts = { paths: [], literals: [] }
const MAX_PARTS = 16

function partsOf(node: ASTNode, locals: ClueLocals): ClueParts {
  const path = pathOf(node, locals)
  if (path) return { ...NO_PARTS, paths: [path] }
  const literal = readLiteral(node, locals)
  if (literal !== undefined) return { ...NO_PARTS, literals: [literal] }
  const parts = operandsOf(node).map((each) => partsOf(each, locals))
  return {
    paths: parts.flatMap(({ paths }) => paths).slice(0, MAX_PARTS),
    literals: parts.flatMap(({ literals }) => literals).slice(0, MAX_PARTS),
  }
}

function operandsOf(node: ASTNode): readonly ASTNode[] {
  if (node.op === 'call') return node.args[1]
  if (node.op === 'rcall') return [node.args[1], ...node.args[2]]
  if (node.op === 'map') return node.args.flat()
  if (node.op === '!_' || node.op === '-_') return [node.args]
  if (node.op === '.' || node.op === '.?') return [node.args[0]]
  return node.op === 'value' || node.op === 'id' ? [] : node.args
}
