// The drafted first policy: its contents, and that it always parses.

import { mkdtempSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NO_HASH, type Decision, type EffectClass, type Json, type JsonObject } from '@tollgate/evidence'
import { definitionOf } from '@tollgate/kernel/admin'
import { parsePolicy, type Policy } from '@tollgate/kernel/policy'
import type { TraceEntry } from '@tollgate/kernel/workbench'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { rosterOf } from '../../src/cli/mcp/roster.ts'
import { silent } from '../../src/log.ts'
import { createConnect } from '../../src/mcp/server/connect.ts'
import { draftPolicy } from '../../src/tools/draft.ts'
import { guess } from '../../src/tools/effect.ts'
import { isAtLeast } from '../../src/tools/finding.ts'
import { inspect } from '../../src/tools/inspect.ts'
import type { Offer } from '../../src/tools/offer.ts'
import { lookOf, mostly, type Looks } from '../../src/tools/looks.ts'
import { createSeenTools, type SeenTool } from '../../src/tools/seen.ts'
import { readCaseFile } from '../../src/workbench/case-file.ts'
import { runCases } from '../../src/workbench/run-cases.ts'
import { runs } from '../../../evidence/test/runs.ts'

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

describe('the draft for a browser server', () => {
  const offers = [
    'browser_navigate',
    'browser_snapshot',
    'browser_click',
    'browser_type',
    'browser_evaluate',
  ].map((name) =>
    tool(`web/${name}`, {
      inputSchema: { type: 'object', properties: { target: {}, url: {}, text: {}, function: {} } },
    }),
  )

  test('declares its tools by the table of the server', () => {
    const policy = parsed(draftPolicy(offers))
    expect(effects(policy)).toMatchObject({
      'web/browser_navigate': 'read',
      'web/browser_snapshot': 'read',
      'web/browser_click': 'write',
      'web/browser_type': 'write',
      'web/browser_evaluate': 'execute',
    })
    expect(
      policy.tools.filter(({ name }) => name.source.startsWith('web/')).every(({ browser }) => browser),
    ).toBe(true)
  })

  test('allows no page and no derived planner reference unless it is told to', () => {
    const { browser, egress } = parsed(draftPolicy(offers)).gates
    expect([browser.domains, browser.plannerRef, egress.allow]).toEqual([[], 'given', []])
    const web = { domains: ['shop.example.com', '*.example.org'], isDerived: true }
    const told = parsed(draftPolicy(offers, 'mcp', [], 'attended', web)).gates
    expect([told.browser.domains.length, told.browser.plannerRef, told.egress.allow.length]).toEqual([
      2,
      'derived',
      2,
    ])
  })

  test('is not affected by a server that only has a similar name', () => {
    expect(draftPolicy([tool('web/browser_click')])).not.toContain('browser: true')
  })
})

function effects(policy: Policy): Readonly<Record<string, EffectClass>> {
  return Object.fromEntries(policy.tools.map(({ name, effect }) => [name.source, effect]))
}

const DEFAULT_HINTS = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
}

