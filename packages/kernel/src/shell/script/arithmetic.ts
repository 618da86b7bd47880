// Arithmetic of the shell. It runs the value of a variable as an expression, and an expression can run commands.

import { forEachChild, type ArithmeticExpression, type SyntaxNode, type Word } from 'unbash'
import { unknown, type Shell } from './shell.ts'

const WHY = 'arithmetic on a value that may contain code'
const NUMBER = /^(?:\d+#)?[\da-zA-Z@_]*$/

/** Checks an expression, and runs the code in it. */
export function readArithmetic(node: ArithmeticExpression | undefined, shell: Shell): void {
  if (node) readNode(node, shell)
  else unknown(shell, WHY)
}

function readNode(node: SyntaxNode, shell: Shell): void {
  shell.found.step()
  if (node.type === 'ArithmeticWord') {
    if (node.parts ? isSafeParts(node.parts, shell) : isSafeText(node.value, shell)) return
    unknown(shell, WHY)
    runInside(node, shell)
  } else if (/^Arithmetic(?:Binary|Unary|Ternary|Group)$/.test(node.type)) {
    forEachChild(node, (child) => readNode(child, shell))
  } else {
    // A command gives the number.
    unknown(shell, WHY)
    runInside(node, shell)
  }
}

/** Runs the commands in an expression, wherever they are. */
function runInside(node: SyntaxNode, shell: Shell): void {
  shell.found.step()
  forEachChild(node, (child) => {
    if (child.type === 'Script') shell.run.nodes(child, shell)
    else runInside(child, shell)
  })
}

/** Checks a word that the shell evaluates as arithmetic, such as an index. */
export function checkNumber(word: Word, shell: Shell): void {
  const text = word.text.replace(/^"(.*)"$/, '$1').trim()
  if (!isSafeText(text, shell)) unknown(shell, WHY)
}

/** Returns whether arithmetic on a text runs no code: it is a number, or a variable that is only ever one. */
function isSafeText(text: string, { names }: Shell): boolean {
  if (/^[-+]?\d*$/.test(text)) return true
  const [, name = ''] = /^[-+]?\$?\{?(#?[A-Za-z_]\w*|[#?$!])\}?$/.exec(text) ?? []
  return /^[#?$!]/.test(name) || names.isInteger(name) || (/^\d/.test(text) && NUMBER.test(text))
}

function isSafeParts(parts: readonly SyntaxNode[], shell: Shell): boolean {
  return parts.every((part) => {
    if (part.type === 'SimpleExpansion' || part.type === 'ParameterExpansion')
      return isSafeText(part.text, shell)
    return part.type === 'Literal' && isSafeText(part.value, shell)
  })
}
