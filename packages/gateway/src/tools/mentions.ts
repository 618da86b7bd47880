// Finds descriptions that mention tools of other servers. A malicious server can use this to influence calls of other tools.

import type { Finding } from './finding.ts'
import { excerpt } from './hidden.ts'
import { serverPart, serverOf, toolOf, type Offer } from './offer.ts'
import { textsIn } from './texts.ts'

const MAX_NAME_LENGTH = 160

/** For each offer, the first tool of another server that its texts mention. */
export function mentionsIn(offers: readonly Offer[]): readonly Finding[] {
  const owners = ownersOf(offers)
  if (new Set([...owners.values()].flatMap((servers) => [...servers])).size < 2) return []
  const reported = new Set<string>()
  return offers.flatMap((offer) => {
    const about = toolOf(offer.name) === undefined ? serverOf(offer.name) : offer.name
    const found = reported.has(about) ? undefined : mentionIn(offer, owners)
    if (!found) return []
    reported.add(about)
    const { at, tool, server } = found
    const message = `\`${excerpt(at)}\` mentions \`${excerpt(tool)}\`, a tool of \`${server}\``
    return [{ code: 'OTHER_TOOL_NAMED', severity: 'high', tool: about, message }]
  })
}

/** The servers that offer a tool, by its short and by its full name. */
function ownersOf(offers: readonly Offer[]): ReadonlyMap<string, ReadonlySet<string>> {
  const owners = new Map<string, Set<string>>()
  for (const { name } of offers) {
    const tool = toolOf(name)
    if (tool === undefined) continue
    for (const key of [tool, name]) {
      const servers = owners.get(key) ?? new Set()
      servers.add(serverOf(name))
      owners.set(key, servers)
    }
  }
  return owners
}

interface Mention {
  readonly at: string
  readonly tool: string
  readonly server: string
}

function mentionIn({ name, definition }: Offer, owners: ReturnType<typeof ownersOf>): Mention | undefined {
  const own = serverOf(name)
  for (const { at, text, isName } of textsIn(serverPart(definition))) {
    if (isName || at === '/name') continue
    for (const { word, isQuoted } of identifiersIn(text)) {
      const servers = owners.get(word)
      // A plain word such as "search" counts only in quotes.
      if (!servers || servers.has(own) || !(isQuoted || isIdentifier(word))) continue
      return { at, tool: word, server: [...servers][0] ?? '' }
    }
  }
  return undefined
}

function isIdentifier(word: string): boolean {
  return /[_\-./0-9]/.test(word) || /[a-z][A-Z]/.test(word)
}

const QUOTES = '`\'"‘’“”<>'

/** The character sequences that can be tool names, and whether they are quoted. */
function* identifiersIn(text: string): Generator<{ readonly word: string; readonly isQuoted: boolean }> {
  let start = -1
  for (let at = 0; at <= text.length; at++) {
    const letter = text.charAt(at)
    if (letter !== '' && isPart(letter)) {
      if (start === -1) start = at
    } else if (start !== -1) {
      const isQuoted = QUOTES.includes(text.charAt(start - 1) || ' ') && QUOTES.includes(letter || ' ')
      // Punctuation at the end of a sentence is not part of a name.
      const word = text.slice(start, Math.min(at, start + MAX_NAME_LENGTH)).replace(/[./-]{1,3}$/, '')
      yield { word, isQuoted }
      start = -1
    }
  }
}

function isPart(letter: string): boolean {
  const code = letter.charCodeAt(0)
  if ((code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57)) return true
  return letter === '_' || letter === '-' || letter === '.' || letter === '/'
}
