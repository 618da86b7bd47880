// The open requests and the freezes: every page shows them. The gateway says when they have changed.

import { computed, signal, type ReadonlySignal, type Signal } from '@preact/signals'
import { ask } from './api.ts'
import { follow } from './events.ts'
import type { ApprovalRequest, Frozen } from './model.ts'

/** The open requests, oldest first; undefined while they are unknown. */
export const requests: Signal<readonly ApprovalRequest[] | undefined> = signal(undefined)
/** The freezes in force; undefined while they are unknown. */
export const freezes: Signal<readonly Frozen[] | undefined> = signal(undefined)
/** Whether the gateway answers. */
export const connection: Signal<'connecting' | 'open' | 'lost'> = signal('connecting')
/** Changes with everything that people set: freezes, pins, the policy. */
export const stateIndex: Signal<number> = signal(-1)
/** The number of open requests. */
export const waiting: ReadonlySignal<number> = computed(
  () => requests.value?.filter(({ status }) => status === 'waiting').length ?? 0,
)

interface Notice {
  readonly approvals: string
  readonly state: number
}

let stop: (() => void) | undefined
let seen = ''

/** Follows the news. */
export function startNews(): void {
  stop ??= follow('/v1/notices', {
    onEvent({ data }) {
      // Sound: the gateway of the same build wrote it.
      const { approvals, state } = JSON.parse(data) as Notice
      if (approvals !== seen) void loadRequests()
      if (state !== stateIndex.value || freezes.value === undefined) void loadFreezes()
      seen = approvals
      stateIndex.value = state
    },
    onState: (state) => (connection.value = state),
  })
}

/** Forgets everything. */
export function stopNews(): void {
  stop?.()
  stop = undefined
  seen = ''
  requests.value = undefined
  freezes.value = undefined
  stateIndex.value = -1
  connection.value = 'connecting'
}

/** Loads the open requests again. */
export async function loadRequests(): Promise<void> {
  try {
    const { approvals } = await ask<{ readonly approvals: readonly ApprovalRequest[] }>('/v1/approvals')
    requests.value = approvals
  } catch {
    // The next notice asks again.
    seen = ''
  }
}

/** Loads the freezes again. */
async function loadFreezes(): Promise<void> {
  try {
    freezes.value = (await ask<{ readonly freezes: readonly Frozen[] }>('/v1/freeze')).freezes
  } catch {
    stateIndex.value = -1
  }
}
