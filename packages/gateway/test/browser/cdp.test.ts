// The client of the DevTools protocol against a browser that answers late, wrongly, or not at all.

import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { connectCdp, type Cdp } from '../../src/browser/cdp.ts'

interface Rig {
  readonly cdp: Cdp
  /** What the browser has received. */
  readonly received: () => readonly {
    readonly id: number
    readonly method: string
    readonly sessionId?: string
  }[]
  /** Sends bytes as the browser. */
  readonly answer: (text: string) => void
  readonly from: PassThrough
}

function rig(): Rig {
  const [to, from] = [new PassThrough(), new PassThrough()]
  let text = ''
  to.on('data', (chunk: Buffer) => void (text += chunk.toString()))
  const received = (): ReturnType<Rig['received']> =>
    text
      .split('\0')
      .filter((part) => part !== '')
      // Sound: the client writes messages of this form.
      .map((part) => JSON.parse(part) as { id: number; method: string })
  return { cdp: connectCdp(to, from), received, answer: (part) => void from.write(part), from }
}

const outcome = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    (value) => JSON.stringify(value),
    (fault: unknown) => (fault instanceof Error ? fault.message : 'no error'),
  )

describe('a connection to a browser', () => {
  test('matches answers to commands in any order, and in pieces', async () => {
    const { cdp, answer } = rig()
    const both = Promise.all([cdp.send('A'), cdp.send('B')])
    answer('{"id":2,"result":{"b":1}}\0{"id":1,"re')
    answer('sult":{"a":1}}\0')
    expect(await both).toEqual([{ a: 1 }, { b: 1 }])
  })

  test('gives events to the listeners of their session', async () => {
    const { cdp, answer } = rig()
    const heard: unknown[] = []
    cdp.on('E', 's1', (params) => heard.push(params))
    answer(
      '{"method":"E","params":{"n":1},"sessionId":"s1"}\0{"method":"E","params":{"n":2},"sessionId":"s2"}\0',
    )
    const done = cdp.send('A', {}, { session: 's1' })
    answer('{"id":1,"result":{}}\0')
    await done
    expect(heard).toEqual([{ n: 1 }])
  })

  test.each([
    [
      'refuses a command',
      '{"id":1,"error":{"message":"no such method"}}\0',
      'the browser refused: no such method',
    ],
    ['sends no JSON', 'hello\0', 'the browser sent a message that is not JSON'],
  ])('reports a browser that %s', async (_, text, message) => {
    const { cdp, answer } = rig()
    const sent = outcome(cdp.send('A'))
    answer(text)
    expect(await sent).toBe(message)
  })

  test('reports a browser that exits, now and later', async () => {
    const { cdp, from } = rig()
    const sent = outcome(cdp.send('A'))
    from.destroy()
    expect(await sent).toBe('the browser has exited')
    expect(await outcome(cdp.send('B'))).toBe('the browser has exited')
  })

  test.each([
    ['is gone', '{"method":"Target.detachedFromTarget","params":{"sessionId":"s1"}}', 'the target is gone'],
    [
      'has crashed',
      '{"method":"Inspector.targetCrashed","params":{},"sessionId":"s1"}',
      'the page has crashed',
    ],
  ])('gives up on a target that %s, and on no other', async (_, event, message) => {
    const { cdp, answer } = rig()
    const sent = outcome(cdp.send('A', {}, { session: 's1' }))
    const other = outcome(cdp.send('B', {}, { session: 's2' }))
    answer(`${event}\0{"id":2,"result":{}}\0`)
    expect([await sent, await other]).toEqual([message, '{}'])
  })

  test('gives up on a browser that does not answer, and ignores the late answer', async () => {
    const { cdp, answer } = rig()
    expect(await outcome(cdp.send('A', {}, { timeout: 1 }))).toContain('did not answer `A`')
    const next = cdp.send('B')
    answer('{"id":1,"result":{}}\0{"id":2,"result":{"ok":true}}\0')
    expect(await next).toEqual({ ok: true })
  })
})
