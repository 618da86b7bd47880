// Subscribes to changes of a modern server: one request that stays open, replaced when the subscription changes.

import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '@tollgate/evidence'
import { perform, type ServerChannel } from './channel.ts'
import { withMeta } from './legacy.ts'
import type { UpstreamAnswer, UpstreamEvents, WantedChanges } from './upstream.ts'

interface Listening {
  /** Replaces the earlier subscription. */
  want(wanted: WantedChanges): void
  stop(): void
}

/** Milliseconds before an ended stream is requested again. Doubled each time. */
const FIRST_PAUSE = 1000
const MAX_PAUSE = 30_000

/** `onLost` is called whenever wanted changes are no longer reported. */
export function createListening(
  channel: ServerChannel,
  sender: JsonObject,
  events: Pick<UpstreamEvents, 'onNotification' | 'isApproved'>,
  onLost: () => void,
): Listening {
  let current: AbortController | undefined
  let key = '{}'

  async function keepOpen(wanted: WantedChanges, over: AbortSignal): Promise<void> {
    const isOver = (): boolean => over.aborted
    let notifications = filterOf(wanted)
    for (let pause = FIRST_PAUSE; !isOver(); pause = Math.min(2 * pause, MAX_PAUSE)) {
      const answer = await open(notifications, over).catch(() => undefined)
      if (!isOver()) onLost()
      // The server refused. Asking again would get the same answer.
      if (answer?.ok === false) return
      await sleep(pause, undefined, { signal: over, ref: false }).catch(() => undefined)
      if (!isOver()) notifications = await filterAgain(wanted)
    }
  }

  /** Another server may answer the next stream. It learns the subscribed resources only if it is approved. */
  async function filterAgain(wanted: WantedChanges): Promise<JsonObject> {
    const mayWatch = wanted.uris.length > 0 && (await events.isApproved().catch(() => false))
    return filterOf(mayWatch ? wanted : { ...wanted, uris: [] })
  }

  function open(notifications: JsonObject, signal: AbortSignal): Promise<UpstreamAnswer> {
    return perform(channel, {
      method: 'subscriptions/listen',
      params: () => withMeta({ notifications }, sender),
      exchange: { signal },
      deadline: Infinity,
      onChange: (method, params) => events.onNotification(method, params),
    })
  }

  return {
    want(wanted) {
      const notifications = filterOf(wanted)
      if (JSON.stringify(notifications) === key) return
      key = JSON.stringify(notifications)
      const before = current
      current = new AbortController()
      if (key !== '{}') void keepOpen(wanted, current.signal)
      // Ends the old stream only now, so that no change is missed.
      before?.abort()
    },
    stop() {
      key = ''
      current?.abort()
    },
  }
}

/** The changes as a member of `subscriptions/listen`. */
export function filterOf({ tools, prompts, resources, uris }: WantedChanges): JsonObject {
  return {
    ...(tools && { toolsListChanged: true }),
    ...(prompts && { promptsListChanged: true }),
    ...(resources && { resourcesListChanged: true }),
    ...(uris.length > 0 && { resourceSubscriptions: [...new Set(uris)] }),
  }
}
