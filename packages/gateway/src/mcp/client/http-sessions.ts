// Conversations that are kept between requests, and closed when idle: sessions, and the conversations of callers without one.

import { performance } from 'node:perf_hooks'
import type { Conversation } from '../conversation.ts'
import type { KnownCaller } from '../../tokens.ts'

export interface KeptConversation {
  readonly id: string
  readonly owner: string
  /** The path it was begun on. */
  readonly path: string
  readonly conversation: Conversation
  /** Open requests and streams. */
  busy: number
  /** When the last one ended. */
  since: number
  /** Whether it has its stream for messages that belong to no request. */
  listening: boolean
}

export class KeptConversations {
  readonly #idle: number
  /** Ordered by creation. */
  readonly #all = new Map<string, KeptConversation>()

  /** They are closed after `idle` milliseconds without a request. */
  constructor(idle: number) {
    this.#idle = idle
  }

  add(id: string, { owner }: KnownCaller, path: string, conversation: Conversation): KeptConversation {
    const kept = { id, owner, path, conversation, busy: 0, since: performance.now(), listening: false }
    this.#all.set(id, kept)
    return kept
  }

  get(id: string): KeptConversation | undefined {
    return this.#all.get(id)
  }

  all(): readonly KeptConversation[] {
    return [...this.#all.values()]
  }

  async end({ id, conversation }: KeptConversation): Promise<void> {
    if (this.#all.delete(id)) await conversation.close()
  }

  /** Ends idle ones. */
  look(): void {
    const before = performance.now() - this.#idle
    for (const kept of this.all()) if (kept.busy === 0 && kept.since <= before) void this.end(kept)
  }

  async close(): Promise<void> {
    await Promise.all(this.all().map((kept) => this.end(kept)))
  }
}
