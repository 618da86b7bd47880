// What a guard passes on of an error that its tool throws: the text that the gateway has inspected, and nothing else.

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
import { MAX_FAILURE } from '../src/failure.ts'
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

/** What a guarded tool that throws `thrown` ends with. */
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

/** An error that has the secret wherever an error can have something. */
function leaky(): Error {
  const fault = new Error(`bad password ${SECRET}`, { cause: new Error(`cause ${SECRET}`) })
  return Object.assign(fault, { name: `Name${SECRET}`, code: SECRET, response: { body: SECRET } })
}

/** Everything that a framework could write out for a model. */
function written(thrown: unknown): string {
  const { stack = '', cause } = thrown as Error
  return [String(thrown), stack, String(cause), JSON.stringify(thrown), show(thrown, { depth: 9 })].join('\n')
}

describe('what a tool throws', () => {
  it('is reported as the output of a FAILED effect, and its message passes if all of it may', async () => {
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

  it('passes as what inspection leaves of it', async () => {
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

  it.each<[string, StandInOptions, GuardOptions]>([
    ['the policy withholds it', { inspect: () => ({ delivery: 'withheld', labels: ['secret'] }) }, {}],
    ['what is left is no text', { inspect: () => ({ delivery: 'redacted', output: { a: SECRET } }) }, {}],
    ['the answer is lost', lostAt('/v1/effects', '/v1/receipts'), { onUnreported: 'return' }],
  ])('does not pass at all if %s', async (_, options, guard) => {
    const { client } = await start(options)
    const thrown = await failing(client, leaky(), guard)
    expect(thrown).toBeInstanceOf(ToolFailed)
    expect(thrown).toMatchObject({
      message: '`fs/read_file` failed, and its message is withheld',
      withheld: true,
    })
    expect(written(thrown)).not.toContain(SECRET)
  })

  it('is kept for the program if it cannot be reported, out of sight of what writes an error out', async () => {
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
    ['nothing', undefined, '(the tool threw something without a message)'],
    ['null', null, '(the tool threw something without a message)'],
    ['an object with a message', { message: 'broken', token: SECRET }, 'broken'],
    ['an object without one', { token: SECRET }, '(the tool threw something without a message)'],
    ['a function', () => SECRET, '(the tool threw something without a message)'],
    [
      'a message that is no text',
      { message: { token: SECRET } },
      '(the tool threw something without a message)',
    ],
    ['a proxy that throws', hostile, '(the tool threw an error that cannot be read)'],
    ['several errors', new AggregateError([new Error(SECRET)], 'all failed'), 'all failed'],
    ['half a surrogate pair', new Error('a\ud800'), 'a\ufffd'],
    ['a huge message', new Error('x'.repeat(1e6)), `${'x'.repeat(MAX_FAILURE)} (cut: 1000000 characters)`],
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

  it('is read once: a message that changes passes as it was reported', async () => {
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

/** Faults that keep a client from learning what became of its report. */
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
    ['a promise inside of an object', () => ({ later: Promise.resolve(SECRET) })],
    ['a map inside of a list', () => [new Map([['a', SECRET]])]],
    ['an error with a code', () => Object.assign(new Error(SECRET), { code: 'ENOENT' })],
    ['an error that writes itself out', () => Object.assign(new Error(SECRET), { toJSON: () => 'broken' })],
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
        // As the gateway does: of a digest there is nothing to inspect.
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
