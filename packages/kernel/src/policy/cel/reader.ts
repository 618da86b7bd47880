// Parses a source to a checked syntax tree with the parser and checker of cel-js. Its evaluator is never used.

import { Environment, ParseError, TypeError as CheckError, type ASTNode } from '@marcbachmann/cel-js'
import { undefinedOperation } from './arithmetic.ts'
import { Refused } from './failure.ts'
import { FUNCTION_NAMES } from './functions.ts'
import { scan } from './scan.ts'
import { WITHIN_KINDS } from './within.ts'

/** Maximum depth of a syntax tree. Each operator in a chain adds one level. */
const MAX_DEPTH = 64

/** Maximum nodes of a syntax tree. */
const MAX_NODES = 1024

/** Overloads of the standard that the checker of cel-js does not know. */
const SIGNATURES: readonly string[] = [
  'int(uint): int',
  'int(google.protobuf.Timestamp): int',
  'string(google.protobuf.Timestamp): string',
  'string(google.protobuf.Duration): string',
  'timestamp(google.protobuf.Timestamp): google.protobuf.Timestamp',
  'duration(google.protobuf.Duration): google.protobuf.Duration',
  'matches(string, string): bool',
]
const ORDERS: readonly string[] = ['<', '<=', '>', '>=']

/** Named fields of a record, each with its cel-js type. */
type DeclaredFields = Readonly<Record<string, string>>

/** A parsed source. */
interface Reading {
  readonly tree: ASTNode
  /** Returns the cel-js type of the whole. @throws Refused for a type error. */
  check(): string
}

/** Parses sources that may use the declared variables. */
export interface ExpressionReader {
  declareRecord(name: string, fields: DeclaredFields): void
  declare(name: string, type: string): void
  /** @throws Refused for a source that is not CEL, is too large, or uses something unsupported. */
  read(source: string): Reading
}

/** Returns a reader without variables. */
export function createReader(): ExpressionReader {
  const names: string[] = []
  const environment = new Environment({
    // As in the specification: `[1, "a"]` is a list of `dyn`.
    homogeneousAggregateLiterals: false,
    limits: {
      maxDepth: MAX_DEPTH,
      maxAstNodes: MAX_NODES,
      maxListElements: MAX_NODES,
      maxMapEntries: MAX_NODES,
    },
  })
  for (const signature of SIGNATURES) environment.registerFunction(signature, neverCalled)
  for (const kind of WITHIN_KINDS) {
    environment.registerType({ name: `${kind}.tests`, fields: {} })
    environment.registerVariable(kind, `${kind}.tests`)
    environment.registerFunction(`${kind}.tests.within(dyn, string): bool`, neverCalled)
  }
  for (const order of ORDERS) environment.registerOperator(`bytes ${order} bytes`, neverCalled)

  return {
    declareRecord: (name, fields) => void environment.registerType({ name, fields }),
    declare(name, type) {
      environment.registerVariable(name, type)
      names.push(name)
    },
    read(source) {
      scan(source)
      const parsed = refusing(names, () => environment.parse(source))
      inspect(parsed.ast)
      return { tree: parsed.ast, check: () => refusing(names, () => checked(parsed.check())) }
    },
  }
}

function neverCalled(): never {
  throw new Error('conditions are never evaluated by cel-js')
}

function checked(result: { readonly type?: string; readonly error?: unknown }): string {
  if (result.type === undefined) throw result.error
  return result.type
}

/** Refuses a tree that could exhaust the stack of the checker or compiler, and calls of unknown functions. */
function inspect(tree: ASTNode): void {
  let level: readonly ASTNode[] = [tree]
  for (let depth = 1; level.length > 0; depth++) {
    level.forEach(demandFunction)
    if (depth > MAX_DEPTH) {
      throw new Refused(level[0]?.start ?? 0, `the condition nests deeper than ${MAX_DEPTH} levels; split it`)
    }
    level = level.flatMap(childrenOf)
  }
}

function demandFunction(node: ASTNode): void {
  if ((node.op !== 'call' && node.op !== 'rcall') || FUNCTION_NAMES.has(node.args[0])) return
  throw new Refused(
    node.start,
    `there is no function \`${node.args[0]}\`; extensions of CEL are not supported`,
  )
}

/** Returns the number of nodes of a tree. */
export function countNodes(tree: ASTNode): number {
  return childrenOf(tree).reduce((count, child) => count + countNodes(child), 1)
}

/** Returns the children of a node. */
export function childrenOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return []
    case '.':
    case '.?':
      return [node.args[0]]
    case '!_':
    case '-_':
      return [node.args]
    case 'call':
      return node.args[1]
    case 'rcall':
      return [node.args[1], ...node.args[2]]
    case 'map':
      return node.args.flat()
    case '[]':
    case '[?]':
    case 'list':
    case '?:':
    case '||':
    case '&&':
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
      return node.args
  }
}

function refusing<T>(names: readonly string[], step: () => T): T {
  try {
    return step()
  } catch (error) {
    if (error instanceof ParseError || error instanceof CheckError) throw translate(error, names)
    // The checker crashes on a few odd sources, like `[].all(x, x > 0)`.
    throw new Refused(0, 'the types in the condition cannot be determined; rewrite it')
  }
}

/** Translates the errors of cel-js. They contain only source text and type names. */
function translate(error: ParseError | CheckError, names: readonly string[]): Refused {
  const { start, end } = error.range ?? { start: 0, end: 0 }
  const place = error.node?.input?.slice(start, end) ?? ''
  const summary = error.summary.replaceAll(/'([^']*)'/g, '`$1`').replaceAll('google.protobuf.', '')
  return new Refused(start, sentence(error.code, summary, place, names))
}

function sentence(code: string, summary: string, place: string, names: readonly string[]): string {
  const subject = summary.slice(summary.indexOf(': ') + 2)
  const found = place === '' ? 'the condition ends too early' : `\`${place}\` is not expected here`
  switch (code) {
    case 'unknown_variable':
      return `\`${subject}\` is not declared; ${listOf(names)}`
    case 'no_such_key':
      return `there is no field \`${subject}\` in this record`
    case 'no_such_overload':
      return overload(subject)
    case 'no_matching_overload':
      return summary.replace('found no matching overload for', 'there is no function')
    case 'invalid_macro_argument':
      return summary.startsWith('has()')
        ? '`has()` takes a field of a variable, like `has(args.path)`'
        : 'the first argument of a macro must be a new name, like `x` in `list.all(x, x > 0)`'
    case 'limit_exceeded':
      return `the condition nests deeper than ${MAX_DEPTH} levels or has more than ${MAX_NODES} parts; split it`
    case 'expected_token':
      return `${found}; expected ${EXPECTED.get(/[A-Z]{3,}/.exec(summary)?.[0] ?? '') ?? 'something else'}`
    case 'unexpected_token':
    case 'unexpected_character':
      return found
    default:
      return summary.charAt(0).toLowerCase() + summary.slice(1)
  }
}

function listOf(names: readonly string[]): string {
  return names.length === 0
    ? 'there are no variables'
    : `the variables are ${names.map((name) => `\`${name}\``).join(', ')}`
}

function overload(operation: string): string {
  const [left = '', operator, right] = operation.split(' ')
  if (operator === undefined || right === undefined) return `\`${operation}\` is not defined`
  return undefinedOperation(operator, left, right)
}

const EXPECTED: ReadonlyMap<string, string> = new Map([
  ['RPAREN', '`)`'],
  ['RBRACKET', '`]`'],
  ['RBRACE', '`}`'],
  ['COLON', '`:`'],
  ['IDENTIFIER', 'a name'],
])
