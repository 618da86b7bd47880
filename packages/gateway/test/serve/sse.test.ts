import { describe, expect, it } from 'vitest'
import { createSseReader, formatSse, SSE_COMMENT } from '../../src/sse.ts'

function read(
  limit: number,
  ...chunks: readonly (string | Uint8Array)[]
): { events: string[]; overflows: number } {
  const events: string[] = []
  let overflows = 0
  const reader = createSseReader(limit, {
    onEvent: ({ type, data }) => void events.push(`${type}:${Buffer.from(data).toString()}`),
    onOverflow: () => overflows++,
  })
  for (const chunk of chunks) reader.push(Buffer.from(chunk))
  return { events, overflows }
}

describe('server-sent events', () => {
  const text =
    ': hello\n\nid: 1\ndata: \n\nevent: odd\r\ndata:a\r\ndata: b\r\n\r\ndata\rdata:  c\r\rretry: 5\ndata: {"é":1}\n\ndata: cut'
  const events = ['odd:a\nb', 'message:\n c', 'message:{"é":1}']

  it('are read completely, with any line ending', () => {
    expect(read(1000, text)).toEqual({ events, overflows: 0 })
  })

  it('are the same for any split of the bytes', () => {
    const bytes = Buffer.from(text)
    for (let at = 1; at < bytes.length; at++) {
      expect(read(1000, bytes.subarray(0, at), bytes.subarray(at)).events).toEqual(events)
    }
    expect(read(1000, ...Array.from(bytes, (byte) => Uint8Array.of(byte))).events).toEqual(events)
  })

  it('that the stream cuts short are dropped', () => {
    expect(read(1000, 'data: whole\n\ndata: half\n').events).toEqual(['message:whole'])
    expect(read(1000, 'data: whole\n\ndata: half').events).toEqual(['message:whole'])
  })

  it('may begin with a byte-order mark', () => {
    expect(read(1000, '\ufeffdata: x\n\n').events).toEqual(['message:x'])
  })

  it('may be as large as the limit, and no larger', () => {
    expect(read(8, 'data: 12345678\n\n').events).toEqual(['message:12345678'])
    expect(read(8, 'data: 123456789\n\ndata: 1\n\n')).toEqual({ events: [], overflows: 1 })
    expect(read(8, 'data: 1234\ndata: 5678\n\ndata: 1\n\n')).toEqual({ events: [], overflows: 1 })
    expect(read(8, 'data\n'.repeat(10))).toEqual({ events: [], overflows: 1 })
    expect(read(8, `:${'x'.repeat(100)}`, 'more', '\n\ndata: 1\n\n')).toEqual({ events: [], overflows: 1 })
  })

  it('are read as they were written', () => {
    const written =
      formatSse('{"a":1}') + SSE_COMMENT + formatSse('a\nb\r\nc', { type: 'x\ndata: y', id: '7' })
    expect(read(1000, written).events).toEqual(['message:{"a":1}', 'xdata: y:a\nb\nc'])
  })
})
