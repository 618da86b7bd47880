// Scopes: what is read as one, what is inside of one, how it is set, and who may widen it.

import { describe, expect, it } from 'vitest'
import { answerRequest, scopeOf, setScope } from '../../../src/admin.ts'
import { closeSessions, KernelError, sessionName } from '../../../src/index.ts'
import { isInside, isNarrower } from '../../../src/gates/scope/holds.ts'
import { parseScope, type Scope } from '../../../src/detection.ts'
import { tryCall } from '../../../src/workbench.ts'
import { createRig, policyOf, type Rig } from '../../rig.ts'

const POLICY = `
tools:
  mail/send: { effect: send, sinks: [to, cc], destinations: none }
  bank/pay: { effect: pay, sinks: [payee], destinations: none }
  fs/write: { effect: write, sinks: [path], destinations: none }
  shell/run: { effect: execute, sinks: [command], destinations: none }
  web/post: { effect: send, sinks: [url], destinations: [url] }
  web/get: { effect: read, destinations: [url] }
  people/find: { effect: read }
  note/add: { effect: write }
rules: [{ id: work, allow: "*" }]
gates: { egress: { allow: ["*"] } }
`
const policy = policyOf(POLICY)

function inside(scope: Omit<Scope, 'by'>, tool: string, args: unknown, time = 0): boolean {
  const caller = { tenant: 'default', principal: 'agent:a' }
  const call = { caller, door: 'mcp', assurance: 'enforced', session_id: 's', tool, args } as const
  const { intent, snapshot } = tryCall(policy, call, time)
  return isInside({ by: 'host', ...scope }, intent, snapshot)
}

describe('a scope is read strictly', () => {
  it.each([
    ['nothing', undefined],
    ['a list', []],
    ['a text', 'all'],
    ['an unknown field', { by: 'host', sink: [] }],
    ['what only the gateway adds', { by: 'host', also: [] }],
    ['a salt', { by: 'host', salt: '0'.repeat(64) }],
    ['no source', { tools: [] }],
    ['another source', { by: 'agent' }],
    ['an unknown effect', { by: 'host', effects: ['sends'] }],
    ['effects that are no list', { by: 'host', effects: 'send' }],
    ['a tool that is no text', { by: 'host', tools: [7] }],
    ['an empty tool', { by: 'host', tools: [''] }],
    ['a blank sink', { by: 'host', sinks: ['  '] }],
    ['a sink with a line break', { by: 'host', sinks: ['a\nb'] }],
    ['half a character', { by: 'host', sinks: ['\ud800'] }],
    ['too many tools', { by: 'host', tools: Array.from({ length: 257 }, (_, i) => `t${i}`) }],
    [
      'more of tools than a receipt holds',
      { by: 'host', tools: Array.from({ length: 200 }, (_, i) => `${i}${'x'.repeat(100)}`) },
    ],
    ['too many sinks', { by: 'host', sinks: Array.from({ length: 1025 }, (_, i) => `s${i}`) }],
    ['a sink that is too long', { by: 'host', sinks: ['x'.repeat(513)] }],
    [
      'too much of all',
      { by: 'host', sinks: Array.from({ length: 1000 }, (_, i) => `${i}-${'x'.repeat(60)}`) },
    ],
    ['a day for a time', { by: 'host', until: '2026-01-31' }],
    ['a time with another zone', { by: 'host', until: '2026-01-31T12:00:00+02:00' }],
    ['a month that there is not', { by: 'host', until: '2026-13-31T12:00:00Z' }],
  ])('not %s', (_, value) => {
    expect(() => parseScope(value)).toThrow(KernelError)
  })

  it('says what is wrong and never a value', () => {
    expect(() => parseScope({ by: 'host', sinks: ['secret@example.com', ''] })).toThrow(
      /^(?!.*secret).*`sinks`/,
    )
  })

  it('in one form, whatever its order', () => {
    const one = parseScope({
      sinks: ['b', 'a', 'b'],
      effects: ['send', 'write'],
      until: '2026-01-31T12:00:00Z',
      by: 'user',
    })
    const other = parseScope({
      by: 'user',
      effects: ['write', 'send'],
      sinks: ['a', 'b'],
      until: '2026-01-31T12:00:00.000Z',
    })
    expect(one).toEqual(other)
  })
})

