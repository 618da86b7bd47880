// The rulings on a reply after people have answered, with a clock that the test sets.

import { authorize } from '@tollgate/kernel'
import { answerRequest } from '@tollgate/kernel/admin'
import { beforeEach, expect, it } from 'vitest'
import type { Ruling } from '../../src/llm/dialect.ts'
import { afterAnswers } from '../../src/llm/waiting.ts'
import { createApiRig, type ApiRig } from '../api/rig.ts'

let rig: ApiRig
let listeners: Set<() => void>
let leaving: AbortController

beforeEach(async () => {
  rig = await createApiRig()
  listeners = new Set()
  leaving = new AbortController()
})

const CALL = {
  caller: { tenant: 'default', principal: 'agent:one' },
  door: 'llm',
  assurance: 'advised',
} as const

async function ruling(tool: string, args: object): Promise<Ruling> {
  const { decided } = await authorize(rig.kernel, { ...CALL, tool, args: { ...args } })
  const { verdict, receipt = '', reason, approval } = decided
  if (verdict === 'ALLOW') return { allowed: true, args: '{}', receipt }
  return { allowed: false, code: reason, text: 'no', receipt, approval }
}

const read = (): Promise<Ruling> => ruling('fs/read_file', { path: 'a' })
const mail = (): Promise<Ruling> => ruling('mail/send', { to: 'bob@example.com' })

/** The first rulings on a reading and a mail, those after the wait, and how often each was judged again. */
async function settle(during: (request: string) => Promise<unknown>): Promise<{
  readonly first: readonly Ruling[]
  readonly last: readonly Ruling[]
  readonly again: readonly number[]
}> {
  const first = [await read(), await mail()]
  const [, second] = first
  const again = [0, 0]
  const wait = {
    left: 60_000,
    signal: leaving.signal,
    watch: (listener: () => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  const rulings = afterAnswers({ kernel: rig.kernel, wait }, first, [
    () => ((again[0] = (again[0] ?? 0) + 1), read()),
    () => ((again[1] = (again[1] ?? 0) + 1), mail()),
  ])
  await during(second?.allowed === false ? (second.approval ?? '') : '')
  for (const listener of listeners) listener()
  const last = await rulings
  // Nothing listens any more.
  expect(listeners.size).toBe(0)
  return { first, last, again }
}

const grant = (request: string): Promise<unknown> =>
  answerRequest(rig.kernel, { tenant: 'default', request, granted: true, approver: 'user:olga' })

it('an ALLOW that is still valid stays, and the approved call is judged again', async () => {
  const { first, last, again } = await settle(grant)
  expect(last.map(({ allowed }) => allowed)).toEqual([true, true])
  expect(last[0]).toBe(first[0])
  expect(again).toEqual([0, 1])
})

it('an ALLOW that has expired meanwhile is judged again', async () => {
  const { first, last, again } = await settle(async (request) => {
    rig.host.time += 61_000
    await grant(request)
  })
  expect(last.map(({ allowed }) => allowed)).toEqual([true, true])
  expect(last[0]?.receipt).not.toBe(first[0]?.receipt)
  expect(again).toEqual([1, 1])
})

it('an ALLOW that has expired is judged again, also if the client is gone', async () => {
  const { first, last, again } = await settle(async () => {
    rig.host.time += 61_000
    leaving.abort()
    await Promise.resolve()
  })
  expect(again).toEqual([1, 0])
  expect(last[0]?.receipt).not.toBe(first[0]?.receipt)
  expect(last[1]).toBe(first[1])
})

it('a call stays denied if its approval comes when the client is gone', async () => {
  const { first, last, again } = await settle(async (request) => {
    leaving.abort()
    await grant(request)
  })
  expect(again).toEqual([0, 0])
  expect(last).toEqual(first)
})
