// The Vercel AI SDK with guarded tools: `execute` is a guarded function. The model is the mock of the SDK.

import assert from 'node:assert/strict'
import { createClient, ToolDenied } from '@tollgate/client'
import { generateText, stepCountIs, tool } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { z } from 'zod'
import { environment } from './environment.ts'

const { url, token } = environment()
const gate = createClient({ url, token, session: `vercel-ai-${Date.now()}` })
const ran: string[] = []

const readNote = gate.guard('demo/read_note', ({ name }: { name: string }) => {
  ran.push('read_note')
  return `${name}: buy milk`
})

const deleteNote = gate.guard('demo/delete_note', ({ name }: { name: string }) => {
  ran.push('delete_note')
  return `${name} is gone`
})

const name = z.object({ name: z.string() })

const tools = {
  read_note: tool({
    description: 'Reads a note.',
    inputSchema: name,
    // With the signal of the SDK: an aborted generation runs no tool.
    execute: (input, { abortSignal }) => readNote(input, { signal: abortSignal }),
  }),
  delete_note: tool({
    description: 'Deletes a note.',
    inputSchema: name,
    execute: (input, { abortSignal }) => deleteNote(input, { signal: abortSignal }),
  }),
}

const NO_TOKENS = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
}

/** Proposes one call after the other, then ends with a text. */
const proposals = ['read_note', 'delete_note']
const model = new MockLanguageModelV3({
  doGenerate() {
    const toolName = proposals.shift()
    const content = toolName
      ? ({ type: 'tool-call', toolCallId: toolName, toolName, input: '{"name":"todo"}' } as const)
      : ({ type: 'text', text: 'done' } as const)
    const finishReason = { unified: toolName ? 'tool-calls' : 'stop', raw: undefined } as const
    return Promise.resolve({ content: [content], finishReason, usage: NO_TOKENS, warnings: [] })
  },
})

const { text, steps } = await generateText({
  model,
  tools,
  stopWhen: stepCountIs(5),
  prompt: 'Read the note called todo, then delete it.',
})

const parts = steps.flatMap(({ content }) => content)
const results = parts.filter((part) => part.type === 'tool-result')
const errors = parts.filter((part) => part.type === 'tool-error')
assert.equal(text, 'done')
assert.deepEqual(ran, ['read_note'])
assert.deepEqual(
  results.map(({ output }) => output),
  ['todo: buy milk'],
)
// The SDK passes errors of a tool to the model. The denial has a reason and a remedy.
assert.equal(errors.length, 1)
const denial = errors[0]?.error
assert.ok(denial instanceof ToolDenied)
assert.equal(denial.reason_code, 'POLICY_VIOLATION')
console.log('read_note:', results[0]?.output)
console.log(`delete_note: denied, ${denial.message} Receipt ${denial.receipt}`)
