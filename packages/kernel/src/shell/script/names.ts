// The names that a script gives values to. A variable counts as known only if the script sets it in one place, with a constant.

import {
  forEachChild,
  type ArithmeticExpression,
  type Command,
  type ParsedScript,
  type SyntaxNode,
} from 'unbash'
import { TooMuch, type FactsFound } from '../found.ts'

/** The names in a script. */
export interface ScriptNames {
  /** Returns whether exactly one place of the script sets this variable, in a way that the reader follows. */
  isSetOnce(name: string): boolean
  /** Returns whether no place of the script sets this variable. */
  isUntouched(name: string): boolean
  /** Returns whether the variable is only ever an integer, so that arithmetic on it runs no code. */
  isInteger(name: string): boolean
  /** Adds the names of nested code. */
  add(script: ParsedScript): void
}

/** Builtins that set variables which they name, and words that make everything possible. */
const SETTERS = new Set(
  'read mapfile readarray getopts printf let declare typeset local export readonly unset wait coproc'.split(
    ' ',
  ),
)
const ANYTHING = new Set('eval source trap alias'.split(' '))
const MAX_DEPTH = 200
const MAX_LAZY = 10
const LAZY = new Set(['Script', 'ParameterExpansion', 'ArithmeticExpansion'])
const INTEGER = /^[-+]?\d{1,18}$/

/** Starts without names. */
export function createNames(found: FactsFound): ScriptNames {
  const places = new Map<string, number>()
  const others = new Set<string>()
  const literal = new Set<string>()
  let isOpen = false
  const set = ({ name, gives }: NameSetting): void => {
    places.set(name, (places.get(name) ?? 0) + 1)
    if (gives === 'other') others.add(name)
    if (gives === 'literal') literal.add(name)
  }
  const setOften = (name: string): void => {
    set({ name, gives: 'other' })
    set({ name, gives: 'other' })
  }
  const visit = (node: SyntaxNode, depth: number, lazy: number): void => {
    found.step()
    // Nested code is parsed when it is visited, and each level reads the text again.
    const inner = LAZY.has(node.type) ? lazy + 1 : lazy
    if (depth > MAX_DEPTH || inner > MAX_LAZY) throw new TooMuch()
    if (node.type === 'Script' && 'errors' in node && node.errors?.length)
      found.add('unknown', 'a part of the command has a syntax error')
    setIn(node).forEach(set)
    if (node.type === 'Command') {
      const words = wordsOf(node)
      if (words.some((word) => ANYTHING.has(word)) || isDot(words)) isOpen = true
      if (words.some((word) => word === 'shift' || word === 'set')) setOften('@')
      if (setsByName(words)) words.forEach((word) => setOften(/^\w*/.exec(word)?.[0] ?? ''))
    }
    forEachChild(node, (child) => visit(child, depth + 1, inner))
  }
  return {
    isSetOnce: (name) => !isOpen && places.get(name) === 1,
    isUntouched: (name) => !places.has(name),
    isInteger: (name) => !isOpen && literal.has(name) && !others.has(name),
    add: (script) => visit(script, 0, 0),
  }
}

interface NameSetting {
  readonly name: string
  /** A literal integer, the integer that arithmetic results in, or something else. */
  readonly gives: 'literal' | 'integer' | 'other'
}

function setIn(node: SyntaxNode): readonly NameSetting[] {
  if (node.type === 'Assignment') {
    const text = node.value.type === 'Word' ? node.value.text : ''
    const isArithmetic = /^"?\$\(\([^()`$]*\)\)"?$/.test(text)
    const gives = INTEGER.test(text) ? 'literal' : isArithmetic ? 'integer' : 'other'
    return [{ name: node.name, gives: node.append || node.index ? 'other' : gives }]
  }
  if (node.type === 'For' || node.type === 'Select') {
    const items = node.wordlist ?? []
    const isInteger = items.length > 0 && items.every(({ text }) => INTEGER.test(text) || isRange(text))
    return [{ name: node.name.text, gives: node.type === 'For' && isInteger ? 'literal' : 'other' }]
  }
  if (node.type === 'ParameterExpansion') {
    const { operation } = node
    const sets = operation?.type === 'Default' && operation.operator.endsWith('=')
    return sets ? [{ name: node.parameter, gives: 'other' }] : []
  }
  if (node.type === 'ArithmeticBinary') {
    // With `=` and a literal, the variable is a number from then on.
    const isLiteral =
      node.operator === '=' && node.right.type === 'ArithmeticWord' && INTEGER.test(node.right.value)
    return /^(?:[-+*/%&|^]|<<|>>)?=$/.test(node.operator) ? changed(node.left, isLiteral) : []
  }
  if (node.type === 'ArithmeticUnary')
    return /^(?:\+\+|--)$/.test(node.operator) ? changed(node.operand, false) : []
  return []
}

function changed(node: ArithmeticExpression, isLiteral: boolean): readonly NameSetting[] {
  // The right side is checked where it is evaluated, so the result is an integer.
  return node.type === 'ArithmeticWord'
    ? [{ name: node.value, gives: isLiteral ? 'literal' : 'integer' }]
    : []
}

function isRange(text: string): boolean {
  return /^\{-?\d+\.\.-?\d+(?:\.\.-?\d+)?\}$/.test(text)
}

function isDot([name = '', ...rest]: readonly string[]): boolean {
  return name === '.' || (/^(?:builtin|command)$/.test(name) && rest.includes('.'))
}

/** `export A=1` is an assignment like any other. With an option, or with a name alone, the value can be anything. */
function setsByName(words: readonly string[]): boolean {
  if (!words.some((word) => SETTERS.has(word))) return false
  const [name = '', ...rest] = words
  return (
    !/^(?:export|readonly|local|declare|typeset)$/.test(name) || !rest.every((word) => /^\w+=/.test(word))
  )
}

/** The words of a command without quotes, whether or not they are constant. */
function wordsOf({ name, suffix }: Command): readonly string[] {
  const words = suffix.flatMap((item) =>
    item.type === 'Word' || item.type === 'Assignment' ? [item.text] : [],
  )
  return [...(name ? [name.text] : []), ...words].map((text) => text.replace(/["'\\]/g, ''))
}