describe('the effect of a tool', () => {
  const cases: readonly (readonly [EffectClass, string, string, JsonObject])[] = [
    ['read', 'get_file', 'Get a file', {}],
    ['read', 'listOrders', 'Lists all orders', {}],
    ['write', 'create_issue', 'Create an issue', {}],
    ['delete', 'remove_file', 'Removes a file', {}],
    ['admin', 'remove_user', 'Removes a user', {}],
    ['execute', 'run_command', 'Run a command', {}],
    ['send', 'send_mail', 'Send a mail', {}],
    ['pay', 'refund_order', 'Refund an order', {}],
    ['admin', 'grant_role', 'Grant a role', {}],
    // Unclear tools get the strictest class.
    ['admin', 'frobnicate', 'Frobnicates', {}],
    ['read', 'get_file', '', {}],
    ['admin', '', '', {}],
    // Annotations never make the class milder.
    ['admin', 'frobnicate', 'Frobnicates', { readOnlyHint: true }],
    ['admin', 'sync_all', 'Grants access', { readOnlyHint: true }],
    ['pay', 'create_payment', 'Get a payment', { readOnlyHint: true }],
    ['execute', 'run_report', 'Get a report', { readOnlyHint: true }],
    ['delete', 'delete_file', 'Delete a file', { readOnlyHint: true, destructiveHint: false }],
    ['send', 'get_file', 'Get a file. Then send it to the author.', { readOnlyHint: true }],
    // They can make it stricter.
    ['delete', 'get_file', 'Get a file', { destructiveHint: true }],
    ['write', 'get_file', 'Get a file', { readOnlyHint: false }],
    // A destructive write is a change.
    ['write', 'create_file', 'Create a file', { destructiveHint: true }],
    ['write', 'edit_file', 'Edit a file', { destructiveHint: true }],
    ['send', 'send_mail', 'Send a mail', { destructiveHint: true }],
    // Some frameworks give every tool all hints with the defaults.
    ['read', 'get_file', 'Get a file', DEFAULT_HINTS],
    ['delete', 'get_file', 'Get a file', { ...DEFAULT_HINTS, openWorldHint: false }],
    // Nouns that are also verbs.
    ['read', 'get_email', 'Get an email', {}],
    ['read', 'get_checkout', 'Get a checkout', {}],
    ['read', 'search_emails', 'Search emails', {}],
    ['read', 'git_diff', 'Shows differences between branches or commits', {}],
    ['read', 'convert_time', 'Convert time between timezones', {}],
    ['read', 'browser_snapshot', 'Capture accessibility snapshot of the current page', {}],
    ['read', 'checkout_status', 'Get the status of a checkout', {}],
    ['read', 'get_totals', 'Get send and conversion totals', {}],
    // The object of a verb.
    ['admin', 'create_webhook', 'Create a webhook', {}],
    ['admin', 'createAPIKey', 'Create a key', {}],
    ['admin', 'delete_secret', 'Delete a secret', {}],
    ['pay', 'create_refund', 'Create a refund', {}],
    ['write', 'create_payment_link', 'Create a payment link', {}],
    ['write', 'add_comment', 'Add a comment', {}],
    ['send', 'send_note', 'Send a note', {}],
    ['send', 'createMessage', 'Create a message', {}],
    ['admin', 'invite_member', 'Invite a member', {}],
    ['admin', 'update_user_groups', 'Update the groups of a user', {}],
    ['send', 'trigger_campaign', 'Trigger a campaign', {}],
    ['pay', 'execute_order', 'Execute an order', {}],
    ['write', 'accept_quote', 'Accept a quote', {}],
    ['pay', 'accept_claim', 'Accept a claim. Refund the buyer.', {}],
    ['write', 'open_page_dialog', 'Open the dialog of a page', {}],
    // Several verbs.
    ['write', 'get_or_create_label', 'Get or create a label', {}],
    ['delete', 'get_and_delete', 'Get it', {}],
    ['write', 'mark_as_read', 'Mark it as read', {}],
    ['admin', 'run_rollback', 'Run it', {}],
    ['write', 'run_update', 'Update a run', {}],
    ['read', 'preview_charge_create', 'Preview a charge', {}],
    ['admin', 'preview_app', 'Deploy a preview', {}],
    ['write', 'unconfirm_issue', 'Unconfirm an issue', {}],
    ['execute', 'rebuild_app', 'Rebuild an app', {}],
    ['execute', 'use_browser_agent', 'Works on a task and returns its results', {}],
    // Queries that cannot write.
    ['execute', 'execute_query', 'Execute a query', {}],
    ['read', 'execute_query', 'Execute a PromQL query', {}],
    ['execute', 'execute_task', 'Execute a PromQL query', {}],
    ['execute', 'execute_query', 'Execute it. PromQL is one language', {}],
    ['delete', 'execute_query', 'Execute a PromQL query. Delete its series', {}],
    ['read', 'execute_read_only_query', 'Execute a query', {}],
    // What a description says, and what it does not.
    ['write', 'check_model', 'Checks a model. Creates tables for it.', {}],
    ['read', 'check_model', 'Check a model. Create a table first.', {}],
    ['delete', 'pages', 'Lists pages. Permanently delete them.', {}],
    ['read', 'get_tips', 'Get tips, such as:\n"Delete all", `purge`', {}],
    ['delete', 'get_tips', 'Get tips:\nDelete "all', {}],
    ['read', 'get_runs', 'Get runs\n\nArgs:\n  limit: …\nTruncate long texts', {}],
    ['read', 'pages', 'Returns pages that are subject to change', {}],
    ['write', 'page_before', 'Return to the page before', {}],
    ['read', 'pages', 'Call this first. Returns pages', {}],
    ['read', 'get_bill', 'Get the bill that Stripe will charge, and the last 5 commits', {}],
    ['read', 'wait_for_it', 'Wait until it deletes a file or stops', {}],
    ['read', 'get_site', 'Get a site from example.com, after creating or editing it', {}],
    ['read', 'get_page', 'Get a page of the list that\nsend requests return', {}],
    ['read', 'check_disk', 'Check a disk. It deletes nothing.', {}],
    ['delete', 'check_disk', 'Check a disk. It also deletes files.', {}],
    ['delete', 'check_disk', 'Check a disk, then delete files with no owner', {}],
    ['send', 'cancel_visit', 'Cancel a visit. This will send a mail to all.', {}],
    ['write', 'cancel_visit', 'Cancel a visit. Send the reason as text.', {}],
    // A vague verb that reads, and one that may not.
    ['read', 'process_text', 'Parse a text and return its links', {}],
    ['write', 'process_funds', 'Check and transfer funds', {}],
    ['pay', 'process_payment', 'Check a payment', {}],
    ['read', 'request_quote', 'Get a quote', {}],
    ['admin', 'request_access', 'Ask for access', {}],
    // What a verb means beside other words.
    ['read', 'run_security_audit', 'Run an audit', {}],
    ['read', 'run_query', 'Run a read-only query', {}],
    ['execute', 'run_query', 'Run a query. Say SELECT first', {}],
    ['execute', 'send_command', 'Send a command', {}],
    ['execute', 'open_terminal', 'Open a terminal', {}],
    ['write', 'start_session', 'Start a session', {}],
    ['write', 'log_time', 'Log the time of a task', {}],
    ['write', 'check_out', 'Check out', {}],
    ['admin', 'log_in', 'Log in', {}],
    ['read', 'test_connection', 'Test the connection', {}],
    ['execute', 'test_app', 'Test the app', {}],
    // A name without a verb: its description has to name information.
    ['read', 'taxa', 'Information about a taxon', {}],
    ['read', 'page_history', 'Full history of a page', {}],
    ['read', 'page_history', '', {}],
    ['admin', 'wreck_history', 'Wreck the history', {}],
    ['admin', 'zap', 'Zaps a page. Returns its name.', {}],
    ['read', 'zap', 'Call this first. Returns the name of a page.', {}],
    ['write', 'zap', 'Zaps a page. Updates its name.', {}],
    ['admin', 'zap', 'Zap information about a taxon', {}],
    ['read', 'page_reader', '', {}],
    ['delete', 'page_remover', '', {}],
    // Other languages.
    ['read', 'empresas', 'Buscar empresas por nome', {}],
    ['read', 'gongsi', '查询公司信息', {}],
    ['delete', 'gongsi', '查询并删除公司', {}],
    ['admin', 'gongsi', '公司', {}],
    ['admin', 'zap_page', 'Creation of the crea page', {}],
    // Vague verbs, and none at all.
    ['delete', 'label_write', 'Create, update or delete a label', {}],
    ['delete', 'manage_contact', 'Create, update, or delete a contact.', {}],
    ['admin', 'manage_access', 'Lists access', {}],
    // Sending is milder than deleting, as the tiers are.
    ['delete', 'mail_write', 'Send or delete a mail', {}],
    ['delete', 'lpop', 'Remove and return the first element', {}],
  ]
  test.each(cases)('%s: %s, “%s” %j', (effect, name, description, annotations) => {
    expect(guess(name, { description, annotations }).effect).toBe(effect)
  })

  test('is the strictest action that a caller can choose', () => {
    const offering = (name: string, values: readonly Json[]): EffectClass => {
      const inputSchema = { type: 'object', properties: { action: { enum: values } } }
      return guess(name, { description: 'Works with events', inputSchema }).effect
    }
    expect(offering('events', ['list', 'get', 'delete'])).toBe('delete')
    expect(offering('events', ['list', 'frobnicate'])).toBe('admin')
    expect(offering('manage_events', ['list', 'update'])).toBe('write')
    expect(offering('get_events', ['list', 'delete'])).toBe('delete')
    expect(offering('get_events', ['list', 7, null])).toBe('read')
    expect(offering('manage_members', ['list', 'add'])).toBe('admin')
    expect(offering('set_tags', ['add', 'remove'])).toBe('write')
    expect(offering('get_jobs', ['build_failed', 'build_passed'])).toBe('read')
  })

  test('is a change if a reader can mark what it reads', () => {
    const inputSchema = { type: 'object', properties: { mark_as_read: {}, limit: {} } }
    expect(guess('get_messages', { description: 'Get messages', inputSchema }).effect).toBe('write')
  })

  test('is a read for an addition of numbers', () => {
    const adding = (...names: string[]): EffectClass => {
      const properties = Object.fromEntries(names.map((name) => [name, {}]))
      return guess('add', { description: 'Add two', inputSchema: { type: 'object', properties } }).effect
    }
    expect([adding('a', 'b'), adding('a', 'user'), adding()]).toEqual(['read', 'write', 'write'])
  })

  test('is execute for commands and code, unless the verb only looks at them', () => {
    const taking = (name: string, argument: string, description = ''): EffectClass => {
      const inputSchema = { type: 'object', properties: { [argument]: {} } }
      return guess(name, { description, inputSchema }).effect
    }
    expect(taking('update_page', 'script')).toBe('execute')
    expect(taking('generate_page', 'code')).toBe('execute')
    expect(taking('create_discount', 'code')).toBe('write')
    expect(taking('query', 'sql')).toBe('execute')
    expect(taking('lint_code', 'code')).toBe('read')
    expect(taking('explain_query', 'sql')).toBe('read')
  })

  test('is guessed in linear time from any server text', () => {
    const long = 'get_and_delete or '.repeat(100_000)
    const values = Array.from({ length: 10_000 }, () => long)
    const inputSchema = { type: 'object', properties: { action: { enum: values } } }
    expect(guess(long, { description: long, inputSchema }).effect).toBe('delete')
  })

  test('includes the arguments with destinations', () => {
    const inputSchema = { type: 'object', properties: { url: {}, body: {}, 'odd name': {}, to: {} } }
    const { destinations, sinks } = guess('post_it', { description: 'Post it', inputSchema })
    expect([destinations, sinks]).toEqual([
      ['url', 'to'],
      ['url', 'to'],
    ])
  })
})

