// Finds the targets that a user's words name: addresses, accounts, files, quoted texts, names.

import { valuesIn } from '../../text/values.ts'
import { MOST_SINKS } from '../../gates/scope/parse.ts'
import { QUOTES } from '../../text/prompt.ts'
import { FILE, isUnspaced, MOST_READ } from '../../text/prompt-reading.ts'
import { spelt } from '../../gates/scope/sinks.ts'

const MAX_SINK_LENGTH = 200
// Keeps the whole scope within its size limit.
const MAX_TOTAL_LENGTH = 24_000

/** Returns all targets that a text names, sorted and unique. */
export function sinksNamedIn(prompt: string): readonly string[] {
  // A sentence that begins right after a full stop is not part of the name before it.
  const text = prompt.slice(0, MOST_READ).replace(RUN_ON, '$1. ')
  const found = new Set<string>()
  let length = 0
  const add = (name: string): void => {
    const sink = tidy(name)
    if (sink === '' || sink.length > MAX_SINK_LENGTH || found.has(sink)) return
    if (found.size >= MOST_SINKS || length + sink.length > MAX_TOTAL_LENGTH) return
    found.add(sink)
    length += sink.length + 3
  }
  for (const { text: value } of valuesIn(text, MOST_SINKS)) add(value)
  const files = filesIn(text)
  for (const name of [...quotedIn(text), ...files, ...namesIn(text), ...wordsIn(text)]) add(name)
  // A file name matches in any folder.
  const anywhere = files
    .filter((file) => !file.includes('/') && valuesIn(file).length === 0)
    .map((file) => `*/${tidy(file)}`)
  return [...new Set([...found, ...anywhere])].slice(0, MOST_SINKS).sort()
}

/** Removes stars, which would make a pattern out of a name. */
function tidy(name: string): string {
  const sink = spelt(name.replaceAll('*', ' '))
  return !CONTROL.test(sink) && sink.isWellFormed() ? sink.replace(EDGES, '') : ''
}

const CONTROL = /\p{Cc}/u
const EDGES = /^[\s.,;:!?()[\]{}<>]+|[\s.,;:!?()[\]{}<>]+$/gu

function quotedIn(text: string): readonly string[] {
  return QUOTES.flatMap((quote) => [...text.matchAll(quote)].map(([, inner = '']) => inner))
}

/** Returns names of files and paths. */
function filesIn(text: string): readonly string[] {
  return [...text.matchAll(FILE)].map(([name]) => name)
}

const RUN_ON = /([\p{Ll}\p{N}])\.(?=\p{Lu}\p{Ll})/gu
const NAME =
  /(?:\p{N}{1,6}[ ])?\p{Lu}[\p{L}\p{M}\p{N}'’&.-]*(?:[ ](?:(?:of|de|la|le|du|van|von|der|del|di|da|dos|the|and|&)[ ])?[\p{Lu}\p{N}][\p{L}\p{M}\p{N}'’&.-]*){0,7}/gu

/** Returns runs of capitalised words and all parts of them, because the first word of a sentence may not belong to the name. */
function namesIn(text: string): readonly string[] {
  return [...text.matchAll(NAME)].flatMap(([name]) => {
    const words = name.split(' ')
    const runs: string[] = []
    for (let from = 0; from < words.length && from < 8; from++) {
      for (let to = words.length; to > from; to--) runs.push(words.slice(from, to).join(' '))
    }
    return runs
  })
}

const WORD = /[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N}_.@#+-]*/gu
const MIN_WORD_LENGTH = 3

/** Returns single words, because a channel or user can have any name. Common words are skipped. */
function wordsIn(text: string): readonly string[] {
  return [...text.matchAll(WORD)]
    .map(([word]) => word)
    .filter((word) => word.length >= MIN_WORD_LENGTH && !isUnspaced(word) && !COMMON.has(word.toLowerCase()))
}

const COMMON: ReadonlySet<string> = new Set(
  'the and for that this with from have has are was were will would can could should you your please what when where which who how not but all any its his her their our about into than then them they there here'.split(
    ' ',
  ),
)
