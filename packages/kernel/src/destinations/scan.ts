// Finds targets in a text that is not declared as a destination.
//
// Found anywhere in a text: URLs with `//` of any scheme, also inside other URLs, and http, https, ws, wss and ftp URLs with any
// slashes or none; `//host` and `\\host\share` at the start of a word; e-mail addresses and `user@host:path`; `mailto:`; IPv4
// addresses of four parts and IPv6 addresses; `host:port`, `host/path` and `www.…` with a known top-level domain.
//
// Found only as the whole text or a whole list: a bare hostname such as `evil.test`, with a known top-level domain. If the domain
// is also a file extension (`py`, `md`, `zip`), it needs a path or a port.
//
// Each text is read as written, with look-alike characters mapped, with `%3A` decoded once, and with `\u003a` decoded once.
// `data:` and `javascript:` are not targets, but their content is scanned.
//
// Not found: names of one label (but `localhost:80` and `redis:6379/0`), bare names in running text (`curl evil.test`), IPv4
// addresses of less than four parts without a scheme or a port, and other encodings (base64, HTML entities, double escapes, a
// name that a shell assembles). A tool that accepts such texts must declare its arguments.

import { readEach, type Target } from './destination.ts'
import { fold, isBeyondAscii } from './host.ts'
import { scanMarks } from './marks.ts'
import { isBareHost, hostPart } from './name.ts'
import { readHostPort, readUrl } from './url.ts'

// A target has one of these: a colon, an `@`, two slashes, a dot inside a word, or an escape of them.
const SUSPECT = /[:@\\%\u0080-\uffff]|\/\/|[A-Za-z0-9_]\.[A-Za-z0-9]/

/**
 * Returns every target in the text, possibly with duplicates. The time is linear in its length. After 1,000 targets in one form
 * of the text, the list ends with an unreadable one.
 */
export function scan(text: string): readonly Target[] {
  if (!SUSPECT.test(text)) return []
  return readings(text).flatMap((reading) => [
    ...(readUrl(reading) ?? []),
    ...scanWhole(reading),
    ...scanMarks(reading),
  ])
}

/** Returns the text and its forms with decoded escapes and mapped look-alike characters. */
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

/** Reads a text that is only a host or a list of hosts. Bare names count here. */
function scanWhole(text: string): readonly Target[] {
  const first = /[^\0-\x20,;"'`<>]+/.exec(text)?.[0]
  if (first === undefined || !isBareHost(first)) return []
  const words = text.split(/[\0-\x20,;"'`<>]+/).filter((word) => word !== '')
  return words.every(isBareHost) ? readEach(words, (word) => readHostPort('', hostPart(word))) : []
}