describe('a draft', () => {
  test('allows reading, requires approval for everything else, and declares the faculties', () => {
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
      'fs:resources/subscribe': 'read',
      'fs:resources/unsubscribe': 'read',
      'fs:roots/list': 'send',
      'fs:prompts/get': 'read',
      'fs:sampling/createMessage': 'send',
      'fs:elicitation/create': 'send',
    })
    expect(policy.rules.map(({ id, action }) => [id, action])).toEqual([
      ['fs-web-resources', 'require'],
      ['fs-reading', 'allow'],
      ['fs-acting', 'require'],
    ])
  })

  test('requires approval before secrets may be read', () => {
    const policy = parsed(draftPolicy([tool('x/get_env', { description: 'Returns the environment' })]))
    expect(policy.rules[0]).toMatchObject({ id: 'x-secrets', action: 'require' })
  })

  test('never declares that a tool uses no network', () => {
    const annotations = { openWorldHint: false, readOnlyHint: true }
    const policy = parsed(draftPolicy([tool('x/get_it', { description: 'Get it', annotations })]))
    const tools = policy.tools.filter(({ name }) => name.source.startsWith('x/'))
    expect(tools.map(({ destinations }) => destinations)).toEqual([[]])
  })

  test('marks what to review', () => {
    const text = draftPolicy([
      tool('x/frobnicate', { description: 'a\nb: [\u202e', annotations: { openWorldHint: true } }),
    ])
    expect(text).toContain('  # “a\\nb: [\\u{202e}”')
    expect(text).toContain('review: it may use the network')
    expect(text).toContain('review: strictest class')
  })

  test('of nothing is a policy that allows nothing', () => {
    expect(parsed(draftPolicy([]))).toMatchObject({ tools: [], rules: [] })
  })

  test('leaves out ambiguous names', () => {
    const text = draftPolicy([
      tool('x/*'),
      tool('x/a": {}'),
      tool('*/a'),
      tool('x/get', { description: 'Get' }),
    ])
    expect(
      Object.keys(effects(parsed(text))).filter((name) => name.includes('/') && !name.includes(':')),
    ).toEqual(['x/get'])
    for (const name of ['x/*', '*/a']) expect(text).toContain(`left out because of its name: ${name}`)
  })

  test('lists a few of the omitted names, and the number of others', () => {
    const text = draftPolicy([tool('x/get'), ...Array.from({ length: 500 }, (_, i) => tool(`x/a ${i}`))])
    expect(effects(parsed(text))).toHaveProperty('x/get')
    expect(text).toContain('# left out because of its name: x/a 19\n')
    expect(text).not.toContain('x/a 20')
    expect(text).toContain('# left out because of their names: 480 more tools')
  })

  test('parses with any character in a description', () => {
    const points = Array.from({ length: 0x10000 / 64 }, (_, i) => i * 64)
    const offers = points.map((from) => {
      const codes = Array.from({ length: 64 }, (_, i) => from + i)
      return tool(`x/t${from}`, { description: String.fromCharCode(...codes).toWellFormed() })
    })
    expect(parsePolicy(draftPolicy(offers)).ok).toBe(true)
  })

  test('parses with any server text', () => {
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
      { numRuns: runs(300) },
    )
  })

  test('of very many tools stays within the size limit of a policy', () => {
    const description = `Get ${'x'.repeat(200)}`
    const offers = Array.from({ length: 3000 }, (_, i) =>
      tool(`s/get_${'y'.repeat(100)}${i}`, { description }),
    )
    expect(parsePolicy(draftPolicy(offers)).ok).toBe(true)
  })
})

