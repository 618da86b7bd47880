import { MAX_VALUES } from '@tollgate/evidence'
import { expect, it } from 'vitest'
import { outlineOf } from '../../src/mcp/server/outline.ts'

const answer = (result: string): Uint8Array =>
  Buffer.from(`{"id":7,"id":7,"jsonrpc":"2.0","result":${result}}`)

it('tells whose answer it is that cannot be read strictly', () => {
  expect(outlineOf(answer('{}'))).toEqual({ id: 7, isAnswer: true, isResult: true })
  expect(outlineOf(Buffer.from('{"id":7'))).toEqual({ id: undefined, isAnswer: false, isResult: false })
})

it('tells nothing of one with more values than a message may have: it is not read again to find out', () => {
  for (const dense of ['[],', '{},', '1,']) {
    expect(outlineOf(answer(`[${dense.repeat(MAX_VALUES)}1]`)).id).toBeUndefined()
    expect(outlineOf(answer(`[${dense.repeat(1000)}1]`)).id).toBe(7)
  }
})
