// A guard forwards only the inspected message of an error that its tool throws.

import { inspect as show } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { canonicalize, sha256Hex, type Json } from '../../evidence/src/index.ts'
import {
  createClient,
  EffectUnreported,
  ToolFailed,
  Withheld,
  type Client,
  type GuardOptions,
} from '../src/index.ts'
import { MAX_FAILURE_LENGTH } from '../src/failure.ts'
import { AGENT_TOKEN, startStandIn, type StandIn, type StandInOptions } from './stand-in.ts'

let standIn: StandIn | undefined

afterEach(async () => {
  await standIn?.close()
  standIn = undefined
})

async function start(options: StandInOptions = {}): Promise<{ gateway: StandIn; client: Client }> {
  const gateway = (standIn = await startStandIn(options))
  return { gateway, client: createClient({ url: gateway.url, token: AGENT_TOKEN, retries: 0 }) }
}

/** The error of a guarded tool that throws `thrown`. */
async function failing(client: Client, thrown: unknown, options: GuardOptions = {}): Promise<unknown> {
  const guarded = client.guard(
    'fs/read_file',
    () => {
      throw thrown
    },
    options,
  )
  return guarded({}).then(
    () => 'nothing was thrown',
    (fault: unknown) => fault,
  )
}

const SECRET = 'hunter2'

/** An error with the secret in every part. */
function leaky(): Error {
  const fault = new Error(`bad password ${SECRET}`, { cause: new Error(`cause ${SECRET}`) })
  return Object.assign(fault, { name: `Name${SECRET}`, code: SECRET, response: { body: SECRET } })
}

/** Everything of an error that a framework could show to a model. */
function written(thrown: unknown): string {
  const { stack = '', cause } = thrown as Error
  return [String(thrown), stack, String(cause), JSON.stringify(thrown), show(thrown, { depth: 9 })].join('\n')
}

describe('a thrown error', () => {
  it('is reported as the output of a FAILED effect, and its message is forwarded if delivered in full', async () => {
    const { gateway, client } = await start()
    const thrown = await failing(client, new Error('no such note'))
    expect(thrown).toBeInstanceOf(ToolFailed)
    expect(thrown).toMatchObject({
      code: 'tool-failed',
      message: 'no such note',
      tool: 'fs/read_file',
      decision: gateway.receipts('effect')[0]?.decision,
      receipt: gateway.ledger.entries.at(-1)?.id,
      withheld: false,
    })
    expect(gateway.receipts('effect')).toMatchObject([
      { status: 'FAILED', effect_hash: sha256Hex(canonicalize('no such note')) },
    ])
  })

  it('is forwarded in its redacted form', async () => {
    const inspect = (output: Json | undefined) =>
      ({
        delivery: 'redacted',
        labels: ['secret'],
        output: typeof output === 'string' ? output.replaceAll(SECRET, '[removed]') : null,
      }) as const
    const { client } = await start({ inspect })
    const thrown = await failing(client, leaky())
    expect(thrown).toMatchObject({ message: 'bad password [removed]', labels: ['secret'], withheld: false })
    expect(written(thrown)).not.toContain(SECRET)
  })

  it('is kept for the program if it cannot be reported, in a property that is not enumerable', async () => {
    const { client } = await start(lostAt('/v1/effects', '/v1/receipts'))
    const thrown = await failing(client, leaky())
    expect(thrown).toBeInstanceOf(EffectUnreported)
    expect((thrown as EffectUnreported).failure).toBe(`bad password ${SECRET}`)
    expect(written(thrown)).not.toContain(SECRET)
  })

  const hostile = new Proxy(new Error(SECRET), {
    get() {
      throw new Error(SECRET)
    },
  })
  it.each<[string, unknown, string]>([
    ['a text', 'broken', 'broken'],
    ['a number', 7, '7'],
    ['a symbol', Symbol('broken'), 'Symbol(broken)'],
    ['nothing', undefined, '(the tool threw a value without a message)'],
    ['null', null, '(the tool threw a value without a message)'],
    ['an object with a message', { message: 'broken', token: SECRET }, 'broken'],
    ['an object without one', { token: SECRET }, '(the tool threw a value without a message)'],
    ['a function', () => SECRET, '(the tool threw a value without a message)'],
    [
      'a message that is no text',
      { message: { token: SECRET } },
      '(the tool threw a value without a message)',
    ],
    ['a proxy that throws', hostile, '(the tool threw an error that cannot be read)'],
    ['several errors', new AggregateError([new Error(SECRET)], 'all failed'), 'all failed'],
    ['half a surrogate pair', new Error('a\ud800'), 'a\ufffd'],
    [
      'a huge message',
      new Error('x'.repeat(1e6)),
      `${'x'.repeat(MAX_FAILURE_LENGTH)} (cut: 1000000 characters)`,
    ],
  ])('passes as a text if it is %s', async (_, value, message) => {
    const { gateway, client } = await start()
    const thrown = await failing(client, value)
    expect(thrown).toBeInstanceOf(ToolFailed)
    expect((thrown as ToolFailed).message).toBe(message)
    expect(written(thrown)).not.toContain(SECRET)
    expect(gateway.receipts('effect')).toMatchObject([
      { status: 'FAILED', effect_hash: sha256Hex(canonicalize(message)) },
    ])
  })

  it('is read once: a message that changes is forwarded as reported', async () => {
    const { gateway, client } = await start()
    let looks = 0
    const shifty = {
      get message(): string {
        return looks++ === 0 ? 'harmless' : SECRET
      },
    }
    expect(await failing(client, shifty)).toMatchObject({ message: 'harmless' })
    expect(looks).toBe(1)
    expect(gateway.receipts('effect')).toMatchObject([{ effect_hash: sha256Hex('"harmless"') }])
  })
})