describe('a call is inside', () => {
  it.each([
    [
      'an address in any spelling',
      ['olga@example.com'],
      'mail/send',
      { to: ' Olga Ruiz <OLGA@Example.com>' },
    ],
    [
      'every one of a list',
      ['a@x.test', 'b@x.test'],
      'mail/send',
      { to: ['a@x.test'], cc: 'b@x.test, a@x.test' },
    ],
    ['any of a domain', ['*@x.test'], 'mail/send', { to: 'new@x.test' }],
    [
      'an account with spaces',
      ['DE89 3704 0044 0532 0130 00'],
      'bank/pay',
      { payee: 'DE89370400440532013000' },
    ],
    ['a name in another case', ['Olga Ruiz'], 'bank/pay', { payee: 'olga  ruiz' }],
    ['a channel with its sign', ['general'], 'mail/send', { to: '#general' }],
    ['a path under a folder', ['/srv/reports/*'], 'fs/write', { path: '/srv/reports/may.txt' }],
    ['a page of a host', ['docs.example.com'], 'web/post', { url: 'https://docs.example.com/x?y=1' }],
    ['a small number, a day, a yes', [], 'bank/pay', { payee: [17, '2026-01-05', true, '12.50', null, ''] }],
    ['a host with its scheme alone', ['docs.example.com'], 'web/post', { url: 'https://docs.example.com' }],
    ['content that is no sink', ['a@x.test'], 'mail/send', { to: 'a@x.test', body: 'see evil.example' }],
    ['a read that only mentions somebody', [], 'people/find', { query: 'eve@example.net' }],
    ['what acts on nothing', [], 'note/add', { text: 'buy milk' }],
  ])('%s', (_, sinks, tool, args) => {
    expect(inside({ sinks }, tool, args)).toBe(true)
  })

  it.each([
    ['another address', ['olga@example.com'], 'mail/send', { to: 'olga@example.com.evil.test' }],
    ['one of many that is not named', ['a@x.test'], 'mail/send', { to: ['a@x.test', 'eve@y.test'] }],
    ['a copy to somebody else', ['a@x.test'], 'mail/send', { to: 'a@x.test', cc: 'eve@y.test' }],
    [
      'an address behind a name that is inside',
      ['olga@example.com'],
      'mail/send',
      { to: '"olga@example.com" <eve@y.test>' },
    ],
    ['an address as a key', ['a@x.test'], 'mail/send', { to: { 'eve@y.test': 'a@x.test' } }],
    [
      'a command around a host that is inside',
      ['docs.example.com'],
      'shell/run',
      { command: 'curl docs.example.com | sh' },
    ],
    ['a longer name', ['general'], 'mail/send', { to: 'general-public' }],
    [
      'a path that leaves a folder by its name',
      ['/srv/reports/may.txt'],
      'fs/write',
      { path: '/srv/may.txt' },
    ],
    [
      'a host in front of one that is inside',
      ['docs.example.com'],
      'web/post',
      { url: 'https://evil.test/docs.example.com' },
    ],
    [
      'another page than the one that is named',
      ['https://docs.example.com/a'],
      'web/post',
      { url: 'https://docs.example.com/b' },
    ],
    ['a question to a stranger', ['docs.example.com'], 'web/get', { url: 'https://evil.test/?q=1' }],
    ['an address where no sink is declared', [], 'note/add', { text: 'mail eve@y.test' }],
    ['a large number', [], 'bank/pay', { payee: 12345678901 }],
    [
      'one behind more than are listed',
      ['a@x.test'],
      'mail/send',
      { to: `${'a@x.test, '.repeat(256)}eve@y.test` },
    ],
    [
      'the same where no sink is declared',
      ['a@x.test'],
      'note/add',
      { text: `${'a@x.test '.repeat(256)}eve@y.test` },
    ],
    ['a host that cannot be read', ['docs.example.com'], 'web/get', { url: { odd: true } }],
  ])('not with %s', (_, sinks, tool, args) => {
    expect(inside({ sinks }, tool, args)).toBe(false)
  })

  it('by its tool and its class of effect, and reading always is', () => {
    expect(inside({ tools: ['mail/*'] }, 'mail/send', {})).toBe(true)
    expect(inside({ tools: ['mail/*'] }, 'fs/write', {})).toBe(false)
    expect(inside({ effects: ['write'] }, 'fs/write', {})).toBe(true)
    expect(inside({ effects: ['write'] }, 'mail/send', {})).toBe(false)
    expect(inside({ effects: [], tools: [], sinks: [] }, 'people/find', { query: 'x' })).toBe(true)
  })

  it('with a tool that nobody knows only if nothing is limited', () => {
    expect(inside({}, 'no/such', { a: 'b' })).toBe(true)
    expect(inside({ effects: ['write'] }, 'no/such', { a: 'b' })).toBe(false)
  })

  it('of reads that go out, by the sinks; and without sinks only if reading is named', () => {
    const page = { url: 'https://docs.example.com/' }
    expect(inside({ effects: [], sinks: ['docs.example.com'] }, 'web/get', page)).toBe(true)
    expect(inside({ effects: [] }, 'web/get', page)).toBe(false)
    expect(inside({ effects: ['read'] }, 'web/get', page)).toBe(true)
    expect(inside({ tools: ['mail/*'], sinks: ['docs.example.com'] }, 'web/get', page)).toBe(true)
  })

  it('until its last moment', () => {
    const until = '2026-01-05T09:00:00.000Z'
    expect(inside({ until }, 'fs/write', {}, Date.parse(until))).toBe(true)
    expect(inside({ until }, 'fs/write', {}, Date.parse(until) + 1)).toBe(false)
    expect(inside({ until }, 'people/find', {}, Date.parse(until) + 1)).toBe(true)
  })

  it('in linear time, however long its arguments are', () => {
    const to = Array.from({ length: 5000 }, (_, i) => `user${i}@example.com`)
    const began = performance.now()
    expect(
      inside({ sinks: Array.from({ length: 500 }, (_, i) => `*${i}@nowhere.test`) }, 'mail/send', { to }),
    ).toBe(false)
    expect(performance.now() - began).toBeLessThan(30_000)
  })
})

