// The first policy that is drafted for tools: what it says of them, and that it can always be read.

import { mkdtempSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EffectClass, JsonObject } from '@tollgate/evidence'
import { definitionOf, parsePolicy, type Policy } from '@tollgate/kernel'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { rosterOf } from '../src/cli/mcp-roster.ts'
import { silent } from '../src/log.ts'
import { createConnect } from '../src/mcp/server/connect.ts'
import { draftPolicy } from '../src/tools/draft.ts'
import { guess } from '../src/tools/effect.ts'
import { isAtLeast } from '../src/tools/finding.ts'
import { inspect } from '../src/tools/inspect.ts'
import type { Offer } from '../src/tools/offer.ts'

function tool(name: string, more: JsonObject = {}): Offer {
  const [server = '', ...rest] = name.split('/')
  const said = { name: rest.join('/'), inputSchema: { type: 'object' }, ...more }
  return {
    name,
    definition: definitionOf({ kind: 'tool', server, tool: said, inputSchema: said.inputSchema }),
  }
}

function parsed(text: string): Policy {
  const result = parsePolicy(text)
  if (!result.ok) throw new Error(JSON.stringify(result.mistakes))
  return result.policy
}

function effects(policy: Policy): Readonly<Record<string, EffectClass>> {
  return Object.fromEntries(policy.tools.map(({ name, effect }) => [name.source, effect]))
}

describe('the effect of a tool', () => {
  const cases: readonly (readonly [EffectClass, string, string, JsonObject])[] = [
    ['read', 'get_file', 'Get a file', {}],
    ['read', 'listOrders', 'Lists all orders', {}],
    ['write', 'create_issue', 'Create an issue', {}],
    ['delete', 'remove_user', 'Removes a user', {}],
    ['execute', 'run_command', 'Run a command', {}],
    ['send', 'send_mail', 'Send a mail', {}],
    ['pay', 'refund_order', 'Refund an order', {}],
    ['admin', 'grant_role', 'Grant a role', {}],
    // What nobody can tell is the strictest.
    ['admin', 'frobnicate', 'Frobnicates', {}],
    ['admin', 'get_file', '', {}],
    ['admin', '', '', {}],
    // Annotations make nothing milder.
    ['admin', 'frobnicate', 'Frobnicates', { readOnlyHint: true }],
    ['admin', 'get_file', 'Frobnicates', { readOnlyHint: true }],
    ['delete', 'delete_file', 'Delete a file', { readOnlyHint: true, destructiveHint: false }],
    ['send', 'get_file', 'Get a file. Then send it to the author.', { readOnlyHint: true }],
    // They make it stricter.
    ['delete', 'get_file', 'Get a file', { destructiveHint: true }],
    ['delete', 'edit_file', 'Edit a file', { destructiveHint: true }],
    ['send', 'send_mail', 'Send a mail', { destructiveHint: true }],
    ['admin', 'get_file', 'Get a file', { readOnlyHint: false }],
  ]
  test.each(cases)('%s: %s, “%s” %j', (effect, name, description, annotations) => {
    expect(guess(name, { description, annotations }).effect).toBe(effect)
  })

  test('comes with the arguments that say where data goes', () => {
    const inputSchema = { type: 'object', properties: { url: {}, body: {}, 'odd name': {}, to: {} } }
    const { destinations, sinks } = guess('post_it', { description: 'Post it', inputSchema })
    expect([destinations, sinks]).toEqual([
      ['url', 'to'],
      ['url', 'to'],
    ])
  })
})

