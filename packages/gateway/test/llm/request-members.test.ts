// The tables of request members: what each says is what happens.

import type { Json, JsonObject } from '@tollgate/evidence'
import { describe, expect, test } from 'vitest'
import { MESSAGES_MEMBERS } from '../../src/llm/anthropic/request-members.ts'
import { Refused } from '../../src/llm/dialect.ts'
import { CONTENT_MEMBERS, COUNT_MEMBERS } from '../../src/llm/gemini/request-members.ts'
import { CHAT_MEMBERS } from '../../src/llm/openai-chat/request-members.ts'
import { RESPONSES_MEMBERS } from '../../src/llm/openai-responses/request-members.ts'
import { takeMembers, type RequestMembers } from '../../src/llm/request-members.ts'

const TABLES = {
  chat: CHAT_MEMBERS,
  responses: RESPONSES_MEMBERS,
  messages: MESSAGES_MEMBERS,
  gemini: CONTENT_MEMBERS,
  'gemini, to count': COUNT_MEMBERS,
}

interface Taken {
  readonly changed: boolean
  readonly left: JsonObject
}

function take(members: RequestMembers, body: JsonObject, ...further: readonly string[]): Taken {
  const left = { ...body }
  return { changed: takeMembers(left, members, new Set(further)), left }
}

function refusalOf(work: () => unknown): Refused {
  try {
    work()
  } catch (fault) {
    if (fault instanceof Refused) return fault
    throw fault
  }
  throw new Error('it was not refused')
}

describe.each(Object.entries(TABLES))('the members of %s', (_, members) => {
  const { read, forwarded, dropped, refused } = members
  const lists = [Object.keys(read), forwarded, Object.keys(dropped), Object.keys(refused)]

  test('are each in one list', () => {
    expect(new Set(lists.flat()).size).toBe(lists.flat().length)
  })

  test('are forwarded if they are read or listed as forwarded', () => {
    const body = Object.fromEntries([...Object.keys(read), ...forwarded].map((name) => [name, 1]))
    expect(take(members, body)).toEqual({ changed: false, left: body })
  })

  test('are removed if they are dropped, even if configured', () => {
    const names = Object.keys(dropped)
    const body = Object.fromEntries(names.map((name) => [name, { machine: 'mine' }]))
    expect(take(members, { ...body, model: 'm' }, ...names)).toEqual({
      changed: names.length > 0,
      left: { model: 'm' },
    })
  })

  test('are refused if they are refused, even if configured, but not if null', () => {
    for (const name of Object.keys(refused)) {
      const { code, param, message } = refusalOf(() => take(members, { [name]: 'x' }, name))
      expect([code, param]).toEqual(['ROUTE_NOT_GOVERNED', name])
      expect(message).toMatch(/^`\w+` is not governed, because .+; send /)
      expect(take(members, { [name]: null }).left).toEqual({ [name]: null })
    }
  })

  test.each<[string, Json]>([
    ['plugins', [{ id: 'web' }]],
    ['hasOwnProperty', 1],
  ])('that no list has are refused, unless configured: %s', (name, value) => {
    const { code, param } = refusalOf(() => take(members, { [name]: value }))
    expect([code, param]).toEqual(['ROUTE_NOT_GOVERNED', name])
    expect(take(members, { [name]: value }, name).left).toEqual({ [name]: value })
  })
})
