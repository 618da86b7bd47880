// Ambiguous messages, and messages that hide a call. None reaches the server without a decision that allows exactly the
// received arguments.

import { canonicalize, sha256Hex } from '@tollgate/evidence'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MAX_MESSAGE, parseMessage } from '../../src/mcp/message.ts'
import { at, openGate, type Client, type Gate } from './rig.ts'

let gate: Gate
let client: Client

beforeAll(async () => {
  gate = await openGate()
  await gate.approve()
  client = await gate.legacy()
})
afterAll(() => gate.close())

const call = (params: string, id = '"x"'): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`
const echo = (args: string): string => call(`{"name":"echo","arguments":${args}}`)
const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`
const MODERN =
  '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}'

const CASES: readonly (readonly [string, string])[] = [
  ['the name of the tool twice', call('{"name":"echo","name":"other","arguments":{"text":"a"}}')],
  ['the name twice, once escaped', call('{"name":"echo","\\u006eame":"other","arguments":{"text":"a"}}')],
  ['the name in another case as well', call('{"name":"echo","Name":"other","arguments":{"text":"a"}}')],
  ['the name in capitals as well', call('{"name":"echo","NAME":"other","arguments":{"text":"a"}}')],
  ['the name in another case only', call('{"Name":"echo","arguments":{"text":"a"}}')],
  ['the arguments twice', call('{"name":"echo","arguments":{"text":"a"},"arguments":{"text":"b"}}')],
  ['the arguments in another case as well', call('{"name":"echo","arguments":{"text":"a"},"Arguments":{}}')],
  [
    'the params twice',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}},"params":{}}',
  ],
  [
    'the params in another case as well',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}},"Params":{"name":"other"}}',
  ],
  [
    'the method twice',
    '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}}}',
  ],
  [
    'the method in another case as well',
    '{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}}}',
  ],
  [
    'a method in another case',
    '{"jsonrpc":"2.0","id":1,"method":"Tools/Call","params":{"name":"echo","arguments":{"text":"a"}}}',
  ],
  [
    'a method with a slash at its end',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call/","params":{"name":"echo","arguments":{"text":"a"}}}',
  ],
  [
    'a method with a space',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call ","params":{"name":"echo","arguments":{"text":"a"}}}',
  ],
  [
    'a method that is a list',
    '{"jsonrpc":"2.0","id":1,"method":["tools/call"],"params":{"name":"echo","arguments":{"text":"a"}}}',
  ],
  ['a method that inherits', '{"jsonrpc":"2.0","id":1,"method":"constructor","params":{}}'],
  ['a batch', `[${echo('{"text":"a"}')}]`],
  ['a batch of a ping and a call', `[{"jsonrpc":"2.0","id":1,"method":"ping"},${echo('{"text":"a"}')}]`],
  ['a batch in a batch', `[[${echo('{"text":"a"}')}]]`],
  ['an empty batch', '[]'],
  ['a number that is rounded', echo('{"text":"a","n":9007199254740993}')],
  ['a number that is infinite', echo('{"text":"a","n":1e999}')],
  ['minus zero', echo('{"text":"a","n":-0}')],
  ['not a number', echo('{"text":"a","n":NaN}')],
  ['a name with a letter of another alphabet', call('{"name":"\u0435cho","arguments":{"text":"a"}}')],
  ['a name in wide letters', call('{"name":"\uff45cho","arguments":{"text":"a"}}')],
  ['a name with a hidden character', call('{"name":"ec\u200bho","arguments":{"text":"a"}}')],
  ['a name that reads from right to left', call('{"name":"\u202eohce","arguments":{"text":"a"}}')],
  ['a name with a space', call('{"name":"echo ","arguments":{"text":"a"}}')],
  ['a name with a line break', call('{"name":"echo\\n","arguments":{"text":"a"}}')],
  ['a name with a NUL', call('{"name":"echo\\u0000","arguments":{"text":"a"}}')],
  ['a name in another case', call('{"name":"Echo","arguments":{"text":"a"}}')],
  ['a name with its server', call('{"name":"plain/echo","arguments":{"text":"a"}}')],
  ['a name of another server', call('{"name":"second/echo","arguments":{"text":"a"}}')],
  ['a name that climbs', call('{"name":"../plain/echo","arguments":{"text":"a"}}')],
  ['a name that is a list', call('{"name":["echo"],"arguments":{"text":"a"}}')],
  ['a name that is an object', call('{"name":{"toString":"echo"},"arguments":{"text":"a"}}')],
  ['a name that is a number', call('{"name":0,"arguments":{"text":"a"}}')],
  ['no name', call('{"arguments":{"text":"a"}}')],
  ['arguments that are a text', call('{"name":"echo","arguments":"{\\"text\\":\\"a\\"}"}')],
  ['arguments that are a list', call('{"name":"echo","arguments":[{"text":"a"}]}')],
  ['arguments that are null', call('{"name":"echo","arguments":null}')],
  ['an argument twice', echo('{"text":"a","text":"b"}')],
  ['an argument twice, once escaped', echo('{"text":"a","\\u0074ext":"b"}')],
  ['an argument in another case as well', echo('{"text":"a","Text":"b"}')],
  ['an argument called __proto__', echo('{"text":"a","__proto__":{"admin":true}}')],
  ['an argument called constructor', echo('{"text":"a","constructor":{}}')],
  ['params called __proto__', call('{"name":"echo","arguments":{"text":"a"},"__proto__":{"name":"other"}}')],
  ['params that are a list', call('["echo",{"text":"a"}]')],
  ['a task', call('{"name":"echo","arguments":{"text":"a"},"task":{"ttl":1000}}')],
  ['an unknown member', call('{"name":"echo","arguments":{"text":"a"},"target":"other"}')],
  ['`_meta` that is a list', call('{"name":"echo","arguments":{"text":"a"},"_meta":[]}')],
  ['`_meta` twice', call('{"name":"echo","arguments":{"text":"a"},"_meta":{},"_meta":{}}')],
  [
    '`_meta` of a revision that is not spoken',
    call(
      '{"name":"echo","arguments":{"text":"a"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}}',
    ),
  ],
  [
    '`_meta` of half a revision',
    call(
      '{"name":"echo","arguments":{"text":"a"},"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}}',
    ),
  ],
  [
    '`_meta` with a session that is no name',
    call('{"name":"echo","arguments":{"text":"a"},"_meta":{"dev.tollgate/session":{"a":1}}}'),
  ],
  [
    '`_meta` with an approval that is none',
    call(`{"name":"echo","arguments":{"text":"a"},"_meta":{"dev.tollgate/approval":7}}`),
  ],
  [
    'a state of rounds that were never begun',
    call(
      `{"name":"echo","arguments":{"text":"a"},"requestState":"x","inputResponses":{},"_meta":{${MODERN}}}`,
    ),
  ],
  [
    'answers to unasked questions',
    call(`{"name":"echo","arguments":{"text":"a"},"inputResponses":{"ask-0":{}},"_meta":{${MODERN}}}`),
  ],
  [
    'a state of rounds from a client of the other protocol',
    call('{"name":"echo","arguments":{"text":"a"},"requestState":"x"}'),
  ],
  [
    'a call without an id',
    '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}}}',
  ],
  ['an id that is null', call('{"name":"echo","arguments":{"text":"a"}}', 'null')],
  ['an id that is a fraction', call('{"name":"echo","arguments":{"text":"a"}}', '1.5')],
  ['an id that is an object', call('{"name":"echo","arguments":{"text":"a"}}', '{"id":1}')],
  ['an id that is true', call('{"name":"echo","arguments":{"text":"a"}}', 'true')],
  [
    'the id twice',
    '{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}}}',
  ],
  [
    'no version of JSON-RPC',
    '{"id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}}}',
  ],
  [
    'another version of JSON-RPC',
    '{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}}}',
  ],
  [
    'a version that is a number',
    '{"jsonrpc":2.0,"id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}}}',
  ],
  [
    'a request that is an answer as well',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}},"result":{}}',
  ],
  [
    'a further member of the message',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"}},"extra":1}',
  ],
  ['a second message behind the first', `{"jsonrpc":"2.0","id":1,"method":"ping"}${echo('{"text":"a"}')}`],
  ['a byte-order mark', `\ufeff${echo('{"text":"a"}')}`],
  ['half a surrogate pair', echo('{"text":"\\ud800"}')],
  ['a comment', `/* x */${echo('{"text":"a"}')}`],
  ['single quotes', echo("{'text':'a'}")],
  ['a comma at the end', echo('{"text":"a",}')],
  ['a line break in a text', echo('{"text":"a\nb"}')],
  ['too many levels', echo(`{"text":"a","deep":${nested(100)}}`)],
  ['a message that is too large', echo(`{"text":"${'a'.repeat(MAX_MESSAGE)}"}`)],
  ['arguments that are too large', echo(`{"text":"${'a'.repeat((1 << 20) + 1)}"}`)],
]

