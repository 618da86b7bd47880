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
export class Approvals {
  readonly #repeated: { readonly id: string; readonly name: string }[] = []
  readonly #answered = new Set<string>()
  readonly #approved = new Set<string>()
  readonly #pending = new Set<string>()

  /** Takes a call that the request repeats. */
  repeat(item: JsonObject): void {
    const id = idOf(item['id'])
    if (id !== undefined) this.#repeated.push({ id, name: nameOfCall(item) })
  }

  /** Takes an answer to an approval request. @throws Refused if it is the second one. */
  answer({ approve, approval_request_id }: JsonObject): void {
    // An unreadable id becomes a name that was never issued.
    const id = idOf(approval_request_id) ?? 'approval:'
    if (this.#answered.has(id)) throw ambiguous(ANSWERED_TWICE, 'input')
    this.#answered.add(id)
    if (approve === false) return
    this.#approved.add(id)
    this.#pending.add(id)
  }

  /** Takes a call that has run. Its approval is not used again. */
  run({ approval_request_id }: JsonObject): void {
    const id = idOf(approval_request_id)
    if (id !== undefined) this.#pending.delete(id)
  }

  /** The names that must have been issued. */
  needed(): readonly string[] {
    const repeated = this.#repeated.filter(({ id }) => this.#approved.has(id))
    return [...this.#approved, ...repeated.map(({ name }) => name)]
  }

  /** The names that must have been issued and not used. */
  spent(): readonly string[] {
    return [...this.#pending].map(nameOfUse)
  }
}
