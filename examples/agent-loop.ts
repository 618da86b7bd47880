// An agent in a loop, behind the gate: one call is allowed, one denied, one waits for a person. Afterwards the receipt of the
// last one is checked under a pinned key. The model is a script, so that this runs anywhere and always the same way.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createClient, ToolDenied, type ApprovalRequest } from '@tollgate/client'
import { environment } from './environment.ts'

const { url, token, approverToken, trustFile } = environment('TOLLGATE_APPROVER_TOKEN', 'TOLLGATE_TRUST')
const gate = createClient({ url, token, session: `agent-loop-${Date.now()}` })

// What really happened, for the checks at the end.
const ran: string[] = []
const receipts: string[] = []

/** The tools. Each is an ordinary function; the gate stands in front of it. */
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
    { onDenied: 'return', approval: { wait: 60_000, onWaiting: askSomebody } },
  ),
}

/** A person at the other end of the office, who says yes. */
function askSomebody({ id, tool, reason_code }: ApprovalRequest): void {
  console.log(`  waits for a person: ${tool} (${reason_code})`)
  const person = createClient({ url, token: approverToken })
  void person.approvals.approve(id)
}

/** What a model may wish for. */
type Wish =
  | { readonly tool: 'read_note' | 'delete_note'; readonly args: { readonly name: string } }
  | { readonly tool: 'post_note'; readonly args: { readonly url: string; readonly text: string } }

/** The model: it would be told the answers so far, and say what it wants next. This one follows a script. */
const script: readonly Wish[] = [
  { tool: 'read_note', args: { name: 'todo' } },
  { tool: 'delete_note', args: { name: 'todo' } },
  { tool: 'post_note', args: { url: 'https://partner.example/notes', text: 'buy milk' } },
]
const model = (answers: readonly unknown[]): Wish | undefined => script[answers.length]

const answers: unknown[] = []
for (let wish = model(answers); wish; wish = model(answers)) {
  const answer = await (wish.tool === 'post_note' ? tools.post_note(wish.args) : tools[wish.tool](wish.args))
  answers.push(answer)
  console.log(`${wish.tool}: ${answer instanceof ToolDenied ? `denied, ${answer.message}` : answer}`)
}

assert.deepEqual(ran, ['read_note', 'post_note'])
assert.equal(answers[0], 'todo: buy milk')
assert.ok(answers[1] instanceof ToolDenied)
assert.equal(answers[1].reason_code, 'POLICY_VIOLATION')
assert.equal(answers[2], 'posted to https://partner.example/notes')

// The trust file came from the operator, not from the gateway that is being checked.
const [receipt = ''] = receipts
const proven = await gate.receipts.verify(receipt, await readFile(trustFile, 'utf8'))
assert.equal(proven.signature, 'checked')
assert.equal(proven.receipt.kind, 'decision')
assert.equal(proven.receipt.reason_code, 'APPROVAL_GRANTED')
console.log(`receipt ${proven.id.slice(0, 16)}… is entry ${proven.index} of ${proven.receipt.ledger}, proven`)
