import { describe, expect, it } from 'vitest'
import { capture, type ToolCall } from '../../src/index.ts'

function captured(call: Partial<ToolCall>): ReturnType<typeof capture> {
  const caller = { tenant: 'default', principal: 'agent:ci' }
  return capture({ caller, door: 'http', assurance: 'advised', tool: 'x', ...call })
}

const TOP = 'beside'
const IN = 'inside'

describe('the session of a call', () => {
  // All ways to name a session: beside the context and inside, with both member names.
  it.each<[string, Partial<ToolCall>, string]>([
    ['is the principal if none is named', {}, 'agent:ci'],
    ['is named beside the context', { session_id: TOP }, TOP],
    ['is named in the context', { context: { session_id: IN } }, IN],
    ['has the same name in both', { session_id: IN, context: { session_id: IN } }, IN],
    ['is that of the delegation, beside', { delegation_session_id: TOP }, TOP],
    ['is that of the delegation, inside', { context: { delegation_session_id: IN } }, IN],
    [
      'is its own rather than that of the delegation',
      { delegation_session_id: TOP, context: { session_id: IN } },
      IN,
    ],
    [
      'is its own rather than that of the delegation, inside',
      { session_id: TOP, context: { delegation_session_id: IN } },
      TOP,
    ],
  ])('%s', (_, call, session) => {
    expect(captured(call)).toMatchObject({ session, unreadable: undefined, context: {} })
  })

  it('is not part of the captured context', () => {
    const context = { environment: 'prod', session_id: IN }
    expect(captured({ context }).context).toEqual({ environment: 'prod' })
  })

  it.each(['session_id', 'delegation_session_id'])('that has two names by `%s` is unreadable', (name) => {
    const { unreadable } = captured({ [name]: TOP, context: { [name]: IN } })
    expect(unreadable).toBe(`${name}: \`context\` names another`)
  })

  it.each(['', 7, null, ['s']])('with an invalid name in the context is unreadable: %j', (session_id) => {
    expect(captured({ context: { session_id } }).unreadable).toBe('context')
  })
})