/** Faults that hide the outcome of a report from the client. */
function lostAt(...paths: readonly string[]): StandInOptions {
  return { fault: ({ path }) => (paths.includes(path) ? { kind: 'drop-before' } : undefined) }
}

function isDigest(output: Json | undefined): boolean {
  return typeof output === 'object' && output !== null && 'sha256' in output
}

describe('a result that JSON does not show', () => {
  class Opaque {
    readonly #secret = SECRET
    tell(): string {
      return this.#secret
    }
  }
  const cases: readonly [string, () => unknown][] = [
    [
      'an async generator',
      async function* (): AsyncGenerator<string> {
        yield await Promise.resolve(SECRET)
      },
    ],
    [
      'a generator',
      function* (): Generator<string> {
        yield SECRET
      },
    ],
    ['a map', () => new Map([['a', SECRET]])],
    ['a stream', () => new Response(SECRET).body],
    ['a response', () => new Response(SECRET)],
    ['a function', () => () => SECRET],
    ['an object with private state', () => new Opaque()],
    ['a promise inside an object', () => ({ later: Promise.resolve(SECRET) })],
    ['a map inside a list', () => [new Map([['a', SECRET]])]],
    ['an error with a code', () => Object.assign(new Error(SECRET), { code: 'ENOENT' })],
    ['an error with `toJSON`', () => Object.assign(new Error(SECRET), { toJSON: () => 'broken' })],
    [
      'an error among settled results',
      () => [{ status: 'rejected', reason: Object.assign(new Error(SECRET), { code: 'ENOENT' }) }],
    ],
  ]

  it.each(cases)(
    'is reported as unseen if it is %s, so that an inspecting policy withholds it',
    async (_, tool) => {
      const seen: Json[] = []
      const { client } = await start({
        fault({ path, body }) {
          if (path === '/v1/effects') seen.push(body)
          return undefined
        },
        // Like the gateway: a digest cannot be inspected.
        inspect: (output) => ({ delivery: isDigest(output) ? 'withheld' : 'full' }),
      })
      const ended = await client
        .guard(
          'fs/read_file',
          tool,
        )({})
        .catch((fault: unknown) => fault)
      expect(seen).toMatchObject([{ output_digest: { bytes: 0, sha256: sha256Hex('') } }])
      expect(ended).toBeInstanceOf(Withheld)
    },
  )
})
