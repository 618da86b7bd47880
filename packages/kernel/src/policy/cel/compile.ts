// Compiles a syntax tree to closures, one per node. All types are tested at run time, independent of the checker.

import type { ASTNode } from '@marcbachmann/cel-js'
import { compute, negate, type Operator } from './arithmetic.ts'
import { compileCall, compileMethod } from './calls.ts'
import { inRange, literalOf, type Names, type CompileScope } from './scope.ts'
import { Failure, Refused } from './failure.ts'
import type { Code } from './frame.ts'
import { and, not, or, ternary } from './logic.ts'
import { compare, contains, equals, find } from './relation.ts'
import { timestampOf } from './time.ts'
import { Entries, isKey, isList, isMap, lookUp, TypeName, typeOf, Uint, type CelValue } from './value.ts'

/** Returns the code of a node. @throws Refused if it is not supported or always fails. */
export function compile(node: ASTNode, names: Names): Code {
  return compileNode(node, { ...names, compile: compileNode })
}

function compileNode(node: ASTNode, scope: CompileScope): Code {
  switch (node.op) {
    case 'value': {
      const value = literalOf(node)
      return () => value
    }
    case 'id':
      return compileName(node.args, scope, node.start)
    case '.':
      return compileSelect(compileNode(node.args[0], scope), node.args[1])
    case '[]':
      return compileIndex(compileNode(node.args[0], scope), compileNode(node.args[1], scope))
    case '.?':
    case '[?]':
      throw new Refused(node.start, 'the optional syntax is not supported; test with `has()`')
    case 'call':
      return compileCall(node, scope)
    case 'rcall':
      return compileMethod(node, scope)
    case 'list':
      return compileList(node.args.map((item) => compileNode(item, scope)))
    case 'map':
      return compileMap(node.args.map(([key, value]) => [compileNode(key, scope), compileNode(value, scope)]))
    case '?:':
      return ternary(
        compileNode(node.args[0], scope),
        compileNode(node.args[1], scope),
        compileNode(node.args[2], scope),
      )
    case '||':
      return or(compileNode(node.args[0], scope), compileNode(node.args[1], scope))
    case '&&':
      return and(compileNode(node.args[0], scope), compileNode(node.args[1], scope))
    case '!_':
      return not(compileNode(node.args, scope))
    case '-_':
      return compileMinus(node, scope)
    case '==':
    case '!=':
    case 'in':
    case '<':
    case '<=':
    case '>':
    case '>=':
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
      return compileBinary(node, scope)
  }
}

type Node<Op extends ASTNode['op']> = Extract<ASTNode, { op: Op }>

const TYPES: ReadonlyMap<string, CelValue> = new Map<string, CelValue>([
  ...['bool', 'int', 'uint', 'double', 'string', 'bytes', 'list', 'map', 'null_type', 'type'].map(
    (name): [string, CelValue] => [name, new TypeName(name)],
  ),
  [
    'google',
    {
      protobuf: {
        Timestamp: new TypeName('google.protobuf.Timestamp'),
        Duration: new TypeName('google.protobuf.Duration'),
      },
    },
  ],
])

function compileName(name: string, scope: CompileScope, offset: number): Code {
  const place = scope.locals.lastIndexOf(name)
  // Safe cast: a loop sets its variable before its body runs.
  if (place >= 0) return (frame) => frame.locals[place] as CelValue
  const isMoment = scope.variables.get(name)
  if (isMoment !== undefined) return compileVariable(name, isMoment, scope.uses)
  const type = TYPES.get(name)
  if (type === undefined) throw new Refused(offset, `\`${name}\` is not supported`)
  return () => type
}

function compileVariable(name: string, isMoment: boolean, uses: Map<string, number>): Code {
  const place = uses.get(name) ?? uses.size
  uses.set(name, place)
  const absent = new Failure(`the variable \`${name}\` has no value here`)
  // Read once per evaluation, because a getter may compute the value.
  return (frame) => {
    const known = frame.variables[place]
    if (known !== undefined) return known
    const value = Object.hasOwn(frame.values, name) ? frame.values[name] : undefined
    if (value === undefined) throw absent
    return (frame.variables[place] = isMoment ? momentOf(value) : value)
  }
}

const NO_MOMENT = new Failure('a timestamp was not given in milliseconds')

function momentOf(value: CelValue): CelValue {
  const ms = isMap(value) ? lookUp(value, 'ms') : undefined
  if (typeof ms !== 'number' || !Number.isFinite(ms)) throw NO_MOMENT
  return timestampOf(BigInt(Math.floor(ms)) * 1_000_000n)
}