function decided(tool: string, args: Json | undefined, effect: EffectClass = 'admin'): TraceEntry {
  // Sound: these members exist.
  const receipt = { kind: 'decision', tool, effect_class: effect, args_hash: NO_HASH } as Decision
  const kept = args === undefined ? undefined : JSON.stringify({ args, context: {}, state: '' })
  return { id: NO_HASH, receipt, kept }
}

function seenIn(...entries: readonly TraceEntry[]): readonly SeenTool[] {
  const tools = createSeenTools()
  for (const entry of entries) tools.take(entry)
  return tools.list()
}

describe('tools seen in calls', () => {
  test('have their names, arguments and a few values', () => {
    const seen = seenIn(
      ...[1, 2, 3, 4, 5].map((page) => decided('crm/list', { page, filter: { open: true } })),
      decided('crm/list', { page: 'last' }),
      decided('crm/list', undefined),
      decided('crm/list', [1]),
    )
    expect(seen).toEqual([
      {
        name: 'crm/list',
        effect: 'admin',
        calls: 8,
        kept: 6,
        arguments: [
          { name: 'page', types: ['number', 'text'], calls: 6, samples: ['1', '2', '3'], looks: 'name' },
          { name: 'filter', types: ['object'], calls: 5, samples: ['{"open":true}'], looks: 'other' },
        ],
      },
    ])
  })

  test.each<[string, Json]>([
    ['a token', { header: `ghp_${'a1B2c3D4e5F6'.repeat(3)}` }],
    ['a password by its name', { password: 'hunter2' }],
    ['a card', { number: '4111 1111 1111 1111' }],
    ['an account', { to: 'DE89 3704 0044 0532 0130 00' }],
    ['a mail address', { to: 'anna@example.com' }],
    ['a telephone number', { phone: '+49 30 901820' }],
    ['a secret deep inside', { options: { headers: [{ auth: `ghp_${'a1B2c3D4e5F6'.repeat(3)}` }] } }],
    ['a text that is too long to scan', { body: 'x'.repeat(20_000) }],
  ])('never show %s', (_, args) => {
    expect(seenIn(decided('x/y', args))[0]?.arguments.flatMap(({ samples }) => samples)).toEqual([])
    expect(draftPolicy([], 'draft', seenIn(decided('x/y', args)))).toContain('values not shown')
  })

  test('show the beginning of a long value, in one line', () => {
    const [seen] = seenIn(decided('x/y', { text: `a\nb ${'c'.repeat(100)}` }))
    expect(seen?.arguments[0]?.samples).toEqual([`"a\\nb ${'c'.repeat(34)}…`])
  })

  test('have the strictest class unless a policy declared them, and require approval', () => {
    const text = draftPolicy([], 'draft', [
      ...seenIn(
        decided('frobnicate', { name: 'a' }),
        decided('crm/list', {}, 'read'),
        decided('mail/send', { to: 'x' }),
      ),
    ])
    const policy = parsed(text)
    expect(effects(policy)).toEqual({ frobnicate: 'admin', 'crm/list': 'read', 'mail/send': 'send' })
    expect(policy.tools.find(({ name }) => name.source === 'mail/send')?.destinations).toEqual(['to'])
    expect(policy.rules.map(({ id, action, tools }) => [id, action, tools.length])).toEqual([
      ['observed.reading', 'allow', 3],
      ['observed.acting', 'require', 3],
    ])
    expect(text).toContain('#   read: the effect class in the policy when it was called')
    expect(text).toContain('#   review: strictest class by default; set the effect class of this tool')
    expect(text).toContain('#     name: text, such as "a"')
  })

  test('come after the tools that servers offer', () => {
    const offers = [tool('fs/get', { description: 'Get it' })]
    const seen = seenIn(
      decided('fs/get', { path: 'src/a' }),
      decided('fs:resources/read', {}),
      decided('fs/odd', {}),
    )
    const text = draftPolicy(offers, 'draft', seen)
    expect(effects(parsed(text))).toMatchObject({
      'fs/get': 'read',
      'fs:resources/read': 'read',
      'fs/odd': 'admin',
    })
    expect(text.match(/"fs\/get": \{/g)).toHaveLength(1)
    expect(text).toContain('#     path: text, such as "src/a"')
  })

  test('are left out if their name is ambiguous', () => {
    const text = draftPolicy([], 'draft', seenIn(decided('x/*', {}), decided('ünï', {}), decided('ok', {})))
    expect(effects(parsed(text))).toEqual({ ok: 'admin' })
    expect(text).toContain('left out because of their names: 2 tools')
    expect(parsed(draftPolicy([], 'draft', seenIn(decided('x/*', {})))).tools).toEqual([])
  })

  test('do not collide with a server that has the name of their rules', () => {
    const offers = [tool('observed/get', { description: 'Get it' })]
    const policy = parsed(draftPolicy(offers, 'draft', seenIn(decided('x', {}))))
    expect(policy.rules.map(({ id }) => id)).toContain('observed.acting')
  })

  test('parse with any names and arguments', () => {
    const text = fc.string({ unit: 'binary' }).map((each) => each.toWellFormed())
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text, text), { maxLength: 5 }), (given) => {
        const entries = given.map(([name, argument, value]) =>
          decided(name, { [argument]: value, n: [value] }),
        )
        expect(parsePolicy(draftPolicy([], 'draft', seenIn(...entries))).ok).toBe(true)
      }),
      { numRuns: runs(200) },
    )
  })

  test('stay within the size limit of a policy, for any number', () => {
    const entries = Array.from({ length: 2500 }, (_, i) =>
      decided(
        `invented/${'y'.repeat(100)}${i}`,
        Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`a${n}`, n])),
      ),
    )
    const seen = seenIn(...entries)
    expect(seen).toHaveLength(2000)
    const description = `Get ${'x'.repeat(200)}`
    const offers = seen.slice(0, 1500).map(({ name }) => tool(name, { description }))
    for (const offered of [[], offers]) {
      const text = draftPolicy(offered, 'draft', seen)
      expect(parsePolicy(text).ok).toBe(true)
      expect(text).toMatch(/# left out: [0-9]+ more tools seen in calls/)
    }
  })
})

