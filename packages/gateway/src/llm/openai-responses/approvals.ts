// Calls of servers that the provider runs once the agent approves. Who approves must have been handed the very call: an agent could
// write one of its own into the conversation, or change one, and approve that.

import { sha256Hex, type JsonObject } from '@tollgate/evidence'
import { idOf } from './text.ts'

/** The names under which it is remembered that an item was handed out. */
export function namesOf(item: JsonObject): readonly string[] {
  const id = idOf(item['id'])
  if (id === undefined) return []
  return item['type'] === 'mcp_approval_request' ? [id, nameOfCall(item)] : [id]
}

function nameOfCall({ id, server_label, name, arguments: args }: JsonObject): string {
  const call = [id, server_label, name, args].map((member) => member ?? null)
  return `approval:${sha256Hex(JSON.stringify(call))}`
}

/** What a request approves. */
export interface Approvals {
  /** Takes a call as the request repeats it. */
  repeat(item: JsonObject): void
  /** Takes an answer. */
  answer(item: JsonObject): void
  /** The names that must have been handed out. */
  needed(): readonly string[]
}

/** Nothing is approved yet. */
export function createApprovals(): Approvals {
  const repeated: { readonly id: string; readonly name: string }[] = []
  const approved = new Set<string>()
  return {
    repeat(item) {
      const id = idOf(item['id'])
      if (id !== undefined) repeated.push({ id, name: nameOfCall(item) })
    },
    answer({ approve, approval_request_id }) {
      // An approval of nothing that can be read is of a name that nobody was handed.
      if (approve !== false) approved.add(idOf(approval_request_id) ?? 'approval:')
    },
    needed() {
      const names = repeated.filter(({ id }) => approved.has(id)).map(({ name }) => name)
      return [...approved, ...names]
    },
  }
}
