// Parses server-sent events (WHATWG HTML, 9.2) from pieces of text of any size.

import { invalidAnswer } from './answer.ts'

/** A server-sent event. */
export interface ServerEvent {
  /** The last id in the stream, of this event or an earlier one. */
  readonly id: string
  readonly event: string
  readonly data: string
}

// Longer than any receipt. Bounds the memory for a line or an event.
const MAX_EVENT_LENGTH = 1 << 20

/** Splits a stream into events. */
export class EventParser {
  #rest = ''
  #afterReturn = false
  #id = ''
  #event = ''
  #data: string[] = []
  #length = 0

  /**
   * Takes the next piece and returns the events that it completes.
   *
   * @throws TollgateError `answer-invalid` if a line or an event is too long.
   */
  push(piece: string): readonly ServerEvent[] {
    const lines = this.#lines(piece)
    return lines.flatMap((line) => this.#line(line))
  }

  /** The complete lines. They end with a line feed, a carriage return, or both. */
  #lines(piece: string): readonly string[] {
    // The line feed after a carriage return can come with the next piece.
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
    if (length > MAX_EVENT_LENGTH)
      throw invalidAnswer(200, `an event is longer than ${MAX_EVENT_LENGTH} characters`)
  }
}
