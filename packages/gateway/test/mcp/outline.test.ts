import { MAX_VALUES } from '@tollgate/evidence'
import { expect, it } from 'vitest'
import { outlineOf } from '../../src/mcp/server/outline.ts'

const answer = (result: string): Uint8Array =>
  Buffer.from(`{"id":7,"id":7,"jsonrpc":"2.0","result":${result}}`)

it('finds the id of an unreadable answer', () => {
  expect(outlineOf(answer('{}'))).toEqual({ id: 7, isAnswer: true, isResult: true })
  expect(outlineOf(Buffer.from('{"id":7'))).toEqual({ id: undefined, isAnswer: false, isResult: false })
})

it('skips a message with too many values, because parsing it again would be too slow', () => {
  for (const dense of ['[],', '{},', '1,']) {
    expect(outlineOf(answer(`[${dense.repeat(MAX_VALUES)}1]`)).id).toBeUndefined()
    expect(outlineOf(answer(`[${dense.repeat(1000)}1]`)).id).toBe(7)
  }
})
