// Approvals of MCP calls at the provider. The approved call must be exactly one that this door issued, because an agent could
// invent or change a call and approve it.

import { sha256Hex, type Json, type JsonObject } from '@tollgate/evidence'
import { ambiguous } from '../dialect.ts'
import { idOf } from './text.ts'

/** The names under which an issued item is remembered. */
export function namesOf(item: JsonObject): readonly string[] {
  const id = idOf(item['id'])
  if (id === undefined) return []
  return item['type'] === 'mcp_approval_request' ? [id, nameOfCall(item), nameOfUse(id)] : [id]
}

function nameOfCall({ id, server_label, name, arguments: args }: JsonObject): string {
  return hashed([id, server_label, name, args].map((member) => member ?? null))
}

/** One name for the single use of an approval, however the request refers to the call. */
function nameOfUse(id: string): string {
  return hashed(['use', id])
}

function hashed(of: readonly Json[]): string {
  return `approval:${sha256Hex(JSON.stringify(of))}`
}

const ANSWERED_TWICE = 'a call is answered twice; send one `mcp_approval_response` for each call'

/** The approvals in a request. */
export interface Approvals {
  /** Takes a call that the request repeats. */
  repeat(item: JsonObject): void
  /** Takes an answer to an approval request. @throws Refused if it is the second one. */
  answer(item: JsonObject): void
  /** Takes a call that has run. Its approval is not used again. */
  run(item: JsonObject): void
  /** The names that must have been issued. */
  needed(): readonly string[]
  /** The names that must have been issued and not used. */
  spent(): readonly string[]
}

export function createApprovals(): Approvals {
  const repeated: { readonly id: string; readonly name: string }[] = []
  const answered = new Set<string>()
  const approved = new Set<string>()
  const pending = new Set<string>()
  return {
    repeat(item) {
      const id = idOf(item['id'])
      if (id !== undefined) repeated.push({ id, name: nameOfCall(item) })
    },
    answer({ approve, approval_request_id }) {
      // An unreadable id becomes a name that was never issued.
      const id = idOf(approval_request_id) ?? 'approval:'
      if (answered.has(id)) throw ambiguous(ANSWERED_TWICE, 'input')
      answered.add(id)
      if (approve === false) return
      approved.add(id)
      pending.add(id)
    },
    run({ approval_request_id }) {
      const id = idOf(approval_request_id)
      if (id !== undefined) pending.delete(id)
    },
    needed() {
      const names = repeated.filter(({ id }) => approved.has(id)).map(({ name }) => name)
      return [...approved, ...names]
    },
    spent: () => [...pending].map(nameOfUse),
  }
}
