// The names that entries anchor. An anchor points to the newest entry about a name.

import { memoryOf, type Json, type JsonObject } from '@tollgate/evidence'

// Kinds whose newest entry is the anchor of its name.
export const ALONE = ['genesis', 'freeze', 'policy', 'pin', 'token', 'delegation'] as const
// Kinds after which a decision can become the anchor of the same name.
export const FOLLOWED = ['approval', 'session'] as const

/** The name that an entry anchors according to its kind. */
export function anchorOf(receipt: JsonObject): string | undefined {
  const of = (...fields: readonly string[]): string =>
    fields.map((field) => textIn(receipt[field])).join('\n')
  const names: Readonly<Record<string, () => string>> = {
    genesis: () => 'genesis',
    freeze: () => (receipt['scope'] === 'all' ? 'freeze\nall' : `freeze\n${of('scope', 'tenant', 'target')}`),
    policy: () => `policy\n${of('tenant')}`,
    pin: () => `pin\n${of('tool')}`,
    token: () => `token\n${of('token_hash')}`,
    delegation: () => `delegation\n${of('tenant', 'delegation_hash')}`,
    approval: () => `answer\n${of('decision')}`,
    session: () =>
      receipt['op'] === 'trust'
        ? `trust\n${of('tenant', 'principal')}`
        : `session\n${of('tenant', 'principal')}\n${memoryIn(receipt, receipt['session'])}`,
  }
  return names[textIn(receipt['kind'])]?.()
}

/** The session id that is used in record names. */
export function memoryIn({ principal }: JsonObject, session: Json | undefined): string {
  return memoryOf(textIn(principal), textIn(session))
}

/** A text member; empty if it is none. */
export function textIn(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** Whether a decision can become the anchor after an entry of this kind. */
export function isFollowed(kind: string): boolean {
  return FOLLOWED.some((each) => each === kind)
}
