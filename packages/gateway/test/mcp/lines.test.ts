import { describe, expect, it } from 'vitest'
import { createLineReader } from '../../src/mcp/lines.ts'

function read(
  limit: number,
  ...chunks: readonly string[]
): { lines: string[]; overflows: number; pending: number } {
  const lines: string[] = []
  let overflows = 0
  const reader = createLineReader(limit, {
    onLine: (line) => void lines.push(Buffer.from(line).toString()),
    onOverflow: () => overflows++,
  })
  for (const chunk of chunks) reader.push(Buffer.from(chunk))
  return { lines, overflows, pending: reader.pending }
}

describe('lines', () => {
  it('are split at newlines, in any chunking', () => {
    const text = 'one\ntwo\r\n\nthrée\n'
    const whole = read(100, text).lines
    expect(whole).toEqual(['one', 'two\r', '', 'thrée'])
    for (let at = 1; at < text.length; at++) {
      expect(read(100, text.slice(0, at), text.slice(at)).lines).toEqual(whole)
    }
    expect(read(100, ...Array.from(text)).lines).toEqual(whole)
  })

  it('without a newline are dropped', () => {
    expect(read(100, 'one\ntw', 'o')).toEqual({ lines: ['one'], overflows: 0, pending: 3 })
  })

  it('may be as long as the limit, but not longer', () => {
    expect(read(4, 'four\nfo', 'ur\n').lines).toEqual(['four', 'four'])
    expect(read(4, 'four\nfiv', 'es\nnext\n')).toMatchObject({ lines: ['four'], overflows: 1 })
    expect(read(4, 'endless'.repeat(10), 'more', '\nnext\n')).toMatchObject({ lines: [], overflows: 1 })
  })

  it('stop when the reader stops', () => {
    const lines: string[] = []
    const reader = createLineReader(100, {
      onLine: (line) => {
        lines.push(Buffer.from(line).toString())
        reader.stop()
      },
      onOverflow: () => lines.push('overflow'),
    })
    reader.push(Buffer.from('one\ntwo\n'))
    reader.push(Buffer.from('three\n'))
    expect(lines).toEqual(['one'])
  })
})