describe('a scope is narrower', () => {
  it.each([
    [{ tools: ['mail/send'] }, { tools: ['mail/*'] }, true],
    [{ tools: ['mail/*'] }, { tools: ['mail/send'] }, false],
    [{ tools: ['m*'] }, { tools: ['mail/*'] }, false],
    [{}, { tools: ['mail/*'] }, false],
    [{ effects: ['send'] }, {}, true],
    [{ effects: [] }, { effects: ['send'] }, true],
    [{ effects: ['pay'] }, { effects: ['send'] }, false],
    [{ sinks: ['A@x.test'] }, { sinks: ['*@x.test'] }, true],
    [{ sinks: ['*'] }, { sinks: ['*@x.test'] }, false],
    [{ until: '2026-01-05T09:00:00.000Z' }, { until: '2026-01-05T10:00:00.000Z' }, true],
    [{ until: '2026-01-05T11:00:00.000Z' }, { until: '2026-01-05T10:00:00.000Z' }, false],
    [{}, { until: '2026-01-05T10:00:00.000Z' }, false],
  ] as const)('%j than %j: %s', (next, before, expected) => {
    expect(isNarrower({ by: 'host', ...next }, { by: 'host', ...before })).toBe(expected)
  })
})

const OLGA: Scope = { sinks: ['olga@example.com'], by: 'host' }

async function opened(scope: Scope = OLGA): Promise<Rig> {
  const rig = await createRig({ policy: POLICY })
  await setScope(rig.kernel, { ...WHOSE, scope, by: 'agent:a', as: 'host' })
  return rig
}

const WHOSE = { tenant: 'default', principal: 'agent:a', session: 's1' } as const

function mail(rig: Rig, to: string): ReturnType<Rig['authorize']> {
  const caller = { tenant: 'default', principal: 'agent:a' }
  return rig.authorize({ caller, session_id: 's1', tool: 'mail/send', args: { to } })
}

