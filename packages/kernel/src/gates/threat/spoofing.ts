// Finds text that imitates the conversation: chat markers, role tags, headings and messages.

import { isSpace } from './characters.ts'
import { isQuoted } from './context.ts'
import { at, codeAt, type View } from './view.ts'
import { HIGH, LOW, MEDIUM, NONE, type Grade } from './report.ts'
import { unitBefore, matches, note, noteInContext, pastBlanks, type ScanState } from './scan-state.ts'
import type { Probe } from './secrets.ts'

const MAX_NAME = 32

function nameFrom(view: View, start: number): string {
  let name = ''
  for (let i = start; i < start + MAX_NAME; i++) {
    const code = codeAt(view, i)
    const isName = (code | 32) >= 97 && (code | 32) <= 122
    if (
      !isName &&
      code !== 0x5f &&
      code !== 0x2d &&
      code !== 0x20 &&
      !(code >= 48 && code < 58) &&
      code !== 0x2581
    )
      break
    name += code === 0x2581 ? '_' : String.fromCharCode(code < 91 && code > 64 ? code | 32 : code)
  }
  return name
}

// Markers of chat templates.
const CHAT_MARKS = new Set(
  (
    'im_start im_end im_sep system user assistant tool developer endoftext eot_id eom_id start_header_id end_header_id ' +
    'begin_of_text end_of_text start_of_role end_of_role start python_tag end_of_turn ' +
    'start_of_turn end_of_sentence begin_of_sentence tool_calls_begin tool_outputs_begin'
  ).split(' '),
)

// Tags that enclose tool results or instructions to the model.
const FRAMES: ReadonlyMap<string, Grade> = new Map([
  ...'tool_result tool_results tool_response tool_output tool_outputs function_result function_results function_response function_calls system_prompt system-prompt system-reminder system_message system_instruction system_instructions untrusted_data untrusted_content tool_use_result'
    .split(' ')
    .map((name) => [name, HIGH] as const),
  ...'system assistant human user_query user_message developer_message tool_call tool_use'
    .split(' ')
    .map((name) => [name, MEDIUM] as const),
])

/** Checks `<|im_start|>`, `<<SYS>>`, `</tool_result>` and `<system>`. Returns the position after the checked part. */
export function opening(state: ScanState, place: number, word: number): number {
  const { view } = state
  const next = codeAt(view, place + 1)
  if (next === 0x7c) return chatMark(state, place, word)
  if (next === 0x3c) {
    const end = matches(view, place, '<<sys>>') ? place + 7 : matches(view, place, '<</sys>>') ? place + 8 : 0
    if (end > 0) noteInContext(state, 'CHAT_DELIMITER', HIGH, { start: place, end, word })
    return Math.max(end, place + 1)
  }
  const start = next === 0x2f ? place + 2 : place + 1
  if ((codeAt(view, start) | 32) < 97 || (codeAt(view, start) | 32) > 122) return place + 1
  const name = nameFrom(view, start).trimEnd()
  const end = start + name.length
  const frame = codeAt(view, end) === 0x3e ? (FRAMES.get(name) ?? NONE) : NONE
  const grade = frame > LOW && isMarkup(view, place) ? LOW : frame
  noteInContext(state, 'ROLE_TAG', grade, { start: place, end: end + 1, word })
  return place + 1
}

/** In Perl documentation, a capital letter before the bracket formats a word. */
function isMarkup(view: View, place: number): boolean {
  const code = place > 0 ? codeAt(view, place - 1) : 0
  const before = place > 1 ? codeAt(view, place - 2) : 32
  return code >= 65 && code <= 90 && ((before | 32) < 97 || (before | 32) > 122)
}

function chatMark(state: ScanState, place: number, word: number): number {
  const { view } = state
  const name = nameFrom(view, place + 2)
  const end = place + 2 + name.length
  if (!matches(view, end, '|>') || !CHAT_MARKS.has(name.trim())) return place + 1
  // A marker alone in quotes is a value in a program, such as a tokenizer.
  const open = place > 0 ? codeAt(view, place - 1) : 0
  const alone = (open === 0x22 || open === 0x27 || open === 0x60) && codeAt(view, end + 2) === open
  // The word "start" is only a marker if a role follows.
  if (name === 'start' && !isRole(nameFrom(view, end + 2))) return end + 2
  noteInContext(state, 'CHAT_DELIMITER', alone ? LOW : HIGH, { start: place, end: end + 2, word })
  return end + 2
}

