// Draws the approvals view: the list above, the selected request with its exact arguments below.

import { cut, wrapped, type ScreenSize } from '../program/screen.ts'
import { shown } from '../program/table.ts'
import type { Colors } from '../program/terminal.ts'
import { ANY_APPROVER, askText, pageLines, type WaitingApproval } from './approvals.ts'
import type { ViewState } from './approvals-state.ts'

/** The lines of the screen, and whether the end of the details is among them. */
interface DrawnView {
  readonly lines: readonly string[]
  readonly isAllSeen: boolean
}

const KEYS = '↑↓ select   a approve once   w always allow   d deny   space more   q quit'
// Title, two rules, keys and notice.
const FRAME = 5
const LABEL = 11

/** Draws the view at this size and time. */
export function drawView(state: ViewState, size: ScreenSize, now: number, paint: Colors): DrawnView {
  const { columns, rows } = size
  const rule = paint.dim('─'.repeat(columns))
  const listRoom = Math.max(1, Math.min(state.requests.length, Math.floor((rows - FRAME) / 3)))
  const room = Math.max(1, rows - FRAME - listRoom)
  const request = state.requests[state.selected]
  const all = request ? detailsOf(request, columns, now) : ['', 'No request waits. New ones appear here.']
  const scroll = Math.max(0, Math.min(state.scroll, all.length - room))
  const isAllSeen = scroll + room >= all.length
  const details = all.slice(scroll, scroll + room)
  const more = isAllSeen ? '' : `  ${all.length - scroll - room} more lines: press space`
  return {
    isAllSeen,
    lines: [
      paint.bold(cut(`Tollgate approvals: ${state.requests.length} waiting`, columns)),
      ...listLines(state, listRoom, columns, now, paint),
      rule,
      ...details,
      ...Array.from({ length: room - details.length }, () => ''),
      isAllSeen ? rule : paint.yellow(cut(more, columns)),
      bottomLine(state, columns, paint),
      paint.dim(cut(KEYS, columns)),
    ].slice(0, rows),
  }
}

function listLines(
  { requests, selected }: ViewState,
  room: number,
  columns: number,
  now: number,
  paint: Colors,
): readonly string[] {
  const first = Math.max(0, Math.min(selected - Math.floor(room / 2), requests.length - room))
  const visible = requests.slice(first, first + room)
  const width = Math.max(...visible.map(({ tool }) => shown(tool).length))
  const lines = visible.map((each, i) => {
    const about = `${each.id.slice(0, 8)}  ${left(each.until, now).padStart(8)}  ${shown(each.tool).padEnd(width)}  ${shown(each.principal)}`
    const isSelected = first + i === selected
    const line = cut(`${isSelected ? '>' : ' '} ${about}`, columns)
    return isSelected ? paint.inverse(line) : line
  })
  return lines.length === 0 ? [''] : lines
}

function bottomLine({ typing, notice }: ViewState, columns: number, paint: Colors): string {
  if (!typing) return paint.yellow(cut(shown(notice), columns))
  const what = typing.word === 'deny' ? 'deny' : 'approve'
  const prompt = `reason (Enter: ${what}, Esc: cancel): `
  // The end of a long reason stays visible.
  const tail = Array.from(shown(typing.text))
    .slice(-Math.max(1, Math.floor((columns - prompt.length) / 2)))
    .join('')
  return `${prompt}${tail}▏`
}

function detailsOf(request: WaitingApproval, columns: number, now: number): readonly string[] {
  const { tool, effect_class, principal, session, reason_code, rule, asks, approvers } = request
  const row = (name: string, value: string): readonly string[] =>
    wrapped(value, Math.max(1, columns - LABEL)).map((line, i) => (i === 0 ? name : '').padEnd(LABEL) + line)
  return [
    ...row('tool', `${shown(tool)}${effect_class === undefined ? '' : ` (${effect_class})`}`),
    ...row('principal', `${shown(principal)}, session ${shown(session)}`),
    ...row('reason', `${reason_code}${rule === null ? '' : `, rule ${shown(rule)}`}`),
    ...asks.flatMap((each, i) => row(i === 0 ? 'overrides' : '', askText(each))),
    ...pageLines(request).flatMap((line) => row('', line)),
    ...row('approvers', approvers.map(shown).join(', ') || ANY_APPROVER),
    ...row('request', `${request.id.slice(0, 16)}, ${left(request.until, now)} left`),
    'arguments',
    ...argumentLines(request, columns),
  ]
}

/** The exact arguments. Nothing is cut, and control characters are visible. */
function argumentLines({ arguments: args }: WaitingApproval, columns: number): readonly string[] {
  if (args === undefined) return ['  (lost or erased; the request can only be denied)']
  const width = Math.max(1, columns - 2)
  return JSON.stringify(args, null, 2)
    .split('\n')
    .flatMap((line) => wrapped(shown(line), width).map((each) => `  ${each}`))
}

/** The time left, which counts down. */
function left(until: string, now: number): string {
  const seconds = Math.max(0, Math.ceil((Date.parse(until) - now) / 1000))
  if (seconds === 0) return 'ended'
  if (seconds >= 7200) return `${Math.floor(seconds / 3600)} h`
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