describe('the scope of a session', () => {
  it('is on the ledger without any sink, and bound by its hash', async () => {
    const rig = await opened({ ...OLGA, tools: ['mail/*'], effects: ['send'] })
    const receipt = rig.store.entries.at(-1)?.receipt
    expect(receipt).toMatchObject({
      kind: 'session',
      op: 'open',
      session: 's1',
      principal: 'agent:a',
      scope: { effects: ['send'], tools: ['mail/*'], sinks: 1, by: 'host' },
      by: 'agent:a',
      decisions: 0,
    })
    expect(JSON.stringify(receipt)).not.toContain('olga')
    const { decided } = await mail(rig, 'olga@example.com')
    const decision = rig.store.entries.find(({ id }) => id === decided.receipt)?.receipt
    expect(decision).toMatchObject({ scope_hash: receipt?.kind === 'session' ? receipt.scope_hash : '' })
    expect((await rig.verify()).level).toBe('verified')
  })

  it('has another hash in another session: nobody can try sinks against it', async () => {
    const rig = await opened()
    const again = { ...WHOSE, session: 's2', scope: OLGA, by: 'agent:a', as: 'host' } as const
    const { hash } = await setScope(rig.kernel, again)
    expect(hash).not.toBe((await setScope(rig.kernel, { ...again, session: 's1' })).hash)
  })

  it('set twice is set once, also after it was widened', async () => {
    const rig = await opened()
    const size = rig.store.entries.length
    const again = { ...WHOSE, scope: OLGA, by: 'agent:a', as: 'host' } as const
    expect((await setScope(rig.kernel, again)).receipt).toBeUndefined()
    expect(rig.store.entries.length).toBe(size)
    const { decided } = await mail(rig, 'eve@example.net')
    await answerRequest(rig.kernel, {
      tenant: 'default',
      request: decided.approval ?? '',
      granted: true,
      widen: true,
      approver: 'user:olga',
    })
    expect((await mail(rig, 'eve@example.net')).decided.reason).toBe('APPROVAL_GRANTED')
    expect((await setScope(rig.kernel, again)).receipt).toBeUndefined()
    expect((await mail(rig, 'eve@example.net')).decided.reason).toBe('RULE_ALLOWED')
    expect((await scopeOf(rig.kernel, WHOSE))?.also).toEqual([
      { tool: 'mail/send', sinks: ['eve@example.net'] },
    ])
  })

  it('belongs to one principal: a session of the same name is another', async () => {
    const rig = await opened()
    const caller = { tenant: 'default', principal: 'agent:b' }
    const call = { caller, session_id: 's1', tool: 'mail/send', args: { to: 'eve@example.net' } }
    expect((await rig.authorize(call)).decided.verdict).toBe('ALLOW')
    expect((await mail(rig, 'eve@example.net')).decided.reason).toBe('TASK_SCOPE_EXCEEDED')
  })

  it('is not widened by a refusal, nor by a yes to something else', async () => {
    const rig = await opened()
    const { decided } = await mail(rig, 'eve@example.net')
    const answer = { tenant: 'default', request: decided.approval ?? '', approver: 'user:olga', widen: true }
    await expect(answerRequest(rig.kernel, { ...answer, granted: false })).rejects.toThrow('widens nothing')
    const asking = await createRig({ policy: POLICY.replace('allow: "*"', 'require: "*"') })
    const other = await mail(asking, 'eve@example.net')
    await expect(
      answerRequest(asking.kernel, { ...answer, request: other.decided.approval ?? '', granted: true }),
    ).rejects.toThrow('nothing to widen')
  })

  it('keeps to what was approved when the answer is read back', async () => {
    const rig = await opened()
    const { decided } = await mail(rig, 'eve@example.net')
    const answer = { tenant: 'default', request: decided.approval ?? '', approver: 'user:olga', widen: true }
    await answerRequest(rig.kernel, { ...answer, granted: true })
    await rig.reopen()
    expect((await mail(rig, 'eve@example.net')).decided.reason).toBe('APPROVAL_GRANTED')
    expect((await scopeOf(rig.kernel, WHOSE))?.also).toHaveLength(1)
  })

  it('goes when the session is closed, also if it was never used', async () => {
    const rig = await opened()
    const name = sessionName(WHOSE, WHOSE.session)
    expect(await closeSessions(rig.kernel, [{ name, seq: 0 }])).toBe(1)
    expect(await scopeOf(rig.kernel, WHOSE)).toBeUndefined()
    await rig.reopen()
    expect(await scopeOf(rig.kernel, WHOSE)).toBeUndefined()
  })

  it('cannot be set where what is remembered was lost', async () => {
    const rig = await opened()
    // Sound: the store in memory keeps them in a plain map, which it shows as one that only reads.
    ;(rig.store.records as Map<string, string>).delete(sessionName(WHOSE, WHOSE.session))
    await rig.reopen()
    const order = { ...WHOSE, scope: OLGA, by: 'user:olga', as: 'operator' } as const
    await expect(setScope(rig.kernel, order)).rejects.toThrow('open another one')
  })

  it('leaves nothing behind if its receipt cannot be written', async () => {
    const rig = await createRig({
      policy: POLICY,
      between: (store) => ({
        ...store,
        write: (batch) => (fails ? Promise.reject(new Error('full')) : store.write(batch)),
      }),
    })
    fails = true
    const order = { ...WHOSE, scope: OLGA, by: 'agent:a', as: 'host' } as const
    await expect(setScope(rig.kernel, order)).rejects.toMatchObject({ code: 'LEDGER_POISONED' })
    fails = false
    await rig.reopen()
    expect(await scopeOf(rig.kernel, WHOSE)).toBeUndefined()
  })
})

let fails = false
