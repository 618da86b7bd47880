// Splits a byte stream into lines, one message each, as `stdio` requires. A line without an end is dropped.

export interface LineSplitter {
  push(chunk: Uint8Array): void
  /** Bytes of a line that has not ended. At the end of the stream they are dropped: half a message is never a message. */
  readonly pending: number
  /** Takes no more bytes. */
  stop(): void
}

interface LineSink {
  /** A line, without its newline. */
  onLine(line: Uint8Array): void
  /** A line exceeds the limit. No more bytes are taken. */
  onOverflow(): void
}

const NEWLINE = 0x0a

/** Splits a stream into lines of at most `limit` bytes. */
export function createLineReader(limit: number, sink: LineSink): LineSplitter {
  let pieces: Uint8Array[] = []
  let pending = 0
  let stopped = false

  function keep(piece: Uint8Array): void {
    pending += piece.length
    if (pending <= limit) {
      if (piece.length > 0) pieces.push(piece)
      return
    }
    stopped = true
    pieces = []
    sink.onOverflow()
  }

  function end(): void {
    const line = pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces)
    pieces = []
    pending = 0
    sink.onLine(line)
  }

  function push(chunk: Uint8Array): void {
    let from = 0
    while (!stopped) {
      const at = chunk.indexOf(NEWLINE, from)
      keep(chunk.subarray(from, at < 0 ? chunk.length : at))
      if (at < 0 || isStopped()) return
      end()
      from = at + 1
    }
  }

  // `onLine` may call `stop`.
  const isStopped = (): boolean => stopped

  return {
    push,
    get pending() {
      return pending
    },
    stop() {
      stopped = true
      pieces = []
    },
  }
}

interface LineTarget {
  write(text: string | Uint8Array): boolean
  cork(): void
  uncork(): void
}

/** Writes lines. Lines of one turn of the event loop are written together, which is cheaper than one write per line. */
export function lineWriter(target: LineTarget): (line: string | Uint8Array) => boolean {
  let corked = false
  return (line) => {
    if (!corked) {
      corked = true
      target.cork()
      process.nextTick(() => {
        corked = false
        target.uncork()
      })
    }
    if (typeof line === 'string') return target.write(`${line}\n`)
    target.write(line)
    return target.write('\n')
  }
}
