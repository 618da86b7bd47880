// The model server of the LLM benchmark: `node bench/llm-upstream.mjs`. All it says is made before it is asked, so that hardly any of
// the time is its own. The name of the model says what the reply is:
//
//   text-N   N words, each event written by itself, as fast as they go
//   whole-N  the same, written at once
//   even-N   the same, a hundred events in a second
//   slow-N   the same, twenty events in a second
//   NAME     a call to the tool of that name

import { createServer } from 'node:net'
import { present } from './llm-ipc.mjs'

const PACES = { even: 10, slow: 50 }
// Written over with a number in every reply: no two calls may have one name.
const NUMBER = '000000000000'

const HEAD = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n',
)
const LAST = Buffer.from('0\r\n\r\n')

/** The first word is what a client looks for. */
function words(count) {
  return Array.from({ length: count }, (_, i) => (i === 0 ? 'First' : ` word${i % 100}`))
}

/** The pieces of an answer: each event framed as a chunk, the head with the first and the end with the last. */
function framed(events) {
  const pieces = events.map(({ type, ...data }) => {
    const text = typeof data.text === 'string' ? data.text : JSON.stringify(data.event)
    const body = Buffer.from(`${type === undefined ? '' : `event: ${type}\n`}data: ${text}\n\n`)
    return Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')])
  })
  const [first, ...others] = pieces
  return [Buffer.concat([HEAD, first]), ...others.slice(0, -1), Buffer.concat([others.at(-1), LAST])]
}

const CHAT = {
  id: 'chatcmpl-BenchBenchBenchBenchBenchBench',
  object: 'chat.completion.chunk',
  created: 1_760_000_000,
  model: 'bench',
  service_tier: 'default',
  system_fingerprint: 'fp_44709d6fcb',
}

function chat(deltas, reason) {
  const event = (delta, finish_reason = null) => ({
    event: {
      ...CHAT,
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
      obfuscation: 'aZ3kd9Q',
    },
  })
  const begun = event({ role: 'assistant', content: '', refusal: null })
  return framed([begun, ...deltas.map((delta) => event(delta)), event({}, reason), { text: '[DONE]' }])
}

function chatCall(name) {
  const id = `call_${NUMBER}`
  const pieces = ['{"', 'name', '":"', 'plan', ' of', ' the', ' week', '","', 'days', '":', '7', '}']
  const call = (part) => ({ tool_calls: [{ index: 0, ...part }] })
  return chat(
    [
      call({ id, type: 'function', function: { name, arguments: '' } }),
      ...pieces.map((piece) => call({ function: { arguments: piece } })),
    ],
    'tool_calls',
  )
}

function chatText(count) {
  return chat(
    words(count).map((content) => ({ content })),
    'stop',
  )
}

const RESPONSE = {
  id: 'resp_bench',
  object: 'response',
  created_at: 1_760_000_000,
  status: 'in_progress',
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  model: 'bench',
  output: [],
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  store: false,
  temperature: 1,
  text: { format: { type: 'text' }, verbosity: 'medium' },
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  truncation: 'disabled',
  usage: null,
  metadata: {},
}

function responsesText(count) {
  const text = words(count).join('')
  const part = { type: 'output_text', annotations: [], logprobs: [], text }
  const item = { id: 'msg_bench', type: 'message', status: 'completed', content: [part], role: 'assistant' }
  const place = { item_id: item.id, output_index: 0, content_index: 0 }
  const usage = {
    input_tokens: 82,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: count,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 82 + count,
  }
  const events = [
    { type: 'response.created', response: RESPONSE },
    { type: 'response.in_progress', response: RESPONSE },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...item, status: 'in_progress', content: [] },
    },
    { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
    ...words(count).map((delta) => ({
      type: 'response.output_text.delta',
      ...place,
      delta,
      logprobs: [],
      obfuscation: 'tR8sW2kZ',
    })),
    { type: 'response.output_text.done', ...place, text, logprobs: [] },
    { type: 'response.content_part.done', ...place, part },
    { type: 'response.output_item.done', output_index: 0, item },
    {
      type: 'response.completed',
      response: { ...RESPONSE, status: 'completed', output: [item], usage },
    },
  ]
  return framed(
    events.map((event, sequence_number) => ({ type: event.type, event: { ...event, sequence_number } })),
  )
}

