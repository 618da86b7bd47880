// Compiles calls: macros, `matches` and library functions.

import type { ASTNode } from '@marcbachmann/cel-js'
import { literalOf, type CompileScope } from './scope.ts'
import { Failure, Refused } from './failure.ts'
import { Frame, type Code } from './frame.ts'
import { LIBRARY, type Binary, type Unary } from './functions.ts'
import { collect, existsOne, quantifier } from './logic.ts'
import { countNodes } from './reader.ts'
import { createPatterns, parsePattern, type Pattern } from './regex.ts'
import { offsetOf, TIMESTAMP_FIELDS } from './time.ts'
import { isMap, lookUp, typeOf, type CelValue } from './value.ts'
import { parseWithin, withinKindOf } from './within.ts'

type Call = Extract<ASTNode, { op: 'call' }>
type Method = Extract<ASTNode, { op: 'rcall' }>

/** Compiles `name(…)`. @throws Refused if it is not supported or always fails. */
export function compileCall(node: Call, scope: CompileScope): Code {
  const [name, [first, second, ...rest]] = node.args
  if (first === undefined || rest.length > 0) throw unsupported(node, name)
  if (second !== undefined) {
    if (name !== 'matches') throw unsupported(node, name)
    return compileMatches(scope.compile(first, scope), second, scope)
  }
  if (name === 'has') return compileHas(first, scope)
  const apply = LIBRARY.functions.get(name)
  if (apply === undefined) throw unsupported(node, name)
  if (first.op === 'value') return compileConstant(apply, literalOf(first), node.start)
  return compileUnary(apply, scope.compile(first, scope))
}

/** Compiles `receiver.name(…)`. @throws Refused if it is not supported or always fails. */
export function compileMethod(node: Method, scope: CompileScope): Code {
  const [name, receiver, [first, second, third]] = node.args
  if (first === undefined) {
    const apply = LIBRARY.methods.get(name)
    if (apply === undefined) throw unsupported(node, name)
    return compileUnary(apply, scope.compile(receiver, scope))
  }
  if (name === 'within') return compileWithin(node, scope)
  if (second !== undefined) return compileMacro(node, scope, [first, second, third])
  if (name === 'matches') return compileMatches(scope.compile(receiver, scope), first, scope)
  const apply = LIBRARY.binaryMethods.get(name)
  if (apply === undefined) throw unsupported(node, name)
  if (TIMESTAMP_FIELDS.has(name)) demandZone(first)
  return compilePair(apply, scope.compile(receiver, scope), scope.compile(first, scope))
}

function unsupported(node: ASTNode, name: string): Refused {
  return new Refused(node.start, `\`${name}\` does not take these arguments`)
}

function compileUnary(apply: Unary, operand: Code): Code {
  return (frame) => apply(operand(frame), frame)
}

function compilePair(apply: Binary, left: Code, right: Code): Code {
  return (frame) => {
    const first = left(frame)
    return apply(first, right(frame), frame)
  }
}

/** Computes a function of a literal at load time, so that it cannot fail later. */
function compileConstant(apply: Unary, value: CelValue, offset: number): Code {
  try {
    const result = apply(value, new Frame({}))
    return () => result
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    throw new Refused(offset, error.message)
  }
}

function compileHas(node: ASTNode, scope: CompileScope): Code {
  if (node.op !== '.') throw new Refused(node.start, '`has()` takes a field, like `has(args.path)`')
  const [map, key] = node.args
  const whole = scope.compile(map, scope)
  return (frame) => {
    const value = whole(frame)
    if (!isMap(value)) throw new Failure(`\`${typeOf(value)}\` has no key \`${key}\`, only maps have keys`)
    return lookUp(value, key) !== undefined
  }
}

function compileMatches(text: Code, pattern: ASTNode, scope: CompileScope): Code {
  const find = compilePattern(pattern, scope)
  return (frame) => {
    const value = text(frame)
    if (typeof value !== 'string') throw new Failure(`\`matches\` is not defined for \`${typeOf(value)}\``)
    return find(frame).test(value, frame)
  }
}

function compilePattern(node: ASTNode, scope: CompileScope): (frame: Frame) => Pattern {
  if (node.op === 'value' && typeof node.args === 'string') {
    const pattern = parsePattern(node.args)
    if (typeof pattern === 'string') throw new Refused(node.start, `the pattern ${pattern}`)
    return () => pattern
  }
  const source = scope.compile(node, scope)
  const patterns = createPatterns()
  return (frame) => {
    const value = source(frame)
    if (typeof value !== 'string') throw new Failure(`a pattern must be a string, not \`${typeOf(value)}\``)
    return patterns(value, frame)
  }
}

/** Compiles `path.within(text, "/notes")`. The second argument is checked at load time. */
function compileWithin(node: Method, scope: CompileScope): Code {
  const [name, receiver, [text, base, ...rest]] = node.args
  const kind = receiver.op === 'id' ? withinKindOf(receiver.args, scope.locals) : undefined
  if (kind === undefined || text === undefined || base === undefined || rest.length > 0) {
    throw unsupported(node, name)
  }
  if (base.op !== 'value' || typeof base.args !== 'string') {
    throw new Refused(base.start, `the second argument of \`${kind}.within\` must be a quoted text`)
  }
  const isWithin = parseWithin(kind, base.args)
  if (typeof isWithin === 'string') throw new Refused(base.start, isWithin)
  const value = scope.compile(text, scope)
  return (frame) => {
    const found = value(frame)
    if (typeof found !== 'string')
      throw new Failure(`\`${kind}.within\` is not defined for \`${typeOf(found)}\``)
    frame.charge(16 + (found.length >> 2))
    return isWithin(found)
  }
}

function demandZone(node: ASTNode): void {
  if (node.op !== 'value' || typeof node.args !== 'string' || offsetOf(node.args) !== undefined) return
  throw new Refused(
    node.start,
    'names of time zones are not supported; write `UTC` or an offset like `+02:00`',
  )
}

function compileMacro(
  node: Method,
  scope: CompileScope,
  [variable, second, third]: readonly [ASTNode, ASTNode, ASTNode | undefined],
): Code {
  const [name, receiver, args] = node.args
  if (variable.op !== 'id') throw unsupported(node, name)
  const inner = { ...scope, locals: [...scope.locals, variable.args] }
  const loop = {
    range: scope.compile(receiver, scope),
    place: scope.locals.length,
    cost: args.reduce((count, arg) => count + countNodes(arg), 0),
  }
  const body = scope.compile(second, inner)
  if (third !== undefined) {
    if (name !== 'map' || args.length > 3) throw unsupported(node, name)
    return collect(loop, body, scope.compile(third, inner))
  }
  switch (name) {
    case 'all':
      return quantifier(loop, body, false)
    case 'exists':
      return quantifier(loop, body, true)
    case 'exists_one':
      return existsOne(loop, body)
    case 'filter':
      return collect(loop, body, scope.compile(variable, inner))
    case 'map':
      return collect(loop, () => true, body)
    default:
      throw unsupported(node, name)
  }
}