/** Compares everything that reached the server with the allowed calls of the ledger. */
async function expectJudged(): Promise<void> {
  const allowed = (await gate.receipts()).flatMap((receipt) =>
    receipt.kind === 'decision' && receipt.verdict === 'ALLOW'
      ? [`${receipt.tool} ${receipt.args_hash}`]
      : [],
  )
  const reached = gate.server.reached.map(({ params }) => {
    const { name } = params
    return `plain/${typeof name === 'string' ? name : ''} ${sha256Hex(canonicalize(params.arguments ?? null))}`
  })
  expect(reached).toEqual(allowed)
}

/** A control: an allowed call. Without it the cases would also pass if everything were denied. */
async function expectAllowed(): Promise<void> {
  const before = gate.server.reached.length
  const [answer] = await client.send(echo('{"text":"control \u00e9"}'))
  expect(at(answer, 'result', 'isError')).toBeUndefined()
  const reached = gate.server.reached
    .slice(before)
    .map(({ method, params }) => [method, canonicalize(params)])
  expect(reached).toEqual([['tools/call', '{"arguments":{"text":"control é"},"name":"echo"}']])
}

test('the client and its tool are allowed: a plain call reaches the server, byte for byte', async () => {
  await expectAllowed()
  await expectJudged()
})

describe('does not reach the server', () => {
  test.each(CASES)('%s', async (_, text) => {
    await expectAllowed()
    const before = gate.server.reached.length
    const came = await client.send(text)
    expect(gate.server.reached).toHaveLength(before)
    // A request gets an answer: an error or a denial.
    for (const answer of came)
      expect(answer.error !== undefined || at(answer, 'result', 'isError') === true).toBe(true)
    await expectJudged()
  })

  test('bytes that are not UTF-8', async () => {
    const bytes = Buffer.from(echo('{"text":"a"}'))
    bytes[bytes.indexOf('a"}')] = 0xff
    const came: string[] = []
    await client.conversation.take(parseMessage(bytes), { send: (message) => void came.push(message) })
    expect(came.join()).toMatch(/-32700/)
    await expectJudged()
  })

  test('a call with the id of an active one', async () => {
    let go = (): void => undefined
    const held = new Promise<void>((resolve) => (go = resolve))
    const { answer } = gate.server
    gate.server.answer = async (...args) => {
      await held
      return answer(...args)
    }
    const first = client.send(echo('{"text":"first"}'))
    await expect.poll(() => gate.server.reached.length).toBeGreaterThan(0)
    const reached = gate.server.reached.length
    expect(at((await client.send(echo('{"text":"second"}'))).at(-1), 'error', 'code')).toBe(-32600)
    expect(gate.server.reached).toHaveLength(reached)
    go()
    expect(at((await first).at(-1), 'result', 'params', 'arguments', 'text')).toBe('first')
    gate.server.answer = answer
    await expectJudged()
  })
})

describe('reaches the server as judged', () => {
  test('with keys in canonical order, and only the trace of `_meta`', async () => {
    const trace = '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01'
    const meta = `{"traceparent":"${trace}","tracestate":"a=\\u0000","com.example/arguments":{"text":"b"},"progressToken":1}`
    await client.send(call(`{"_meta":${meta},"arguments":{"text":"a"},"name":"echo"}`))
    expect(gate.server.reached.at(-1)?.params).toEqual({
      name: 'echo',
      arguments: { text: 'a' },
      _meta: { traceparent: trace },
    })
    await expectJudged()
  })

  test('also if the same call comes twice: each is judged and recorded', async () => {
    const before = gate.server.reached.length
    await client.send(echo('{"text":"same"}'))
    await client.send(echo('{"text":"same"}'))
    expect(gate.server.reached).toHaveLength(before + 2)
    await expectJudged()
  })
})

test('unreadable messages are recorded as refused', async () => {
  const before = (await gate.receipts()).length
  await client.send(call('{"name":"echo","name":"other"}'))
  const added = (await gate.receipts()).slice(before)
  expect(added).toMatchObject([
    { kind: 'decision', verdict: 'DENY', reason_code: 'AMBIGUOUS_INPUT', door: 'mcp' },
  ])
})
