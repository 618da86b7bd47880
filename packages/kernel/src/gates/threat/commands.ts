// Finds commands and paths that are harmful if a program runs or opens them.

import { isAlphanumeric, isSpace } from './characters.ts'
import type { ThreatCode } from './finding.ts'
import { at, codeAt, startOf, type View } from './view.ts'
import { learn } from './lexicon.ts'
import { HIGH, LOW, MEDIUM, type Grade } from './report.ts'
import {
  unitBefore,
  matches,
  isOneLine,
  isOneWord,
  note,
  noteInContext,
  pastBlanks,
  type ScanState,
} from './scan-state.ts'
import type { Probe } from './secrets.ts'

function flag(
  state: ScanState,
  code: ThreatCode,
  grade: Grade,
  word: number,
  start: number,
  end: number,
): void {
  noteInContext(state, code, grade, { start, end, word })
}

/** Returns the grade for a one-line argument. In a script of many lines the same command is ordinary. */
function inArgument(state: ScanState, grade: Grade): Grade {
  return isOneLine(state.view) ? grade : LOW
}

function isChain(code: number): boolean {
  return code === 0x3b || code === 0x26 || code === 0x7c
}

/** Checks `; rm -rf /`. The grade depends on the target. */
const remove: Probe = (state, word) => {
  const { view, reading } = state
  const start = at(reading.starts, word)
  let end = pastBlanks(view, at(reading.ends, word))
  if (codeAt(view, end) !== 0x2d) return
  let recursive = false
  for (let left = 16; left > 0 && (codeAt(view, end) === 0x2d || isAlphanumeric(codeAt(view, end))); left--) {
    recursive ||= (codeAt(view, end) | 32) === 0x72
    end++
  }
  if (!recursive) return
  const target = pastBlanks(view, end)
  const chained = isChain(unitBefore(view, start))
  const grade = isEverything(view, target) ? (chained ? HIGH : MEDIUM) : LOW
  const absolute = chained && codeAt(view, target) === 0x2f
  if (chained || grade > LOW)
    flag(state, 'SHELL_CHAIN', absolute ? atLeast(grade) : grade, word, start, pathEnd(view, target))
}

function atLeast(grade: Grade): Grade {
  return grade === HIGH ? HIGH : MEDIUM
}

/** Returns whether the target is exactly `/`, `~`, `*` or everything below them. */
function isEverything(view: View, start: number): boolean {
  const first = codeAt(view, start)
  if (first !== 0x2f && first !== 0x7e && first !== 0x2a) return matches(view, start, '--no-preserve-root')
  let end = start + 1
  if (codeAt(view, end) === 0x2f || codeAt(view, end) === 0x2a) end++
  const next = codeAt(view, end)
  return (
    next === 0 ||
    isSpace(next) ||
    next === 0x3b ||
    next === 0x26 ||
    next === 0x22 ||
    next === 0x27 ||
    next === 0x60
  )
}

const MAX_PATH = 128

function pathEnd(view: View, start: number): number {
  let end = start
  while (end < start + MAX_PATH && isPathCode(codeAt(view, end))) end++
  return end
}

function isPathCode(code: number): boolean {
  return (
    isAlphanumeric(code) || code > 127 || (code > 32 && '/\\._-~*%$:=@+'.includes(String.fromCharCode(code)))
  )
}

const FETCHES = new Set('curl wget fetch iwr base64 xxd'.split(' ').map(learn))
const INTERACTIVE = ['bash', 'sh', 'zsh']

/** Checks `curl … | bash` and `bash -i >& /dev/tcp/…`. */
const shell: Probe = (state, word) => {
  const { view, reading } = state
  const start = at(reading.starts, word)
  const end = at(reading.ends, word)
  if (matches(view, pastBlanks(view, end), '-i >&') || matches(view, pastBlanks(view, end), '-i>&')) {
    return flag(state, 'REVERSE_SHELL', HIGH, word, start, lineEnd(view, end))
  }
  const piped = unitBefore(view, start) === 0x7c || matches(view, start - 7, '| sudo ')
  const inside =
    matches(view, pastBlanks(view, end), '<(curl') || matches(view, pastBlanks(view, end), '<(wget')
  if (!piped && !inside) return
  const fetched = inside ? start : fetchBefore(state, word)
  if (fetched >= 0)
    flag(state, 'PIPE_TO_SHELL', inArgument(state, MEDIUM), word, fetched, inside ? lineEnd(view, end) : end)
  else note(state, 'PIPE_TO_SHELL', LOW, start, end)
}

/** Returns the start of a download or decoding earlier in the line; -1 if there is none. */
function fetchBefore({ view, reading }: ScanState, word: number): number {
  for (let i = word - 1; i >= Math.max(0, word - 12); i--) {
    const start = at(reading.starts, i)
    if (at(reading.starts, word) - start > MAX_LINE) return -1
    if (!FETCHES.has(at(reading.ids, i))) continue
    for (let place = start; place < at(reading.starts, word); place++)
      if (codeAt(view, place) === 10) return -1
    return start
  }
  return -1
}

const MAX_LINE = 256

