// `[[ … ]]`. Some of its operators evaluate arithmetic, which can run code.

import type { TestExpression, Word } from 'unbash'
import { checkNumber } from './arithmetic.ts'
import { unknown, type Shell } from './shell.ts'
import { expand } from './word.ts'

const NUMERIC = /^-(?:eq|ne|lt|le|gt|ge)$/

/** Reads a test, and runs the code in its words. */
export function readTest(test: TestExpression, shell: Shell): void {
  shell.found.step()
  switch (test.type) {
    case 'TestUnary':
      expand(test.operand, shell)
      if (/^-[vR]$/.test(test.operator)) checkName(test.operand, shell)
      return
    case 'TestBinary':
      for (const word of [test.left, test.right]) {
        expand(word, shell)
        if (NUMERIC.test(test.operator)) checkNumber(word, shell)
      }
      return
    case 'TestLogical':
      test.operands.forEach((operand) => readTest(operand, shell))
      return
    case 'TestNot':
      readTest(test.operand, shell)
      return
    case 'TestGroup':
      readTest(test.expression, shell)
  }
}

/** The index of a variable is arithmetic. */
function checkName(word: Word, shell: Shell): void {
  if (!/^\w+$/.test(word.text)) unknown(shell, 'the index of a variable may contain code')
}
