// Names of arguments whose values are executed.

import { wordsOf } from '../../tools/effect-words.ts'

const CODE: readonly string[] = (
  'command cmd script code sql expression expr statement shell eval program query queries filter where js javascript ' +
  'python bash argv pipeline template'
).split(' ')
const ONE_WORD = new Set(CODE.flatMap((word) => [word, `${word}s`]))
// Long enough to be unambiguous in names without separators: `rawquery`, `SQLStatement`.
const ENDINGS = CODE.filter((word) => word.length >= 5)

/** Whether a name says that its value is executed. */
export function namesCode(name: string): boolean {
  return wordsOf(name.slice(0, 1024)).some(
    (word) =>
      ONE_WORD.has(word) ||
      word.includes('sql') ||
      ENDINGS.some((ending) => word.endsWith(ending) || word.endsWith(`${ending}s`)),
  )
}
