// LangChain.js with guarded tools. A denial becomes the answer of the tool, so that the model can read it and continue.

import assert from 'node:assert/strict'
import { tool, type ToolRunnableConfig } from '@langchain/core/tools'
import { createClient, ToolDenied } from '@tollgate/client'
import { z } from 'zod'
import { environment } from './environment.ts'

const { url, token } = environment()
const gate = createClient({ url, token, session: `langchain-${Date.now()}` })
const ran: string[] = []

const read = gate.guard('demo/read_note', ({ name }: { name: string }) => {
  ran.push('read_note')
  return `${name}: buy milk`
})

const remove = gate.guard(
  'demo/delete_note',
  ({ name }: { name: string }) => {
    ran.push('delete_note')
    return `${name} is gone`
  },
  { onDenied: 'return' },
)

const schema = z.object({ name: z.string() })

const readNote = tool(
  (input: { name: string }, config: ToolRunnableConfig) => read(input, { signal: config.signal }),
  {
    name: 'read_note',
    description: 'Reads a note.',
    schema,
  },
)

const deleteNote = tool(
  async (input: { name: string }, config: ToolRunnableConfig) => {
    const answer = await remove(input, { signal: config.signal })
    return answer instanceof ToolDenied ? JSON.stringify(answer) : answer
  },
  { name: 'delete_note', description: 'Deletes a note.', schema },
)

// Like the executor of an agent: a tool call in, a tool message out.
const message = await readNote.invoke({
  type: 'tool_call',
  id: 'call-1',
  name: 'read_note',
  args: { name: 'todo' },
})
assert.equal(message.content, 'todo: buy milk')
console.log(`read_note: ${message.content}`)

const denial = JSON.parse(await deleteNote.invoke({ name: 'todo' })) as {
  denied: boolean
  reason_code: string
}
assert.equal(denial.denied, true)
assert.equal(denial.reason_code, 'POLICY_VIOLATION')
assert.deepEqual(ran, ['read_note'])
console.log(`delete_note: denied, ${denial.reason_code}`)
