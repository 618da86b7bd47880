// Calls with an id of their caller: the decision is found by it until its effect is known. And argument schemas in the request.

import { describe, expect, it } from 'vitest'
import { compileSchema } from '../../src/detection.ts'
import { openedAs, reportEffect } from '../../src/index.ts'
import { createRig, type Rig } from '../rig.ts'

const POLICY = `
principals: { "agent:*": { tier: standard } }
tools: { "notes/read": { effect: read, destinations: none } }
rules: [{ id: all, allow: "notes/read" }]
`
const CALLER = { tenant: 'default', principal: 'agent:a' }
const OWNER = { ...CALLER, session: 's1' }
const CALL = {
  caller: CALLER,
  door: 'llm',
  assurance: 'advised',
  tool: 'notes/read',
  args: {},
  session_id: 's1',
  reference: 'call_1',
} as const

function rigged(): Promise<Rig> {
  return createRig({ policy: POLICY })
}

async function allowed(rig: Rig, fields: object = {}): Promise<string> {
  const { decided } = await rig.authorize({ ...CALL, ...fields })
  expect(decided.verdict).toBe('ALLOW')
  return decided.receipt ?? ''
}

function report(rig: Rig, decision: string): ReturnType<typeof reportEffect> {
  return reportEffect(rig.kernel, {
    caller: CALLER,
    decision,
    status: 'COMPLETED',
    output: new Uint8Array([1]),
  })
}

describe('a call with a caller id', () => {
  it('is found by it, only by its own principal and session', async () => {
    const rig = await rigged()
    const id = await allowed(rig)
    expect(await openedAs(rig.kernel, OWNER, ['call_1', 'call_2'])).toEqual(new Map([['call_1', id]]))
    for (const other of [{ session: 's2' }, { principal: 'agent:b' }, { tenant: 'other' }]) {
      expect(await openedAs(rig.kernel, { ...OWNER, ...other }, ['call_1'])).toEqual(new Map())
    }
  })

  it('is not found once its effect is known', async () => {
    const rig = await rigged()
    await report(rig, await allowed(rig))
    expect(await openedAs(rig.kernel, OWNER, ['call_1'])).toEqual(new Map())
    await rig.reopen()
    expect(await openedAs(rig.kernel, OWNER, ['call_1'])).toEqual(new Map())
  })

  it('is found after a restart, and after it was closed as UNKNOWN', async () => {
    const rig = await rigged()
    const id = await allowed(rig)
    await rig.reopen()
    expect(await openedAs(rig.kernel, OWNER, ['call_1'])).toEqual(new Map([['call_1', id]]))
    rig.host.advance(61_000)
    await rig.authorize({ ...CALL, reference: 'call_2' })
    expect(rig.last('effect').status).toBe('UNKNOWN')
    expect(await openedAs(rig.kernel, OWNER, ['call_1'])).toEqual(new Map([['call_1', id]]))
    await rig.reopen()
    expect(await openedAs(rig.kernel, OWNER, ['call_1'])).toEqual(new Map([['call_1', id]]))
    await report(rig, id)
    expect(rig.last('effect')).toMatchObject({ status: 'COMPLETED', late: true })
    expect(await openedAs(rig.kernel, OWNER, ['call_1'])).toEqual(new Map())
  })

  it('is the newest one with its id, even after an older one is closed', async () => {
    const rig = await rigged()
    const older = await allowed(rig)
    const newer = await allowed(rig)
    expect(await openedAs(rig.kernel, OWNER, ['call_1'])).toEqual(new Map([['call_1', newer]]))
    await report(rig, older)
    expect(await openedAs(rig.kernel, OWNER, ['call_1'])).toEqual(new Map([['call_1', newer]]))
    await rig.reopen()
    expect(await openedAs(rig.kernel, OWNER, ['call_1'])).toEqual(new Map([['call_1', newer]]))
  })

  it('is found even if it was searched before it existed', async () => {
    const rig = await rigged()
    expect(await openedAs(rig.kernel, OWNER, ['call_1'])).toEqual(new Map())
    const id = await allowed(rig)
    expect(await openedAs(rig.kernel, OWNER, ['call_1'])).toEqual(new Map([['call_1', id]]))
  })

  it('with an unreadable id is denied', async () => {
    const rig = await rigged()
    for (const reference of ['', 7, 'a\nb', 'x'.repeat(257)]) {
      const { decided } = await rig.authorize({ ...CALL, reference })
      expect(decided).toMatchObject({ verdict: 'DENY', reason: 'AMBIGUOUS_INPUT', detail: 'reference' })
    }
  })
})

describe('an argument schema in the request', () => {
  const wanted = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
  const demanded = { hash: 'a'.repeat(64), text: JSON.stringify(wanted), schema: compileSchema(wanted) }

  it('denies arguments that do not match, and allows those that do', async () => {
    const rig = await rigged()
    const wrong = await rig.authorize({ ...CALL, demanded })
    expect(wrong.decided).toMatchObject({ verdict: 'DENY', reason: 'SCHEMA_VIOLATION' })
    await allowed(rig, { demanded, args: { name: 'list' } })
  })

  it('does not make an unknown tool known', async () => {
    const rig = await rigged()
    const { decided } = await rig.authorize({
      ...CALL,
      tool: 'notes/write',
      demanded,
      args: { name: 'list' },
    })
    expect(decided.reason).toBe('DENY_TOOL_NOT_FOUND')
  })

  it('is part of the evidence of the decision', async () => {
    const evidence = async (fields: object): Promise<string> => {
      const rig = await rigged()
      await allowed(rig, { args: { name: 'list' }, ...fields })
      return rig.last('decision').evidence
    }
    expect(await evidence({})).toBe(await evidence({}))
    expect(await evidence({ demanded })).not.toBe(await evidence({}))
  })
})
