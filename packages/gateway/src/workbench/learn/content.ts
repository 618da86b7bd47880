// Contents of files, messages and notes. They are not written into rules: many people read a policy, and the next content is
// different.

import type { Json } from '@tollgate/evidence'
import { wordsOf } from '../../tools/effect-words.ts'
import { namesCode } from './code-names.ts'

const CONTENT: ReadonlySet<string> = new Set(
  'content contents body text data message description comment note notes summary patch diff snippet markdown html'.split(
    ' ',
  ),
)

/** Whether a name says that its value is a content, such as `content`, `file_text` or `newText`. */
export function namesContent(name: string): boolean {
  const last = wordsOf(name.slice(0, 1024)).at(-1)
  return last !== undefined && CONTENT.has(last)
}

/** Whether a text is a content: because of its name, or because it has several lines. */
export function isContent(text: string, named: boolean): boolean {
  return named || text.includes('\n')
}

/** Whether a value has a content at any depth. A value that is executed is no content: it must be listed. */
export function holdsContent(value: Json, named = false): boolean {
  if (typeof value === 'string') return isContent(value, named)
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some((item: Json) => holdsContent(item, named))
  return Object.entries(value).some(
    ([name, member]) => !namesCode(name) && holdsContent(member, named || namesContent(name)),
  )
}