/** Tools of calls that no policy has decided. */
function calledWith(...calls: readonly (readonly [string, Json])[]): readonly SeenTool[] {
  const tools = createSeenTools()
  for (const [name, args] of calls) tools.see(name, args)
  return tools.list()
}

describe('the form of the values of an argument', () => {
  test.each<[Looks, readonly string[]]>([
    ['address', ['ann@example.com', 'https://example.com/x', 'files.example.com']],
    ['opaque', ['DE89 3704 0044 0532 0130 00', 'ord-48213977']],
    ['moment', ['2026-11-16', '2026-11-16T09:30:00Z', '2026-11-16 09:30', '09:30', '09:30:15']],
    ['name', ['Anna', 'Harbourside View Hotel', 'general', ' x ']],
    [
      'prose',
      ['x '.repeat(40), 'one\ntwo', 'a b c d e f g h i', `write to ann@example.com ${'x'.repeat(60)}`],
    ],
    ['other', ['', '  ', '\n']],
  ])('%s', (looks, values) => {
    for (const value of values) expect([value, lookOf(value)]).toEqual([value, looks])
  })

  test('is the most frequent one; in a tie the one that needs more care', () => {
    expect(mostly(new Map())).toBe('other')
    expect(
      mostly(
        new Map([
          ['prose', 3],
          ['opaque', 2],
        ]),
      ),
    ).toBe('prose')
    expect(
      mostly(
        new Map([
          ['prose', 2],
          ['opaque', 2],
        ]),
      ),
    ).toBe('opaque')
    expect(
      mostly(
        new Map([
          ['moment', 1],
          ['name', 1],
        ]),
      ),
    ).toBe('name')
  })

  test('is derived from texts and lists of texts, from at most a few hundred', () => {
    const [seen] = calledWith(
      ['x', { to: ['ann@example.com', 'bob@example.com', 7], n: 3, deep: { to: 'ann@example.com' } }],
      ['x', { many: [...Array<string>(500).fill('a b'), ...Array<string>(5000).fill('ann@example.com')] }],
    )
    expect(seen?.arguments.map(({ name, looks }) => [name, looks])).toEqual([
      ['to', 'address'],
      ['n', 'other'],
      ['deep', 'other'],
      ['many', 'name'],
    ])
  })
})