function compileSelect(whole: Code, key: string): Code {
  const absent = new Failure(`there is no key \`${key}\`; test for it with \`has()\` first`)
  return (frame) => {
    const value = whole(frame)
    if (!isMap(value)) throw new Failure(`\`${typeOf(value)}\` has no key \`${key}\`, only maps have keys`)
    const found = lookUp(value, key)
    if (found === undefined) throw absent
    return found
  }
}

const NO_KEY = new Failure('there is no such key; test for it with `in` first')
const NO_ITEM = new Failure('the index is outside the list')

function compileIndex(whole: Code, index: Code): Code {
  return (frame) => {
    const value = whole(frame)
    const key = index(frame)
    if (isList(value)) return itemAt(value, key)
    if (!isMap(value)) throw new Failure(`\`${typeOf(value)}\` cannot be indexed, only lists and maps can`)
    const found = find(value, key, frame)
    if (found === undefined) throw NO_KEY
    return found
  }
}

function itemAt(list: readonly CelValue[], index: CelValue): CelValue {
  const place = index instanceof Uint ? index.value : index
  if (typeof place !== 'bigint' && !(typeof place === 'number' && Number.isInteger(place))) {
    throw new Failure(`a list cannot be indexed with \`${typeOf(index)}\`, only with a whole number`)
  }
  if (place < 0 || place >= list.length) throw NO_ITEM
  // Safe cast: the index is within the list, and lists have no holes.
  return list[Number(place)] as CelValue
}

function compileList(items: readonly Code[]): Code {
  return (frame) => items.map((item) => item(frame))
}

const KEY_TWICE = new Failure('a map has the same key twice')

function compileMap(entries: readonly (readonly [key: Code, value: Code])[]): Code {
  return (frame) => {
    const map = new Entries()
    for (const [keyCode, valueCode] of entries) {
      const key = keyCode(frame)
      if (typeof key === 'string') frame.charge(key.length >> 6)
      if (!isKey(key)) throw new Failure(`\`${typeOf(key)}\` cannot be the key of a map`)
      if (!map.add(key, valueCode(frame))) throw KEY_TWICE
    }
    return map
  }
}

function compileMinus({ args, start }: Node<'-_'>, scope: CompileScope): Code {
  // The smallest int has no positive counterpart, so its literal is read together with its sign.
  if (args.op === 'value' && typeof args.args === 'bigint') {
    const value = inRange(-args.args, start)
    return () => value
  }
  const operand = compileNode(args, scope)
  return (frame) => negate(operand(frame))
}

type BinaryNode = Node<'==' | '!=' | 'in' | '<' | '<=' | '>' | '>=' | Operator>

function compileBinary(node: BinaryNode, scope: CompileScope): Code {
  const left = compileNode(node.args[0], scope)
  const right = compileNode(node.args[1], scope)
  switch (node.op) {
    case '==':
      return compileEquality(left, right, textOf(node.args[1]))
    case '!=':
      return not(compileEquality(left, right, textOf(node.args[1])))
    case 'in':
      return compileIn(left, right, textsOf(node.args[1]))
    case '<':
      return compileOrder(left, right, (order) => order < 0)
    case '<=':
      return compileOrder(left, right, (order) => order <= 0)
    case '>':
      return compileOrder(left, right, (order) => order > 0)
    case '>=':
      return compileOrder(left, right, (order) => order >= 0)
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
      return compileArithmetic(node.op, left, right)
  }
}

function compileArithmetic(operator: Operator, left: Code, right: Code): Code {
  return (frame) => compute(operator, left(frame), right(frame), frame)
}

/** Returns the text of a string literal. */
function textOf(node: ASTNode): string | undefined {
  return node.op === 'value' && typeof node.args === 'string' ? node.args : undefined
}

/** Returns the texts of a list literal that contains only texts. */
function textsOf(node: ASTNode): ReadonlySet<string> | undefined {
  if (node.op !== 'list') return undefined
  const texts = node.args.map(textOf).filter((text) => text !== undefined)
  return texts.length === node.args.length ? new Set(texts) : undefined
}

function compileEquality(left: Code, right: Code, text: string | undefined): Code {
  if (text !== undefined) return (frame) => left(frame) === text
  return (frame) => equals(left(frame), right(frame), frame)
}

function compileIn(left: Code, right: Code, texts: ReadonlySet<string> | undefined): Code {
  if (texts !== undefined) {
    return (frame) => {
      const value = left(frame)
      return typeof value === 'string' && texts.has(value)
    }
  }
  return (frame) => {
    const value = left(frame)
    return contains(right(frame), value, frame)
  }
}

function compileOrder(left: Code, right: Code, holds: (order: number) => boolean): Code {
  return (frame) => {
    const a = left(frame)
    return holds(compare(a, right(frame), frame))
  }
}
