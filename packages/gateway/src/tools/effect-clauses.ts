// Splits running text into words and sentences. It reads letter by letter, because the texts come from servers.

/** A word of a running text, in lower case. */
export interface ProseWord {
  readonly word: string
  /** The mark before it, such as a comma. Empty if there is none. */
  readonly mark: string
}

/** The sentences of a text. */
export function sentencesOf(text: string): readonly (readonly ProseWord[])[] {
  const sentences: ProseWord[][] = [[]]
  let word = ''
  let mark = ''
  const end = (): void => {
    if (word === '') return
    sentences.at(-1)?.push({ word: word.toLowerCase(), mark })
    word = ''
    mark = ''
  }
  for (let i = 0; i < text.length; i++) {
    const letter = text[i] ?? ''
    // A hyphen inside of a word joins it: "real-time".
    if (isPartOfWord(letter) || (letter === '-' && word !== '')) {
      word += letter
      continue
    }
    end()
    if (isEnd(text, i, letter)) sentences.push([])
    else if (letter !== ' ' && letter !== '\n') mark = letter
  }
  end()
  return sentences.filter((sentence) => sentence.length > 0)
}

/** A dot inside of a name ends nothing, and neither does a line end before a small letter. */
function isEnd(text: string, at: number, letter: string): boolean {
  const next = text[at + 1] ?? ' '
  if (letter === '.' || letter === '!' || letter === '?') return next === ' ' || next === '\n'
  return letter === '\n' && !(next >= 'a' && next <= 'z')
}

function isPartOfWord(letter: string): boolean {
  return (
    (letter >= 'a' && letter <= 'z') ||
    (letter >= 'A' && letter <= 'Z') ||
    (letter >= '0' && letter <= '9') ||
    letter > '\u007f' ||
    letter === '_' ||
    letter === "'"
  )
}
