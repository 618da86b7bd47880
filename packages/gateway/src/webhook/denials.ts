// Denied calls, gathered: a flood of denials becomes one message in a minute, with numbers.

import type { Decision } from '@tollgate/evidence'
import type { Kernel } from '@tollgate/kernel'
import { forADay } from './ledger-messages.ts'
import type { WebhookMessage } from './outbox.ts'
import { quoted } from './quoted.ts'

interface DenialOptions {
  readonly kernel: Kernel
  /** Milliseconds between two messages. */
  readonly between: number
  readonly put: (message: WebhookMessage) => void
}

/** Gathers denials. */
export interface Denials {
  add(id: string, denial: Decision): void
  /** Forgets what is not yet sent. */
  stop(): void
}

interface Row {
  readonly principal: string
  readonly tool: string
  readonly reason_code: string
  count: number
}

interface Group {
  /** The receipt of the first denial. */
  readonly id: string
  readonly since: string
  until: string
  count: number
  readonly rows: Map<string, Row>
}

// An agent can invent names of tools. Further rows are only counted.
const MAX_ROWS = 20
const MAX_LINES = 10

export function createDenials({ kernel, between, put }: DenialOptions): Denials {
  let group: Group | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let next = 0

  function flush(): void {
    timer = undefined
    if (group) put(denialMessage(kernel, group))
    group = undefined
    next = performance.now() + between
  }

  return {
    add(id, denial) {
      group ??= { id, since: denial.time, until: denial.time, count: 0, rows: new Map() }
      count(group, denial)
      // The first denial after a quiet time does not wait, except for its companions.
      timer ??= setTimeout(flush, Math.max(between / 60, next - performance.now())).unref()
    },
    stop() {
      clearTimeout(timer)
      group = undefined
    },
  }
}

function count(group: Group, { principal, tool, reason_code, time }: Decision): void {
  group.count++
  group.until = time
  const name = JSON.stringify([principal, tool, reason_code])
  const row = group.rows.get(name)
  if (row) row.count++
  else if (group.rows.size < MAX_ROWS) group.rows.set(name, { principal, tool, reason_code, count: 1 })
}

function denialMessage(kernel: Kernel, group: Group): WebhookMessage {
  const { id, since, until, count: total } = group
  const calls = [...group.rows.values()].sort((a, b) => b.count - a.count)
  return {
    id,
    type: 'call.denied',
    isWanted: forADay(kernel),
    read: () => ({
      data: {
        count: total,
        since,
        until,
        calls: calls.map((each) => ({ ...each })),
        others: othersIn(total, calls),
      },
      lines: [`${total === 1 ? 'A call was' : `${total} calls were`} denied.`, ...linesOf(total, calls)],
    }),
  }
}

function linesOf(total: number, calls: readonly Row[]): readonly string[] {
  const shown = calls.slice(0, MAX_LINES)
  const others = othersIn(total, shown)
  return [
    ...shown.map(
      ({ principal, tool, reason_code, count: times }) =>
        `${times} × ${quoted(tool)} of ${quoted(principal)}: ${reason_code}`,
    ),
    ...(others === 0 ? [] : [`${others} × other calls`]),
    'Look at them: `tollgate receipts list --verdict DENY`',
  ]
}

function othersIn(total: number, rows: readonly Row[]): number {
  return rows.reduce((left, row) => left - row.count, total)
}
