// Tools in quarantine: MCP servers offer them, and a person has not approved this definition. Other abilities of a server count only if
// an earlier definition was approved: many people leave them unapproved on purpose.

import { sha256Hex } from '@tollgate/evidence'
import type { Kernel } from '@tollgate/kernel'
import { Recent } from '../recent.ts'
import { forADay } from './ledger-messages.ts'
import type { WebhookMessage } from './outbox.ts'
import { quoted } from './quoted.ts'

interface Unapproved {
  readonly name: string
  readonly hash: string
  /** Whether a person approved an earlier definition. */
  readonly changed: boolean
}

const MAX_REMEMBERED = 10_000
const MAX_NAMES = 20

/**
 * Returns a function that returns one message for each server with new tools in quarantine. A server that changes its tools all
 * the time causes one message in `between` milliseconds.
 */
export function createQuarantineWatch(kernel: Kernel, between: number): () => readonly WebhookMessage[] {
  const sent = new Recent<true>(MAX_REMEMBERED)
  const dueAfter = new Recent<number>(MAX_REMEMBERED)
  let seen: string | undefined
  return () => {
    const { changes, offerChanges } = kernel.catalogue
    const now = `${changes} ${offerChanges}`
    if (seen === now) return []
    const fresh = quarantined(kernel).filter((offer) => !sent.has(identityOf(offer)))
    const servers = [...new Set(fresh.map(serverOf))]
    const due = servers.filter((server) => performance.now() >= (dueAfter.get(server) ?? 0))
    // The others are due later, so there must be another look.
    if (due.length === servers.length) seen = now
    return due.map((server) => {
      const offers = fresh.filter((offer) => serverOf(offer) === server)
      for (const offer of offers) sent.set(identityOf(offer), true)
      dueAfter.set(server, performance.now() + between)
      return quarantineMessage(kernel, server, offers)
    })
  }
}

function identityOf({ name, hash }: Unapproved): string {
  return `${name}\n${hash}`
}

function quarantined({ catalogue }: Kernel): readonly Unapproved[] {
  return catalogue.names().flatMap((name) => {
    const hash = catalogue.offered(name)?.hash
    const pinned = catalogue.pinned(name)
    const changed = pinned !== undefined
    const waits = hash !== pinned && (changed || isTool(name))
    return hash !== undefined && waits ? [{ name, hash, changed }] : []
  })
}

function isTool(name: string): boolean {
  return /^[^/:]*\//.test(name)
}

/** The names of a server's tools begin with its name and a slash; those of its other abilities with its name and a colon. */
function serverOf({ name }: Unapproved): string {
  return /^[^/:]*/.exec(name)?.[0] ?? ''
}

function quarantineMessage(kernel: Kernel, server: string, all: readonly Unapproved[]): WebhookMessage {
  const changed = all.filter((each) => each.changed).length
  const names = all.slice(0, MAX_NAMES).map(({ name }) => name)
  const others = all.length - names.length
  return {
    // After a restart the same offer has the same id.
    id: sha256Hex(`quarantine\n${all.map(identityOf).join('\n')}`),
    type: 'tools.quarantined',
    isWanted: forADay(kernel),
    read: () => ({
      data: { server, count: all.length, changed, tools: names, review: `tollgate mcp approve ${server}` },
      lines: [
        `The MCP server ${quoted(server)} offers tools that wait for your review: ${all.length}${changed === 0 ? '' : `, changed since an approval: ${changed}`}.`,
        `${names.map(quoted).join(', ')}${others === 0 ? '' : ` and ${others} more`}`,
        `Review them: \`tollgate mcp approve ${server}\``,
      ],
    }),
  }
}
