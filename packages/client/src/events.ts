// Server-sent events (WHATWG HTML, 9.2): text in pieces of any size, events out.

import { strange } from './answer.ts'

/** An event as it came. */
export interface ServerEvent {
  /** The last id that was sent, with this event or before it. */
  readonly id: string
  readonly event: string
  readonly data: string
}

// Longer than any receipt. A line or an event beyond this is not kept until memory ends.
const MAX_LENGTH = 1 << 20

/** Takes a stream of events apart. */
export class EventParser {
  #rest = ''
  #afterReturn = false
  #id = ''
  #event = ''
  #data: string[] = []
  #length = 0

  /**
   * Takes the next piece, and gives the events that it completes.
   *
   * @throws TollgateError `answer-invalid` if a line or an event is too long.
   */
  push(piece: string): readonly ServerEvent[] {
    const lines = this.#lines(piece)
    return lines.flatMap((line) => this.#line(line))
  }

  /** The lines that are complete now. They end with a line feed, a carriage return, or both. */
  #lines(piece: string): readonly string[] {
    // The second half of a line's end may come with the next piece.
    const text = this.#afterReturn && piece.startsWith('\n') ? piece.slice(1) : piece
    if (piece !== '') this.#afterReturn = piece.endsWith('\r')
    const lines = (this.#rest + text).split(/\r\n|\n|\r/)
    this.#rest = lines.pop() ?? ''
    this.#bound(this.#rest.length)
    return lines
  }

  #line(line: string): readonly ServerEvent[] {
    if (line === '') return this.#dispatch()
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'id' && !value.includes('\0')) this.#id = value
    else if (name === 'event') this.#event = value
    else if (name === 'data') {
      this.#length += value.length
      this.#bound(this.#length)
      this.#data.push(value)
    }
    return []
  }

  #dispatch(): readonly ServerEvent[] {
    const data = this.#data
    const event = this.#event === '' ? 'message' : this.#event
    this.#data = []
    this.#event = ''
    this.#length = 0
    return data.length === 0 ? [] : [{ id: this.#id, event, data: data.join('\n') }]
  }

  #bound(length: number): void {
    if (length > MAX_LENGTH) throw strange(200, `an event is longer than ${MAX_LENGTH} characters`)
  }
}
