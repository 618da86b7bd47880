// The plugin of OpenCode, as OpenCode loads it: every failure throws, and a throw blocks the call.

import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { pluginText } from '../../../../src/cli/setup/agents/opencode-plugin.ts'
import { opencode } from '../../../../src/hooks/clients/opencode.ts'
import { newFolder } from '../../../gateway-rig.ts'

const folder = newFolder()
const connection = join(folder, 'connection.json')
const socket = join(folder, 's.sock')
const TOKEN = `tg_agent_${'a'.repeat(43)}`

interface Result {
  output: unknown
  metadata: unknown
}
interface Hooks {
  'tool.execute.before': (input: object, output: { args: object }) => Promise<void>
  'tool.execute.after': (input: object, result: Result) => Promise<void>
  'chat.message': (input: object, output: { parts: readonly object[] }) => Promise<void>
}

let answer: (response: ServerResponse) => void
let bodies: string[] = []
let server: Server
let hooks: Hooks

async function load(text: string): Promise<Hooks> {
  const file = join(folder, `${text.length}.mjs`)
  writeFileSync(file, text)
  const loaded: unknown = await import(pathToFileURL(file).href)
  // Sound: the text exports it.
  return (loaded as { Tollgate: (at: object) => Promise<Hooks> }).Tollgate({ directory: '/work' })
}

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      expect(request.headers.authorization).toBe(`Bearer ${TOKEN}`)
      bodies.push(body)
      answer(response)
    })
  })
  server.listen(socket)
  await once(server, 'listening')
  hooks = await load(pluginText(connection))
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  bodies = []
  writeFileSync(connection, JSON.stringify({ url: 'http://localhost', socket, token: TOKEN }))
})

const CALL = { tool: 'bash', sessionID: 's', callID: 'c' }
const ARGS = { args: { command: 'ls' } }

function replying(body: string, status = 200): typeof answer {
  return (response) => response.writeHead(status, { 'content-type': 'application/json' }).end(body)
}

const before = (): Promise<void> => hooks['tool.execute.before'](CALL, ARGS)

test('a call runs after an allowance, and only then', async () => {
  answer = replying('{"decision":"allow"}')
  await expect(before()).resolves.toBeUndefined()
  const request = { event: undefined, entry: undefined }
  // Sound: the plugin has written it.
  const payload = JSON.parse(bodies[0] ?? '') as Parameters<typeof opencode.read>[0]
  expect(opencode.read(payload, request)).toMatchObject({
    kind: 'call',
    context: { session: 's', cwd: '/work' },
    call: { id: 'c', tool: 'builtin/shell', args: { command: 'ls' } },
  })
})

/** Each bad answer of a gateway, and the message of the throw. */
const BAD: readonly (readonly [name: string, answer: typeof answer, because: RegExp])[] = [
  ['a denial', replying('{"decision":"deny","reason":"it must not"}'), /^it must not$/],
  ['a denial without a reason', replying('{"decision":"deny"}'), /no readable answer/],
  ['an unknown decision', replying('{"decision":"maybe"}'), /no readable answer/],
  ['an error', replying('{"decision":"allow"}', 503), /answered with 503/],
  ['an empty body', replying(''), /was not run/],
  ['a text', replying('allow'), /was not run/],
  ['null', replying('null'), /no readable answer/],
  ['a list', replying('[]'), /no readable answer/],
  ['half of an answer', replying('{"decision":"allow"'), /was not run/],
  [
    'a body that ends early',
    (response) => {
      response
        .writeHead(200, { 'content-length': '100' })
        .write('{"decision":"allow"}', () => response.destroy())
    },
    /was not run/,
  ],
  ['a connection that ends', (response) => void response.destroy(), /was not run/],
]

describe('the call does not run', () => {
  test.each(BAD)('after %s', async (_, given, because) => {
    answer = given
    await expect(before()).rejects.toThrow(because)
  })

  test.each(['{', '{"url":"http://localhost","socket":"/nowhere"}'])(
    'with the connection %s',
    async (text) => {
      writeFileSync(connection, text)
      await expect(before()).rejects.toThrow(/was not run/)
    },
  )

  test('after no answer in time', async () => {
    answer = () => undefined
    const impatient = await load(pluginText(connection).replace(/PATIENCE = \d+/, 'PATIENCE = 50'))
    await expect(impatient['tool.execute.before'](CALL, ARGS)).rejects.toThrow(/did not answer in time/)
  })

  test('without a connection', async () => {
    rmSync(connection)
    await expect(before()).rejects.toThrow(/was not run/)
  })
})

test('a result is replaced as the gateway says, and withheld if the gateway fails', async () => {
  const after = async (): Promise<Result> => {
    const result = { output: 'secret', metadata: { preview: 'secret' } }
    await hooks['tool.execute.after']({ ...CALL, args: ARGS.args }, result)
    return result
  }
  answer = replying('{"decision":"allow"}')
  expect(await after()).toEqual({ output: 'secret', metadata: { preview: 'secret' } })
  answer = replying('{"decision":"replace","output":"[redacted]"}')
  expect(await after()).toEqual({ output: '[redacted]', metadata: {} })
  answer = replying('{}', 500)
  expect(JSON.stringify(await after())).not.toContain('secret')
})

test('the words of the user are sent, and blocked if the gateway fails', async () => {
  const say = (): Promise<void> =>
    hooks['chat.message']({ sessionID: 's' }, { parts: [{ type: 'text', text: 'hi' }, { type: 'file' }] })
  answer = replying('{"decision":"allow"}')
  await say()
  expect(JSON.parse(bodies[0] ?? '')).toMatchObject({ event: 'chat.message', text: 'hi', session: 's' })
  answer = replying('{}', 500)
  await expect(say()).rejects.toThrow(/answered with 500/)
})