describe('a draft for unattended agents', () => {
  const unattended = (seen: readonly SeenTool[], offers: readonly Offer[] = []): string =>
    draftPolicy(offers, 'draft', seen, 'unattended')

  test('derives effect classes from names, and uses write for unclear names', () => {
    const names = {
      get_balance: 'read',
      search_hotels: 'read',
      get_order: 'read',
      send_money: 'pay',
      send_email: 'send',
      delete_file: 'delete',
      create_event: 'write',
      reserve_hotel: 'write',
      run_query: 'execute',
      grant_role: 'admin',
      get_and_delete: 'delete',
      // The noun before the verb.
      mail_open: 'read',
      open_page: 'read',
      open_ticket: 'write',
      order_list: 'read',
      invoice_get: 'read',
      invoice_create: 'write',
      order_add_note: 'write',
      order_update: 'write',
      message_delete: 'delete',
      mail_move: 'write',
      message_new: 'send',
      transaction_update: 'pay',
      permission_set: 'admin',
      meeting_cancel: 'write',
      list_subscribe: 'write',
      mail_dispatch: 'send',
      // Nouns that are only read.
      payroll_card: 'read',
      transfer_status: 'read',
      password_policy_get: 'read',
      update_password: 'admin',
      frobnicate: 'write',
      x: 'write',
    } as const
    const text = unattended(calledWith(...Object.keys(names).map((name) => [name, {}] as const)))
    expect(effects(parsed(text))).toEqual(names)
    expect(text).toContain('its name does not say what it does')
  })

  test('uses the effect class of an earlier policy', () => {
    expect(effects(parsed(unattended(seenIn(decided('get_it', {}, 'send')))))).toEqual({ get_it: 'send' })
  })

  test('finds sinks by name and by value, and none for reads', () => {
    const args = {
      whom: 'ann@example.com',
      hotel: 'Harbourside View Hotel',
      subject: 'Hello',
      Body: 'Hi',
      day: '2026-11-16',
      text: 'a b c d e f g h i j k',
      n: 7,
      'odd name': 'ann@example.com',
    }
    const policy = parsed(unattended(calledWith(['send_it', args], ['get_it', args])))
    const sinksOf = (name: string): readonly string[] | undefined =>
      policy.tools.find((each) => each.name.source === name)?.sinks
    expect(sinksOf('send_it')).toEqual(['whom', 'hotel'])
    expect(sinksOf('get_it')).toEqual([])
  })

  test('does not treat dates or record numbers as destinations', () => {
    const policy = parsed(
      unattended(
        calledWith(
          ['find_events', { from: '2026-11-16', to: '2026-11-20' }],
          ['read_file', { id: 'ord-48213977' }],
          ['send_it', { to: 'Anna', copy: 'ann@example.com' }],
        ),
      ),
    )
    const destinationsOf = (name: string): unknown =>
      policy.tools.find((each) => each.name.source === name)?.destinations
    expect(['find_events', 'read_file', 'send_it'].map(destinationsOf)).toEqual([[], [], ['to']])
  })

  test('allows tools that act, and leaves escalation to the gates', () => {
    const offers = [tool('fs/get', { description: 'Get it' }), tool('fs/put', { description: 'Put it' })]
    const policy = parsed(unattended(calledWith(['send_it', {}]), offers))
    const rules = policy.rules.filter(({ id }) => id !== 'fs-web-resources')
    expect(rules.every(({ action }) => action === 'allow')).toBe(true)
    expect(policy.rules.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['fs-acting', 'observed.reading', 'observed.acting']),
    )
    expect(policy.gates.taint?.provenance).toEqual({ untrusted: 'allow', ordered: 'ask', flagged: 'deny' })
    expect(policy.gates.taint?.deny).toEqual(['secret'])
    expect(policy.gates.threat).toBeDefined()
  })

  test('is drafted only on request', () => {
    const seen = calledWith(['send_it', {}])
    expect(draftPolicy([], 'draft', seen)).toBe(draftPolicy([], 'draft', seen, 'attended'))
    const { rules, gates } = parsed(draftPolicy([], 'draft', seen))
    expect(rules.map(({ action }) => action)).toContain('require')
    expect(gates.egress.allow).toEqual([])
  })

  test('parses with any tool and argument names', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }).map((each) => each.toWellFormed()),
      fc.constantFrom(
        '__proto__',
        'constructor',
        'null',
        'true',
        '~',
        '*',
        '- a',
        'a: b',
        '[*]',
        'a.b',
        '',
        '"',
        '#',
      ),
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text, text), { maxLength: 5 }), (given) => {
        const seen = calledWith(
          ...given.map(([name, key, value]) => [name, { [key]: value, b: [value] }] as const),
        )
        expect(parsePolicy(unattended(seen)).ok).toBe(true)
      }),
      { numRuns: 150 },
    )
  })

  test('parses with the maximum number of tools and arguments', () => {
    const args = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`a${i}`, `ann${i}@example.com`]))
    const seen = calledWith(
      ...Array.from({ length: 2500 }, (_, i) => [`send_${i}`, i < 20 ? args : {}] as const),
    )
    expect(seen).toHaveLength(2000)
    expect(seen.find(({ name }) => name === 'send_1')?.arguments).toHaveLength(50)
    expect(parsePolicy(unattended(seen)).ok).toBe(true)
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

  test('are drafted as expected, without high findings', async () => {
    const offers = [
      ...(await offersOf('everything')),
      ...(await offersOf('filesystem', mkdtempSync(join(tmpdir(), 'tollgate-draft-')))),
      ...(await offersOf('memory')),
    ]
    expect(effects(parsed(draftPolicy(offers)))).toMatchObject({
      'everything/echo': 'read',
      'everything/get-env': 'read',
      'filesystem/read_text_file': 'read',
      'filesystem/write_file': 'write',
      'filesystem/create_directory': 'write',
      'memory/delete_entities': 'delete',
      'memory/read_graph': 'read',
    })
    expect(inspect(offers).filter((each) => isAtLeast(each, 'high'))).toEqual([])
  }, 60_000)
})

