// Calls of servers that the provider runs once the agent approves. Who approves must have been handed the very call: an agent could
// write one of its own into the conversation, or change one, and approve that.

import { sha256Hex, type Json, type JsonObject } from '@tollgate/evidence'
import { Refused } from '../dialect.ts'
import { idOf } from './text.ts'

/** The names under which it is remembered that an item was handed out. */
export function namesOf(item: JsonObject): readonly string[] {
  const id = idOf(item['id'])
  if (id === undefined) return []
  return item['type'] === 'mcp_approval_request' ? [id, nameOfCall(item), nameOfUse(id)] : [id]
}

function nameOfCall({ id, server_label, name, arguments: args }: JsonObject): string {
  return hashed([id, server_label, name, args].map((member) => member ?? null))
}

/** An approval has one name for its one use, however the request tells of the call: by itself, by its id, or not at all. */
function nameOfUse(id: string): string {
  return hashed(['use', id])
}

function hashed(of: readonly Json[]): string {
  return `approval:${sha256Hex(JSON.stringify(of))}`
}

/** What a request approves. */
export interface Approvals {
  /** Takes a call as the request repeats it. */
  repeat(item: JsonObject): void
  /** Takes an answer. @throws Refused if there was one already. */
  answer(item: JsonObject): void
  /** Takes a call that has run. What it was approved by before is not approved anew. */
  run(item: JsonObject): void
  /** The names that must have been handed out. */
  needed(): readonly string[]
  /** The names that must have been handed out, and must not have been used. */
  spent(): readonly string[]
}

/** Nothing is approved yet. */
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
      // An approval of nothing that can be read is of a name that nobody was handed.
      const id = idOf(approval_request_id) ?? 'approval:'
      if (answered.has(id)) throw answeredTwice()
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

function answeredTwice(): Refused {
  const message = 'a call is approved or refused twice; send one `mcp_approval_response` for each'
  return new Refused(400, 'AMBIGUOUS_INPUT', message, 'input')
}
