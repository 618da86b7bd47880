import { describe, expect, it } from 'vitest'
import { capture, type ToolCall } from '../../src/index.ts'

function captured(call: Partial<ToolCall>): ReturnType<typeof capture> {
  const caller = { tenant: 'default', principal: 'agent:ci' }
  return capture({ caller, door: 'http', assurance: 'advised', tool: 'x', ...call })
}

const TOP = 'beside'
const IN = 'inside'

describe('the session of a call', () => {
  // Every way to name one: beside the context and in it, by its own name and as that of a delegation.
  it.each<[string, Partial<ToolCall>, string]>([
    ['is the principal where none is named', {}, 'agent:ci'],
    ['is named beside the context', { session_id: TOP }, TOP],
    ['is named in the context', { context: { session_id: IN } }, IN],
    ['is named in both, alike', { session_id: IN, context: { session_id: IN } }, IN],
    ['is that of the delegation, beside', { delegation_session_id: TOP }, TOP],
    ['is that of the delegation, inside', { context: { delegation_session_id: IN } }, IN],
    [
      'is its own before that of the delegation',
      { delegation_session_id: TOP, context: { session_id: IN } },
      IN,
    ],
    [
      'is its own before that of the delegation, inside',
      { session_id: TOP, context: { delegation_session_id: IN } },
      TOP,
    ],
  ])('%s', (_, call, session) => {
    expect(captured(call)).toMatchObject({ session, unreadable: undefined, context: {} })
  })

  it('is no part of where the call comes from', () => {
    const context = { environment: 'prod', session_id: IN }
    expect(captured({ context }).context).toEqual({ environment: 'prod' })
  })

  it.each(['session_id', 'delegation_session_id'])('that has two names by `%s` is unreadable', (name) => {
    const { unreadable } = captured({ [name]: TOP, context: { [name]: IN } })
    expect(unreadable).toBe(`${name}: \`context\` names another`)
  })

  it.each(['', 7, null, ['s']])('that is no name in the context is unreadable: %j', (session_id) => {
    expect(captured({ context: { session_id } }).unreadable).toBe('context')
  })
})
