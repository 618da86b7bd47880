// Reads a declared destination: an address, a URL, a host, or a list of them.

import { readEach, unreadable, type Target } from './destination.ts'
import { readHost } from './host.ts'
import { hostPart, isBareHost, lookOf } from './name.ts'
import { readHostPort, readUrl } from './url.ts'

/** An item of a list: `Name <address>`, or words that are addresses. */
interface Item {
  readonly words: string[]
  /** The texts in angle brackets. */
  readonly angles: string[]
  /** Whether a word begins a line and ends with a colon, like an injected header. */
  hasHeader: boolean
}

/**
 * Returns every target of a text that has only targets. Accepts a URL, and lists of e-mail addresses, hosts and URLs, separated
 * by commas, semicolons or white space, with display names, groups and comments as in RFC 5322. Returns an unreadable target for
 * anything else, and none for a blank text.
 */
export function readRecipients(text: string): readonly Target[] {
  if (text.trim() === '') return []
  const mailto = /^[\0-\x20]*mailto:/i.exec(text)
  if (mailto !== null) return orUnreadable(readMailto(text.slice(mailto[0].length)))
  const url = readUrl(text)
  // No target: a list that begins with a URL, or a local URL.
  if (url === undefined || url.length === 0) return orUnreadable(readList(text, readWord))
  // A comma can be part of the path or begin the next entry of a list.
  const others = text
    .split(/[\s,;]+/)
    .slice(1)
    .filter(isBareHost)
  return [...url, ...readEach(others, (word) => readHostPort('', hostPart(word)))]
}

/** Returns the recipients of a `mailto:` URL (RFC 6068) without its scheme: `to`, `cc` and `bcc`, percent-decoded. */
export function readMailto(text: string): readonly Target[] {
  const query = (text + '?').indexOf('?')
  const fields = text.slice(query + 1).split(/[&;]/)
  const copies = fields.filter((field) => /^(?:to|b?cc)=/i.test(percentDecoded(field) ?? ''))
  const lists = [
    text.slice(0, query),
    ...copies.map((field) => field.slice(field.search(/=|%3d/i)).replace(/^=|^%3d/i, '')),
  ]
  return readEach(lists, (list) => {
    const plain = percentDecoded(list)
    return plain === undefined ? [unreadable('mailto')] : readList(plain, readMailbox)
  })
}

function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function orUnreadable(targets: readonly Target[]): readonly Target[] {
  return targets.length > 0 ? targets : [unreadable('')]
}

function readList(text: string, read: (word: string) => readonly Target[]): readonly Target[] {
  const items = itemsOf(text)
  if (items === undefined) return [unreadable('')]
  return readEach(items, (item) => [
    ...readEach(addressesIn(item), read),
    ...(item.hasHeader ? [unreadable('')] : []),
  ])
}

/** Returns the addresses of an item, without display names and group names. */
function addressesIn({ words, angles }: Item): readonly string[] {
  // Some parsers read a display name with an `@` as an address.
  if (angles.length > 0) return [...angles, ...words.filter((word) => word.includes('@'))]
  const label = words.findLastIndex((word) => word.endsWith(':') && !word.includes('@'))
  return words.filter((word, index) => index > label || word.includes('@') || isBareHost(word))
}

/** Returns the items of a list, with quoted strings kept whole and comments dropped; undefined if one of these is unclosed. */
function itemsOf(text: string): readonly Item[] | undefined {
  const items: Item[] = [newItem()]
  let [word, beginsLine] = ['', false]
  const endWord = (): void => {
    const item = items.at(-1)
    if (word === '' || item === undefined) return
    item.words.push(word)
    item.hasHeader ||= beginsLine && word.endsWith(':')
    ;[word, beginsLine] = ['', false]
  }
  for (let at = 0; at < text.length;) {
    const end = tokenEnd(text, at)
    if (end < 0) return undefined
    const token = text.slice(at, end)
    at = end
    if (token.startsWith('(')) continue
    if (!/^[\s,;<]/.test(token)) {
      word += token
      continue
    }
    endWord()
    if (/[\r\n]/.test(token)) beginsLine = true
    if (token.startsWith('<')) items.at(-1)?.angles.push(token.slice(1, -1))
    if (token === ',' || token === ';') items.push(newItem())
  }
  endWord()
  return items
}

function newItem(): Item {
  return { words: [], angles: [], hasHeader: false }
}

const PLAIN = /[^\0-\x20"(),;<>\x7f]+|\s+/y

/** Returns the end of the quoted string, comment, angle-bracketed address, separator or other run at a position; or -1. */
function tokenEnd(text: string, at: number): number {
  switch (text.charAt(at)) {
    case '"':
      return quoteEnd(text, at)
    case '(':
      return commentEnd(text, at)
    case '<':
      return text.indexOf('>', at) + 1 || -1
    case ',':
    case ';':
      return at + 1
    default: {
      PLAIN.lastIndex = at
      return PLAIN.test(text) ? PLAIN.lastIndex : -1
    }
  }
}

function quoteEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text.charAt(at) === '"') return at + 1
    if (text.charAt(at) === '\\') at++
  }
  return -1
}

function commentEnd(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === '\\') at++
    if (character === '(') depth++
    if (character === ')' && --depth === 0) return at + 1
  }
  return -1
}

/** Reads an entry of a list: a URL, an address or a host. */
function readWord(word: string): readonly Target[] {
  if (/^mailto:/i.test(word)) return orUnreadable(readMailto(word.slice(7)))
  const url = readUrl(word)
  return url === undefined ? readMailbox(word) : orUnreadable(url)
}

/** Reads an e-mail address, `user@host:path`, or a bare host. */
function readMailbox(word: string): readonly Target[] {
  const plain = /^"[^"\\]*"$/.test(word) ? word.slice(1, -1) : word
  const sign = plain.lastIndexOf('@')
  if (sign < 0) return readHostPort('', hostPart(plain))
  return [...readDomain(plain.slice(sign + 1)), ...otherHosts(plain.slice(0, sign))]
}

function readDomain(domain: string): readonly Target[] {
  const literal = /^\[(?:IPv6:)?([^\]]*)\]$/i.exec(domain)?.[1]
  const host = literal ?? domain.split(':', 1)[0] ?? ''
  const mail = readHost(host).map((name) => ({ scheme: 'mailto', host: name, port: 0 }))
  if (literal !== undefined || host.length === domain.length) return mail
  const isPort = /^:[0-9]+$/.test(domain.slice(host.length))
  return [...mail, ...(isPort ? readHostPort('', domain) : readHostPort('ssh', host))]
}

/** Returns hosts in the local part: a source route, a percent hack, a bang path, a second `@`. */
function otherHosts(local: string): readonly Target[] {
  if (!/[@%!]/.test(local)) return []
  const names = local.split(/[@%!:,"\\\s]+/).filter((piece) => lookOf(piece) !== 'none')
  return names.length > 0 ? names.flatMap((name) => readHostPort('mailto', name)) : [unreadable('mailto')]
}
