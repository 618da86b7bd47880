// The running text of a description: without quotations, code, and the sections about arguments and examples. Their words name
// no action of the tool.

import { setOf } from './effect-verbs.ts'
import { MAX_READ, wordsOf } from './effect-words.ts'

/** The sentences of a description that say what its tool does. */
export function proseOf(description: string): string {
  const lines = description.slice(0, MAX_READ).split('\n')
  const end = lines.findIndex((line, i) => i > 0 && isHeading(line))
  return (end === -1 ? lines : lines.slice(0, end)).map(unquoted).join('\n')
}

const SECTIONS = setOf('args arg arguments parameters params returns raises example examples')

/** Whether a line is the heading of a section, such as "Args:" or "## Parameters (required)". */
function isHeading(line: string): boolean {
  const text = line.slice(0, MAX_HEADING).toLowerCase()
  const [first = ''] = wordsOf(text)
  const after = text.slice(text.indexOf(first) + first.length).trimStart()
  return SECTIONS.has(first) && (after === '' || HEADING_ENDS.has(after[0] ?? ''))
}

const MAX_HEADING = 60
const HEADING_ENDS = new Set([':', '(', '*', '#'])

/** A line without the texts between quotation marks or backticks. An unpaired mark ends nothing. */
function unquoted(line: string): string {
  return QUOTES.reduce((text, quote) => {
    const parts = text.split(quote)
    const last = parts.length - 1
    return parts.filter((_, i) => i % 2 === 0 || (i === last && last % 2 === 1)).join(' - ')
  }, line)
}

const QUOTES = ['`', '"']
