// The words of a tool's texts, and the order of effect classes. It splits words without regular expressions, because the texts
// come from servers and must not cause slow matching.

import type { EffectClass } from '@tollgate/evidence'

/** A word that implies an effect class. */
export interface EffectWord {
  readonly word: string
  readonly effect: EffectClass
}

// The classes by possible damage, as in docs/policy.md. In doubt the stricter one counts.
const ORDER: readonly EffectClass[] = ['read', 'write', 'send', 'delete', 'execute', 'pay', 'admin']

/** The stricter of two classes. */
export function stricter(a: EffectClass, b: EffectClass): EffectClass {
  return ORDER.indexOf(a) >= ORDER.indexOf(b) ? a : b
}

/** The number of characters of a description that are read. */
export const MAX_READ = 4000

function sentenceEnd(text: string): number {
  const ends = ['. ', '.\n', '\n'].map((mark) => text.indexOf(mark)).filter((at) => at !== -1)
  return Math.min(300, text.length, ...ends)
}

/** The words of a text in lower case: "getFile", "get_file" and "get file" give the same two words. */
export function wordsOf(text: string): readonly string[] {
  const words: string[] = []
  let word = ''
  let wasLower = false
  const end = (): void => {
    if (word !== '') words.push(word.toLowerCase())
    word = ''
  }
  for (const letter of text) {
    const isUpper = letter >= 'A' && letter <= 'Z'
    const isLetter = isUpper || (letter >= 'a' && letter <= 'z') || letter > '\u007f'
    if (!isLetter || (isUpper && wasLower)) end()
    if (isLetter) word += letter
    wasLower = isLetter && !isUpper
  }
  end()
  return words
}

/** Whether words claim that a query only reads: "read-only", "a SELECT query", "only SELECT". */
export function claimsReading(words: readonly string[]): boolean {
  return words.some((word, i) => {
    const [before = '', after = ''] = [words[i - 1], words[i + 1]]
    if (word === 'select') return before === 'only' || QUERIES.has(after)
    return word === 'readonly' || (word === 'only' && before === 'read')
  })
}

const QUERIES = new Set(['query', 'queries', 'statement', 'statements', 'only'])

const SECRETS = new Set(
  'env environment secret secrets password passwords credential credentials token tokens apikey keychain vault'.split(
    ' ',
  ),
)

/** Whether the name or the first sentence of the description mentions secrets. */
export function mentionsSecrets(name: string, description: string): boolean {
  const text = description.slice(0, MAX_READ)
  const words = [...wordsOf(name.slice(0, 256)), ...wordsOf(text.slice(0, sentenceEnd(text)))]
  return words.some((word) => SECRETS.has(word))
}
