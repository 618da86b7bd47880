// Lines in a stream of bytes: one message each, as `stdio` has it. What has no end is no line.

/** Takes bytes as they come, and gives lines. */
interface LineSplitter {
  push(chunk: Uint8Array): void
  /** Bytes of a line that has not ended. If the stream has, they are nothing: half a message is never one. */
  readonly pending: number
  /** Takes nothing more. */
  stop(): void
}

/** What is done with lines. */
interface LineSink {
  /** A line, without its end. */
  onLine(line: Uint8Array): void
  /** A line is longer than it may be. Nothing more is taken. */
  onOverflow(): void
}

const NEWLINE = 0x0a

/** Cuts a stream into lines of at most `limit` bytes. */
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

  // What is done with a line may end the reading of lines.
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

/** Where lines are written. */
interface LineTarget {
  write(text: string | Uint8Array): boolean
  cork(): void
  uncork(): void
}

/** Writes lines. What is written in one turn of the loop leaves together: to hand over each alone costs more than to make it. */
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