function lineEnd(view: View, start: number): number {
  let end = start
  while (end < Math.min(view.length, start + MAX_LINE) && codeAt(view, end) !== 10) end++
  while (end > start && isSpace(codeAt(view, end - 1))) end--
  return end
}

/** Checks `nc -e /bin/sh host port`. */
const netcat: Probe = (state, word) => {
  const { view, reading } = state
  const start = at(reading.starts, word)
  const end = lineEnd(view, at(reading.ends, word))
  for (let i = at(reading.ends, word); i < end; i++) {
    if (matches(view, i, ' -e /bin/') || matches(view, i, ' -c /bin/') || matches(view, i, ' -e sh')) {
      return flag(state, 'REVERSE_SHELL', HIGH, word, start, end)
    }
  }
}

/** Checks `/dev/tcp/host/port`. */
const device: Probe = (state, word) => {
  const start = at(state.reading.starts, word) - 1
  if (!matches(state.view, start, '/dev/tcp/') && !matches(state.view, start, '/dev/udp/')) return
  flag(state, 'REVERSE_SHELL', MEDIUM, word, start, pathEnd(state.view, start))
}

const READERS = new Set('cat less more head tail cp scp tac nano vim type open read'.split(' ').map(learn))

function file(lead: number, names: readonly string[]): Probe {
  return (state, word) => {
    const { view, reading } = state
    const start = at(reading.starts, word) - lead
    if (!names.some((name) => matches(view, start, name))) return
    const path = pathStart(view, start)
    const asked = word > 0 && READERS.has(at(reading.ids, word - 1)) && path - at(reading.ends, word - 1) <= 8
    const url = matches(view, path, 'file:/')
    const grade = asked || url || isOneWord(view) ? inArgument(state, MEDIUM) : LOW
    flag(state, 'SENSITIVE_FILE', grade, word, path, pathEnd(view, start))
  }
}

function pathStart(view: View, start: number): number {
  let first = start
  while (first > Math.max(0, start - MAX_PATH) && isPathCode(codeAt(view, first - 1))) first--
  return first
}

/** Checks the address of a cloud metadata service, which provides credentials. One form of it is a single number. */
function metadata(address: string): Probe {
  return (state, word) => {
    const { view, reading } = state
    const start = at(reading.starts, word)
    if (!matches(view, start, address) || isAlphanumeric(codeAt(view, start + address.length))) return
    const url = start >= 3 && matches(view, start - 3, '://')
    const grade = url || isOneWord(view) ? MEDIUM : LOW
    flag(state, 'CLOUD_METADATA', grade, word, url ? pathStart(view, start) : start, pathEnd(view, start))
  }
}

/** Checks `--upload-pack=…` and other options that name a program. */
function option(text: string): Probe {
  return (state, word) => {
    const start = at(state.reading.starts, word) - (text.startsWith('--') ? 2 : text.startsWith('-') ? 1 : 0)
    if (!matches(state.view, start, text)) return
    const value = start + text.length
    const end = Math.max(value, pathEnd(state.view, start))
    // A manual names the option without a program.
    flag(state, 'OPTION_INJECTION', end > value || text.endsWith(' ') ? MEDIUM : LOW, word, start, end)
  }
}

/** Checks `${jndi:ldap://…}`. */
const lookup: Probe = (state, word) => {
  const start = at(state.reading.starts, word) - 2
  if (!matches(state.view, start, '${jndi:')) return
  let end = start
  while (end < Math.min(state.view.length, start + MAX_LINE) && codeAt(state.view, end) !== 0x7d) end++
  flag(state, 'LOOKUP_INJECTION', HIGH, word, start, Math.min(state.view.length, end + 1))
}

/** The words that begin harmful commands and paths, with their checks. */
export const COMMAND_PROBES: readonly (readonly [string, Probe])[] = [
  ['rm', remove],
  ...INTERACTIVE.map((word) => [word, shell] as const),
  ...['nc', 'ncat', 'netcat'].map((word) => [word, netcat] as const),
  ['dev', device],
  ['etc', file(1, ['/etc/passwd', '/etc/shadow', '/etc/sudoers', '/etc/master.passwd'])],
  ['ssh', file(2, ['/.ssh/id_', '/.ssh/authorized_keys', '\\.ssh\\id_'])],
  ['aws', file(2, ['/.aws/credentials', '\\.aws\\credentials'])],
  ['proc', file(1, ['/proc/self/environ', '/proc/self/mem', '/proc/1/environ'])],
  ['system32', file(1, ['\\system32\\config\\sam', '/system32/config/sam'])],
  ['169', metadata('169.254.169.254')],
  ['2852039166', metadata('2852039166')],
  ['0xa9fea9fe', metadata('0xa9fea9fe')],
  ['metadata', metadata('metadata.google.internal')],
  ['upload', option('--upload-pack=')],
  ['receive', option('--receive-pack=')],
  ['oproxycommand', option('-oproxycommand=')],
  ['ext', option('ext::sh ')],
  ['jndi', lookup],
]

/** Returns whether a unit of a view is an escape in the original text. */
export function isEscaped(view: View, i: number): boolean {
  const code = view.text.charCodeAt(startOf(view, i))
  return (
    view.from !== undefined && (code === 0x25 || code === 0x26 || code === 0x5c) && codeAt(view, i) !== code
  )
}
