// Reads server-sent events from a byte stream, within limits, and formats them.

/** One event: its type (`message` by default) and its data. Several data lines are joined with line feeds. */
export interface SseEvent {
  readonly type: string
  readonly data: Uint8Array
}

interface SseReader {
  push(chunk: Uint8Array): void
  /** Ignores all further bytes. */
  stop(): void
}

interface SseSink {
  /** Called for each complete event. An event that the stream cuts short is dropped. */
  onEvent(event: SseEvent): void
  /** Called when a line or an event exceeds its limit. Reading stops. */
  onOverflow(): void
}

const LF = 0x0a
const CR = 0x0d
const COLON = 0x3a
const SPACE = 0x20
const NEWLINE = Uint8Array.of(LF)

/** Reads a stream of events. `limit` is the maximum size of an event in bytes. */
export function createSseReader(limit: number, sink: SseSink): SseReader {
  const lines = createLines(limit, { onLine, onOverflow })
  let type = ''
  let data: Uint8Array[] = []
  let size = 0
  let count = 0
  let first = true

  function onOverflow(): void {
    data = []
    sink.onOverflow()
  }

  function onLine(whole: Uint8Array): void {
    const line = first ? withoutMark(whole) : whole
    first = false
    if (line.length === 0) dispatch()
    else if (line[0] !== COLON) takeField(line)
  }

  function takeField(line: Uint8Array): void {
    // The most common field.
    if (isData(line)) {
      takeData(line.subarray(line[5] === SPACE ? 6 : 5))
      return
    }
    const colon = line.indexOf(COLON)
    const name = textOf(colon < 0 ? line : line.subarray(0, colon))
    const rest = colon < 0 ? EMPTY : line.subarray(colon + 1)
    const value = rest[0] === SPACE ? rest.subarray(1) : rest
    if (name === 'event') type = textOf(value)
    if (name === 'data') takeData(value)
  }

  function takeData(value: Uint8Array): void {
    size += value.length + 1
    // Each line costs more memory than its bytes, so lines are limited too.
    if (size - 1 > limit || ++count > MAX_LINES) {
      lines.stop()
      onOverflow()
      return
    }
    if (count > 1) data.push(NEWLINE)
    data.push(value)
  }

  function dispatch(): void {
    const [only = EMPTY] = data
    const joined = count > 1 ? Buffer.concat(data) : only
    const event = { type: type === '' ? 'message' : type, data: joined }
    type = ''
    data = []
    size = 0
    count = 0
    if (joined.length > 0) sink.onEvent(event)
  }

  return lines
}

interface SseLines {
  push(chunk: Uint8Array): void
  stop(): void
}

/** Splits a stream into lines that end with LF, CR or CRLF. A CRLF may span two chunks. */
function createLines(limit: number, sink: { onLine(line: Uint8Array): void; onOverflow(): void }): SseLines {
  let pieces: Uint8Array[] = []
  let pending = 0
  let afterCr = false
  let stopped = false
  const isStopped = (): boolean => stopped

  function keep(piece: Uint8Array): void {
    pending += piece.length
    if (piece.length > 0) pieces.push(piece)
    // The field name comes on top of the value.
    if (pending <= limit + 64) return
    stopped = true
    pieces = []
    sink.onOverflow()
  }

  function push(chunk: Uint8Array): void {
    if (chunk.length === 0) return
    const ends = createEnds(chunk)
    let from = afterCr && chunk[0] === LF ? 1 : 0
    afterCr = false
    while (!isStopped()) {
      const at = ends.after(from)
      keep(chunk.subarray(from, at))
      if (at === chunk.length || isStopped()) return
      const [only = EMPTY] = pieces
      const line = pieces.length > 1 ? Buffer.concat(pieces) : only
      pieces = []
      pending = 0
      from = at + 1
      if (chunk[at] === CR && from === chunk.length) afterCr = true
      if (chunk[at] === CR && chunk[from] === LF) from++
      sink.onLine(line)
    }
  }

  return {
    push,
    stop() {
      stopped = true
      pieces = []
    },
  }
}

/** Finds line ends in a chunk. Searches for each kind of end only once, so that the cost stays linear. */
function createEnds(chunk: Uint8Array): { after(from: number): number } {
  const next = { [LF]: -1, [CR]: -1 }
  const find = (end: typeof LF | typeof CR, from: number): number => {
    if (next[end] >= from) return next[end]
    const at = chunk.indexOf(end, from)
    return (next[end] = at < 0 ? chunk.length : at)
  }
  return { after: (from) => Math.min(find(LF, from), find(CR, from)) }
}

const EMPTY = new Uint8Array()
const MAX_LINES = 65_536
const [D, A, T] = [0x64, 0x61, 0x74]

function isData(line: Uint8Array): boolean {
  return line[0] === D && line[1] === A && line[2] === T && line[3] === A && line[4] === COLON
}

function withoutMark(line: Uint8Array): Uint8Array {
  const marked = line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf
  return marked ? line.subarray(3) : line
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}

/** The text of an event. Line breaks in the data are kept. */
export function formatSse(data: string, options: { type?: string; id?: string } = {}): string {
  const { type, id } = options
  const head = `${field('event', type)}${field('id', id)}`
  if (!data.includes('\n') && !data.includes('\r')) return `${head}data: ${data}\n\n`
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`)
  return `${head}${lines.join('')}\n`
}

/** An empty comment that keeps a stream alive. */
export const SSE_COMMENT: string = ':\n\n'

function field(name: string, value: string | undefined): string {
  // A line break would start another field.
  return value === undefined ? '' : `${name}: ${value.replaceAll(/[\r\n\0]/g, '')}\n`
}