function isRole(name: string): boolean {
  return name === 'system' || name === 'developer' || name === 'assistant' || name === 'user'
}

const BRACKETS: readonly (readonly [string, Grade])[] = [
  ['[inst]', HIGH],
  ['[/inst]', HIGH],
  ['[system](#', HIGH],
  ['[system_prompt]', HIGH],
  ['[system message]', MEDIUM],
  ['[system]', LOW],
]

/** Checks `[INST]` and similar markers. */
export function bracket(state: ScanState, place: number, word: number): number {
  const { view } = state
  const found = BRACKETS.find(([text]) => matches(view, place, text))
  if (!found) return place + 1
  const [text, grade] = found
  const code = grade === HIGH ? 'CHAT_DELIMITER' : 'ROLE_LABEL'
  noteInContext(state, code, grade, { start: place, end: place + text.length, word })
  return place + text.length
}

const HEADINGS = [
  'system',
  'instruction',
  'instructions',
  'human',
  'assistant',
  'user',
  'response',
  'system prompt',
]

/** Checks `### System:` at the start of a line. Without the colon it is an ordinary heading. */
export function heading(state: ScanState, place: number, word: number): number {
  const { view } = state
  if (!isLineStart(view, place) || !matches(view, place, '##')) return place + 1
  let start = place
  while (codeAt(view, start) === 0x23 && start < place + 6) start++
  start = pastBlanks(view, start)
  const name = nameFrom(view, start).trimEnd()
  if (!HEADINGS.includes(name) || codeAt(view, start + name.length) !== 0x3a) return start
  noteInContext(state, 'ROLE_HEADER', MEDIUM, { start: place, end: start + name.length + 1, word })
  return start
}

function isLineStart(view: View, place: number): boolean {
  let i = place - 1
  while (i >= 0 && i > place - 8 && codeAt(view, i) === 32) i--
  return i < 0 || codeAt(view, i) === 10 || codeAt(view, i) === 13
}

/** Checks `SYSTEM:` at the start of a line. In lower case it is usual in transcripts and forms. */
const label: Probe = (state, word) => {
  const { view, reading } = state
  const start = at(reading.starts, word)
  const end = at(reading.ends, word)
  if (codeAt(view, end) !== 0x3a || codeAt(view, end + 1) === 0x2f || !isLineStart(view, start)) return
  const after = codeAt(view, end + 1)
  if (after !== 0 && !isSpace(after)) return
  let capitals = true
  for (let i = start; i < end; i++) if (codeAt(view, i) > 90) capitals = false
  const loud = capitals && matches(view, start, 'system')
  noteInContext(state, 'ROLE_LABEL', loud ? MEDIUM : LOW, { start, end: end + 1, word })
}

const CONTENT_REACH = 40

/** Checks `{"role": "system", "content": …}`. Programs embed such messages in other data; a forged one is not embedded. */
const message: Probe = (state, word) => {
  const { view, reading } = state
  const start = at(reading.starts, word) - 1
  const end = at(reading.ends, word)
  if (start < 0 || codeAt(view, start) !== 0x22 || codeAt(view, end) !== 0x22) return
  const colon = pastBlanks(view, end + 1, 2)
  if (codeAt(view, colon) !== 0x3a) return
  const value = pastBlanks(view, colon + 1, 2)
  if (!matches(view, value, '"system"') && !matches(view, value, '"developer"')) return
  const content = hasContent(view, value + 8)
  if (content === 0) return
  const brace = unitBefore(view, start) === 0x7b ? lastBrace(view, start) : start
  const forged = brace === 0 || codeAt(view, brace - 1) === 10
  const grade = forged && !isQuoted(view, start, content) ? MEDIUM : LOW
  note(state, 'ROLE_MESSAGE', grade, brace, content)
}

function lastBrace(view: View, start: number): number {
  let place = start - 1
  while (place > 0 && codeAt(view, place) !== 0x7b) place--
  return place
}

function hasContent(view: View, start: number): number {
  for (let i = start; i < start + CONTENT_REACH; i++) if (matches(view, i, '"content"')) return i + 9
  return 0
}

/** The words that begin forged messages, with their checks. */
export const SPOOFING_PROBES: readonly (readonly [string, Probe])[] = [
  ...['system', 'assistant', 'human', 'developer'].map((word) => [word, label] as const),
  ['role', message],
]