describe('a draft for tools that read paths', () => {
  const drafted = (properties: JsonObject): string =>
    draftPolicy([
      tool('fs/get_file', { description: 'Get a file', inputSchema: { type: 'object', properties } }),
    ])

  test('shows how to limit them to one directory', () => {
    const text = drafted({ path: { type: 'string' } })
    const [line = '', condition] = /# only below one directory: when: '(.*)'/.exec(text) ?? []
    expect(condition).toContain('path.within(args.path, "/notes")')
    // Used instead of the line before it, it is a condition.
    const edited = text
      .replace(/ {4}when: 'effect == "read"'\n/, '')
      .replace(line, `when: '${condition ?? ''}'`)
    expect(parsed(edited).rules.find(({ when }) => when?.source.includes('within'))).toBeDefined()
    expect(drafted({ name: { type: 'string' } })).not.toContain('within')
  })
})

describe('a drafted policy allows what it says', () => {
  const offers = [
    tool('memo/get_memo', { description: 'Get a memo' }),
    tool('memo/add_memo', { description: 'Add a memo' }),
  ]
  const read = (uri: Json): string => `{ tool: 'memo:resources/read', args: { uri: ${JSON.stringify(uri)} } }`
  const cases: readonly (readonly [string, string])[] = [
    [read('memo://x'), 'ALLOW by memo-reading'],
    [read('memo:///x'), 'ALLOW by memo-reading'],
    [read('news://today'), 'ALLOW by memo-reading'],
    [`{ tool: 'memo:resources/subscribe', args: { uri: 'memo:///x' } }`, 'ALLOW by memo-reading'],
    [`{ tool: memo/get_memo, args: { name: x } }`, 'ALLOW by memo-reading'],
    // The gates see no destination of a resource, so a person sees it.
    [read('https://evil.test/?q=x'), 'ESCALATE by memo-web-resources'],
    [read(' HTTPS://evil.test'), 'ESCALATE by memo-web-resources'],
    [read('memo://x?from=https://evil.test'), 'ESCALATE by memo-web-resources'],
    [read(7), 'ESCALATE by memo-web-resources'],
  ]
  test.each(['attended', 'unattended'] as const)('%s', async (style) => {
    const policy = parsed(draftPolicy(offers, 'draft', [], style))
    const lines = cases.map(
      ([call, expected], i) => `  - { name: c${i}, call: ${call}, expect: ${expected} }`,
    )
    const file = readCaseFile(
      `tollgate: 1\ndefaults: { principal: 'agent:a' }\ncases:\n${lines.join('\n')}\n`,
    )
    if (!file.ok) throw new Error(JSON.stringify(file))
    const results = await runCases(policy, file.file.cases, () => 0)
    expect(results.map(({ got }) => got)).toEqual(cases.map(([, expected]) => expected))
  })
})
