// A guarded agent loop: one call is allowed, one denied, one escalated and approved. Then it verifies the last receipt under a pinned
// key. The model is a script, so every run is the same.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createClient, ToolDenied, type ApprovalRequest } from '@tollgate/client'
import { environment } from './environment.ts'

const { url, token, approverToken, trustFile } = environment('TOLLGATE_APPROVER_TOKEN', 'TOLLGATE_TRUST')
const gate = createClient({ url, token, session: `agent-loop-${Date.now()}` })

// The tools that ran, for the checks at the end.
const ran: string[] = []
const receipts: string[] = []

/** The guarded tools. */
const tools = {
  read_note: gate.guard(
    'demo/read_note',
    ({ name }: { name: string }) => {
      ran.push('read_note')
      return `${name}: buy milk`
    },
    { onDenied: 'return' },
  ),
  delete_note: gate.guard(
    'demo/delete_note',
    ({ name }: { name: string }) => {
      ran.push('delete_note')
      return `${name} is gone`
    },
    { onDenied: 'return' },
  ),
  post_note: gate.guard(
    'demo/post_note',
    ({ url: to }: { url: string; text: string }, { receipt }) => {
      ran.push('post_note')
      receipts.push(receipt)
      return `posted to ${to}`
    },
    { onDenied: 'return', approval: { wait: 60_000, onWaiting: approve } },
  ),
}

/** Approves the call, in place of a person. */
function approve({ id, tool, reason_code }: ApprovalRequest): void {
  console.log(`  waits for a person: ${tool} (${reason_code})`)
  const person = createClient({ url, token: approverToken })
  void person.approvals.approve(id)
}

/** A call that the model proposes. */
type Proposal =
  | { readonly tool: 'read_note' | 'delete_note'; readonly args: { readonly name: string } }
  | { readonly tool: 'post_note'; readonly args: { readonly url: string; readonly text: string } }

/** The model: it gets the answers so far and proposes the next call. This one follows a script. */
const script: readonly Proposal[] = [
  { tool: 'read_note', args: { name: 'todo' } },
  { tool: 'delete_note', args: { name: 'todo' } },
  { tool: 'post_note', args: { url: 'https://partner.example/notes', text: 'buy milk' } },
]
const model = (answers: readonly unknown[]): Proposal | undefined => script[answers.length]

const answers: unknown[] = []
for (let call = model(answers); call; call = model(answers)) {
  const answer = await (call.tool === 'post_note' ? tools.post_note(call.args) : tools[call.tool](call.args))
  answers.push(answer)
  console.log(`${call.tool}: ${answer instanceof ToolDenied ? `denied, ${answer.message}` : answer}`)
}

assert.deepEqual(ran, ['read_note', 'post_note'])
assert.equal(answers[0], 'todo: buy milk')
assert.ok(answers[1] instanceof ToolDenied)
assert.equal(answers[1].reason_code, 'POLICY_VIOLATION')
assert.equal(answers[2], 'posted to https://partner.example/notes')

// The trust file comes from the operator, not from the gateway that is checked.
const [receipt = ''] = receipts
const proven = await gate.receipts.verify(receipt, await readFile(trustFile, 'utf8'))
assert.equal(proven.signature, 'checked')
assert.equal(proven.receipt.kind, 'decision')
assert.equal(proven.receipt.reason_code, 'APPROVAL_GRANTED')
console.log(`receipt ${proven.id.slice(0, 16)}… is entry ${proven.index} of ${proven.receipt.ledger}, proven`)