function messagesText(count) {
  const usage = {
    input_tokens: 82,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: 1,
    service_tier: 'standard',
  }
  const message = {
    model: 'bench',
    id: 'msg_bench',
    type: 'message',
    role: 'assistant',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  }
  const events = [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'ping' },
    ...words(count).map((text) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text },
    })),
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: count },
    },
    { type: 'message_stop' },
  ]
  return framed(events.map((event) => ({ type: event.type, event })))
}

const MAKERS = {
  '/v1/chat/completions': chatText,
  '/v1/responses': responsesText,
  '/v1/messages': messagesText,
}
const made = new Map()

/** The reply of a model, which is made when it is asked for the first time. */
function replyOf(path, model) {
  const name = `${path} ${model}`
  const known = made.get(name)
  if (known) return known
  const [, how, count] = /^(text|whole|even|slow)-(\d+)$/.exec(model) ?? []
  const pieces = how === undefined ? chatCall(model) : MAKERS[path](Number(count))
  const reply = { how: how ?? 'call', pieces: how === 'whole' ? [Buffer.concat(pieces)] : pieces }
  made.set(name, reply)
  return reply
}

let calls = 0

/** The same pieces with a number of their own. */
function numbered(pieces) {
  const number = String(++calls).padStart(NUMBER.length, '0')
  return pieces.map((piece) => {
    const at = piece.indexOf(NUMBER)
    if (at < 0) return piece
    const copy = Buffer.from(piece)
    copy.write(number, at)
    return copy
  })
}

/** Streams that go at a pace, by their milliseconds from event to event. */
const paced = new Map(Object.values(PACES).map((ms) => [ms, new Set()]))
for (const [ms, steps] of paced) {
  setInterval(() => {
    for (const step of steps) step()
  }, ms)
}

function answer(socket, path, model) {
  const { how, pieces } = replyOf(path, model)
  if (how in PACES) playEvenly(socket, pieces, paced.get(PACES[how]))
  else play(socket, how === 'call' ? numbered(pieces) : pieces)
}

/** One event in each turn of the loop, so that the streams go side by side. */
function play(socket, pieces) {
  let at = 0
  const step = () => {
    if (socket.destroyed) return
    const goesOn = socket.write(pieces[at++])
    if (at === pieces.length) return
    if (goesOn) setImmediate(step)
    else socket.once('drain', step)
  }
  step()
}

function playEvenly(socket, pieces, steps) {
  let at = 0
  const step = () => {
    if (!socket.destroyed) socket.write(pieces[at++])
    if (socket.destroyed || at === pieces.length) steps.delete(step)
  }
  steps.add(step)
  step()
}

/** As much of HTTP as our own clients need: one request after the other, each with its length. */
const server = createServer({ noDelay: true }, (socket) => {
  let got = ''
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk) => {
    got += chunk.toString('latin1')
    const head = got.indexOf('\r\n\r\n')
    if (head < 0) return
    const [, length = '0'] = /\r\ncontent-length: *(\d+)/i.exec(got.slice(0, head)) ?? []
    if (got.length < head + 4 + Number(length)) return
    const path = got.slice(got.indexOf(' ') + 1, got.indexOf(' HTTP/'))
    const [, model = ''] = /"model":"([\w-]+)"/.exec(got.slice(head)) ?? []
    got = ''
    answer(socket, path, model)
  })
})
server.listen(0, '127.0.0.1', 1024, () => present({ url: `http://127.0.0.1:${server.address().port}` }))
