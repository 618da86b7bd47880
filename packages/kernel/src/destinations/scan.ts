// Finds targets in a text that nobody has declared to hold one.
//
// Found everywhere in a text: URLs with `//` of any scheme, also inside of other URLs, and http, https, ws, wss and ftp
// URLs with any slashes or none; `//host` and `\\host\share` where a word begins; e-mail addresses and `user@host:path`;
// `mailto:`; IPv4 addresses of four parts and IPv6 addresses; `host:port`, `host/path` and `www.…` if the top-level
// label is one we know.
//
// Found only if it is all of the text (or all of a list): a bare host name such as `evil.test`, with a known top-level
// label. One that also ends file names (`py`, `md`, `zip`) counts with a path or a port only.
//
// Each text is read as it stands, with its look-alike characters mapped, with `%3A` decoded once, and with `\u003a`
// decoded once. `data:` and `javascript:` are no targets; what they hold is scanned as any text.
//
// Not found: names of one label (but `localhost:80` and `redis:6379/0`), bare names in running text (`curl evil.test`), IPv4 addresses
// of less than four parts without a scheme or a port, and whatever is encoded otherwise (base64, HTML entities,
// escapes twice over, a name put together by a shell). A tool that takes such must declare its arguments.

import { readEach, type Target } from './destination.ts'
import { fold, isBeyondAscii } from './host.ts'
import { scanMarks } from './marks.ts'
import { isBareHost, hostPart } from './name.ts'
import { readHostPort, readUrl } from './url.ts'

// What every target has: a scheme's colon, an `@`, two slashes, a dot inside of a word, or an escape of any of these.
const SUSPECT = /[:@\\%\u0080-\uffff]|\/\/|[A-Za-z0-9_]\.[A-Za-z0-9]/

/**
 * Every target in the text, some maybe more than once.
 *
 * Takes time linear in its length. More than 1,000 in one reading of it are not listed; an unreadable one follows.
 */
export function scan(text: string): readonly Target[] {
  if (!SUSPECT.test(text)) return []
  return readings(text).flatMap((reading) => [
    ...(readUrl(reading) ?? []),
    ...scanWhole(reading),
    ...scanMarks(reading),
  ])
}

/** The text, and what it says once its escapes are decoded and its look-alikes are mapped. */
function readings(text: string): readonly string[] {
  const texts = [text]
  if (/\\u[0-9a-fA-F]{4}/.test(text)) texts.push(text.replace(/\\u([0-9a-fA-F]{4})/g, fromHex))
  if (/%[0-7][0-9a-fA-F]/.test(text)) texts.push(text.replace(/%([0-7][0-9a-fA-F])/g, fromHex))
  if (!texts.some(isBeyondAscii)) return texts
  return texts.flatMap((reading) => {
    const folded = fold(reading)
    return folded === reading ? [reading] : [reading, folded]
  })
}

function fromHex(_: string, digits: string): string {
  return String.fromCharCode(Number.parseInt(digits, 16))
}

/** The text is nothing but a host, or a list of them: then even a bare name counts. */
function scanWhole(text: string): readonly Target[] {
  const first = /[^\0-\x20,;"'`<>]+/.exec(text)?.[0]
  if (first === undefined || !isBareHost(first)) return []
  const words = text.split(/[\0-\x20,;"'`<>]+/).filter((word) => word !== '')
  return words.every(isBareHost) ? readEach(words, (word) => readHostPort('', hostPart(word))) : []
}