describe('a draft', () => {
  test('allows reading, asks for everything else, and speaks of the faculties', () => {
    const policy = parsed(
      draftPolicy([
        tool('fs/get', { description: 'Get it' }),
        tool('fs/delete', { description: 'Delete it' }),
      ]),
    )
    expect(effects(policy)).toEqual({
      'fs/get': 'read',
      'fs/delete': 'delete',
      'fs:completion/complete': 'read',
      'fs:resources/read': 'read',
      'fs:prompts/get': 'read',
      'fs:sampling/createMessage': 'send',
      'fs:elicitation/create': 'send',
    })
    expect(policy.rules.map(({ id, action }) => [id, action])).toEqual([
      ['fs-reading', 'allow'],
      ['fs-acting', 'require'],
    ])
  })

  test('asks before what may hold secrets is read', () => {
    const policy = parsed(draftPolicy([tool('x/get_env', { description: 'Returns the environment' })]))
    expect(policy.rules[0]).toMatchObject({ id: 'x-secrets', action: 'require' })
  })

  test('never says of a tool that it reaches no network', () => {
    const annotations = { openWorldHint: false, readOnlyHint: true }
    const policy = parsed(draftPolicy([tool('x/get_it', { description: 'Get it', annotations })]))
    expect(policy.tools.some(({ destinations }) => destinations === 'none')).toBe(false)
  })

  test('says where to look again', () => {
    const text = draftPolicy([
      tool('x/frobnicate', { description: 'a\nb: [\u202e', annotations: { openWorldHint: true } }),
    ])
    expect(text).toContain('  # “a\\nb: [\\u{202e}”')
    expect(text).toContain('review: it may reach the network')
    expect(text).toContain('review: the strictest class')
  })

  test('of nothing is a policy that allows nothing', () => {
    expect(parsed(draftPolicy([]))).toMatchObject({ tools: [], rules: [] })
  })

  test('leaves out names that could mean something else', () => {
    const text = draftPolicy([
      tool('x/*'),
      tool('x/a": {}'),
      tool('*/a'),
      tool('x/get', { description: 'Get' }),
    ])
    expect(
      Object.keys(effects(parsed(text))).filter((name) => name.includes('/') && !name.includes(':')),
    ).toEqual(['x/get'])
    for (const name of ['x/*', '*/a']) expect(text).toContain(`left out, for its name: ${name}`)
  })

  test('tells a few of the names that it leaves out, and how many more', () => {
    const text = draftPolicy([tool('x/get'), ...Array.from({ length: 500 }, (_, i) => tool(`x/a ${i}`))])
    expect(effects(parsed(text))).toHaveProperty('x/get')
    expect(text).toContain('# left out, for its name: x/a 19\n')
    expect(text).not.toContain('x/a 20')
    expect(text).toContain('# left out, for their names: 480 more tools')
  })

  test('can be read, whichever character a description has', () => {
    const points = Array.from({ length: 0x10000 / 64 }, (_, i) => i * 64)
    const offers = points.map((from) => {
      const codes = Array.from({ length: 64 }, (_, i) => from + i)
      return tool(`x/t${from}`, { description: String.fromCharCode(...codes).toWellFormed() })
    })
    expect(parsePolicy(draftPolicy(offers)).ok).toBe(true)
  })

  test('can be read, whatever servers say', () => {
    const offer = fc.record({
      name: fc.string({ unit: 'binary' }),
      description: fc.string({ unit: 'binary' }),
      argument: fc.string({ unit: 'binary' }),
    })
    fc.assert(
      fc.property(fc.array(offer, { maxLength: 5 }), (given) => {
        const offers = given.map(({ name, description, argument }) =>
          tool(`s/${name.toWellFormed()}`, {
            description: description.toWellFormed(),
            inputSchema: { type: 'object', properties: { [argument.toWellFormed()]: {} } },
          }),
        )
        expect(parsePolicy(draftPolicy(offers)).ok).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  test('of very many tools stays within what a policy may be', () => {
    const description = `Get ${'x'.repeat(200)}`
    const offers = Array.from({ length: 3000 }, (_, i) =>
      tool(`s/get_${'y'.repeat(100)}${i}`, { description }),
    )
    expect(parsePolicy(draftPolicy(offers)).ok).toBe(true)
  })
})

describe('the official servers', () => {
  const require = createRequire(import.meta.url)
  async function offersOf(name: string, ...args: readonly string[]): Promise<readonly Offer[]> {
    const main = require.resolve(`@modelcontextprotocol/server-${name}/dist/index.js`)
    const home = mkdtempSync(join(tmpdir(), 'tollgate-draft-'))
    const env = { PATH: process.env.PATH ?? '', HOME: home, MEMORY_FILE_PATH: join(home, 'memory') }
    const address = { transport: 'stdio', command: process.execPath, args: [main, ...args], env } as const
    const roster = await rosterOf(createConnect({ log: silent }), { name, address })
    if (!roster.ok) throw new Error(roster.why)
    return roster.offers
  }

  test('are drafted as one would, and nothing grave is found in them', async () => {
    const offers = [
      ...(await offersOf('everything')),
      ...(await offersOf('filesystem', mkdtempSync(join(tmpdir(), 'tollgate-draft-')))),
      ...(await offersOf('memory')),
    ]
    expect(effects(parsed(draftPolicy(offers)))).toMatchObject({
      'everything/echo': 'admin',
      'everything/get-env': 'read',
      'filesystem/read_text_file': 'read',
      'filesystem/write_file': 'delete',
      'filesystem/create_directory': 'write',
      'memory/delete_entities': 'delete',
      'memory/read_graph': 'read',
    })
    expect(inspect(offers).filter((each) => isAtLeast(each, 'high'))).toEqual([])
  }, 60_000)
})
