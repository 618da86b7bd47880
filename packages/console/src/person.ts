// The person who is signed in.

import { signal, type Signal } from '@preact/signals'
import { ask, Refusal, sessionKey, whenEnded } from './api.ts'
import { startNews, stopNews } from './news.ts'

/** The owner of the session. */
interface Person {
  readonly principal: string
  readonly role: 'operator' | 'admin' | 'auditor'
  readonly tenant: string
  readonly groups: readonly string[]
  readonly version: string
  /** When the session ends at the latest. */
  readonly ends: string
}

/** The person; null if no one is signed in, undefined while this is unknown. */
export const person: Signal<Person | null | undefined> = signal(undefined)
/** Why the last session ended, if it did not end by itself. */
export const endedBecause: Signal<string | undefined> = signal(undefined)

/** Continues the session of an earlier visit, if there is one. */
export async function resumeSession(): Promise<void> {
  whenEnded(leave)
  sessionKey.watch(() => void look())
  await look()
}

async function look(): Promise<void> {
  if (sessionKey.read() === null) {
    leave()
    return
  }
  try {
    person.value = await ask<Person>('/session')
    endedBecause.value = undefined
    startNews()
  } catch (fault) {
    const isOver = fault instanceof Refusal && fault.status === 401
    endedBecause.value = isOver ? 'Your session has ended. Sign in again.' : messageOf(fault)
    person.value = null
  }
}

/** Opens a session. @throws Refusal */
export async function signIn(token: string): Promise<void> {
  const { key } = await ask<{ readonly key: string }>('/session', { method: 'POST', body: { token } })
  sessionKey.keep(key)
  await look()
}

/** Ends the session. */
export async function signOut(): Promise<void> {
  await ask('/session', { method: 'DELETE' }).catch(() => undefined)
  sessionKey.forget()
  endedBecause.value = undefined
  leave()
}

/** Whether the person may change something. Auditors only read. */
export function mayAct(): boolean {
  return person.value?.role === 'operator' || person.value?.role === 'admin'
}

/** Whether the person may put a policy in force. */
export function mayActivate(): boolean {
  return person.value?.role === 'admin'
}

function leave(): void {
  if (person.value) endedBecause.value ??= sessionKey.read() === null ? undefined : 'Your session has ended.'
  sessionKey.forget()
  stopNews()
  person.value = null
}

/** The message of an error. */
export function messageOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault)
}
