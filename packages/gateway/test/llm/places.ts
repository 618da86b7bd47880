// Every place of the three dialects where a call or something like one can appear, and the required handling.

import { randomInt } from 'node:crypto'
import type { Json, JsonObject } from '@tollgate/evidence'
import { formatSse } from '../../src/sse.ts'

export type DialectName = 'chat' | 'responses' | 'messages' | 'gemini'

/**
 * `denied`: it is proposed, and the canary does not leave. `left out`: the canary does not leave, and the rest does. `garbled`:
 * the reply is refused. `cut`: it stops before its end. `words`: the place holds any text, and no client takes it for a call.
 */
export type Expectation = 'denied' | 'left out' | 'garbled' | 'cut' | 'words'

/** One place. A streamed reply is a list of events, or of texts on the wire. */
export type Row = {
  readonly dialect: DialectName
  readonly place: string
  readonly expect: Expectation
  /** The type of item, block, call or event. */
  readonly covers?: string | undefined
} & (
  | { readonly streamed: false; readonly reply: Json }
  | { readonly streamed: true; readonly reply: readonly (JsonObject | string)[] }
)

const LETTERS = 'QXZJK'

/** Letters that occur nowhere else: any four in a row are a leak. */
export const CANARY: string = Array.from({ length: 24 }, () => LETTERS[randomInt(LETTERS.length)]).join('')
/** Arguments with the canary, as a value and as the model writes them. */
export const INPUT: JsonObject = { to: CANARY }
export const ARGS: string = JSON.stringify(INPUT)

/** Repeats a member in a JSON text. Readers differ in which of the two they use. */
function twice(value: Json, first: string, second: string): string {
  return JSON.stringify(value).replace(JSON.stringify(first), second)
}

/** The JSON escape of each character. */
const letters = (text: string): string[] => text.split('')
const tokens = (text: string): JsonObject[] =>
  letters(text).map((token) => ({ token, logprob: -0.1, bytes: null, top_logprobs: [] }))

// Chat Completions.

const CHAT_HEAD = { id: 'chatcmpl-1', created: 1_760_000_000, model: 'm' }
const USAGE = { prompt_tokens: 8, completion_tokens: 4, total_tokens: 12 }

const functionCall = (more: JsonObject = {}, part: JsonObject = {}): JsonObject => ({
  id: 'call_1',
  type: 'function',
  function: { name: 'send_mail', arguments: ARGS, ...part },
  ...more,
})
const customCall = (more: JsonObject = {}): JsonObject => ({
  id: 'call_1',
  type: 'custom',
  custom: { name: 'write', input: CANARY },
  ...more,
})

/** The signature that some models want back with their calls. */
const SIGNED: JsonObject = { google: { thought_signature: CANARY, arguments: ARGS }, note: CANARY }

const saying = (message: JsonObject, more: JsonObject = {}): JsonObject => ({
  index: 0,
  message: { role: 'assistant', content: 'Well.', refusal: null, ...message },
  logprobs: null,
  finish_reason: 'stop',
  ...more,
})
const completion = (choices: Json, more: JsonObject = {}): JsonObject => ({
  ...CHAT_HEAD,
  object: 'chat.completion',
  choices,
  usage: USAGE,
  ...more,
})
const said = (message: JsonObject, more: JsonObject = {}): JsonObject => completion([saying(message, more)])
const calls = (...entries: readonly Json[]): JsonObject =>
  said({ content: null, tool_calls: entries }, { finish_reason: 'tool_calls' })

const CHAT_WHOLE: readonly (readonly [place: string, expect: Expectation, reply: Json, covers?: string])[] = [
  ['message.tool_calls[].function', 'denied', calls(functionCall()), 'function'],
  ['message.tool_calls[].function of an undeclared tool', 'denied', calls(functionCall({}, { name: 'no' }))],
  ['message.tool_calls[].custom', 'denied', calls(customCall()), 'custom'],
  [
    'message.tool_calls[] of an unknown type',
    'denied',
    calls({ id: 'a', type: 'shell', shell: { run: ARGS } }),
  ],
  ['message.tool_calls[] without a type', 'denied', calls(functionCall({ type: null }))],
  ['message.tool_calls[] of a type that is no text', 'denied', calls(functionCall({ type: 7 }))],
  [
    'message.tool_calls[] with both a function and a custom',
    'denied',
    calls({ ...customCall(), ...functionCall() }),
  ],
  ['message.tool_calls[] with nothing but unknown members', 'denied', calls({ id: 'a', input: INPUT })],
  ['message.tool_calls[].arguments, beside the function', 'denied', calls(functionCall({ arguments: ARGS }))],
  [
    'message.tool_calls[].function.input',
    'denied',
    calls(functionCall({}, { arguments: '{}', input: ARGS })),
  ],
  [
    'message.tool_calls[].function.arguments as a value',
    'denied',
    calls(functionCall({}, { arguments: INPUT })),
  ],
  ['message.tool_calls[].function without a name', 'denied', calls(functionCall({}, { name: null }))],
  ['message.tool_calls[].function.name that holds them', 'denied', calls(functionCall({}, { name: ARGS }))],
  ['message.tool_calls[].id that holds them', 'denied', calls(functionCall({ id: ARGS }))],
  ['message.tool_calls[].id that is no text', 'denied', calls(functionCall({ id: [ARGS] }))],
  ['message.tool_calls[].extra_content', 'denied', calls(functionCall({ extra_content: SIGNED }))],
  ['message.tool_calls[], two of one id', 'denied', calls(functionCall(), functionCall())],
  [
    'message.tool_calls[] while the reply was cut',
    'denied',
    said({ tool_calls: [functionCall({}, { arguments: ARGS.slice(0, -2) })] }, { finish_reason: 'length' }),
  ],
  [
    'message.tool_calls[].custom while the reply was cut',
    'denied',
    said({ tool_calls: [customCall()] }, { finish_reason: 'length' }),
  ],
  ['message.tool_calls that is no list', 'garbled', said({ tool_calls: functionCall() })],
  ['message.tool_calls that is a text', 'garbled', said({ tool_calls: JSON.stringify([functionCall()]) })],
  ['message.tool_calls[][]', 'garbled', calls([functionCall()])],
  ['message.tool_calls[] that is a text', 'garbled', calls(ARGS)],
  [
    'message.tool_calls, twice',
    'left out',
    twice(said({ tool_calls: [functionCall()], x: 'HERE' }), 'HERE', '0,"tool_calls":[]'),
  ],
  [
    'message.tool_calls[].function.arguments, twice',
    'denied',
    twice(calls(functionCall({}, { x: 'HERE' })), 'HERE', '0,"arguments":"{}"'),
  ],
  ['message.function_call', 'denied', said({ function_call: { name: 'send_mail', arguments: ARGS } })],
  ['message.function_call with a value', 'denied', said({ function_call: { name: 'x', arguments: INPUT } })],
  ['message.function_call that is a text', 'garbled', said({ function_call: ARGS })],
  [
    'the second choice',
    'denied',
    completion([saying({}), saying({ tool_calls: [functionCall()] }, { index: 1 })]),
  ],
  [
    'message.content[] of the kind tool_use',
    'denied',
    said({ content: [{ type: 'tool_use', input: INPUT }] }),
  ],
  ['message.content[] of an unknown kind', 'denied', said({ content: [{ type: 'act', text: ARGS }] })],
  ['message.content[] without a type', 'denied', said({ content: [{ input: INPUT }] })],
  [
    'message.content[] that is a text part of no text',
    'denied',
    said({ content: [{ type: 'text', text: INPUT }] }),
  ],
  [
    'message.content[].input of a text',
    'left out',
    said({ content: [{ type: 'text', text: 'a', input: INPUT }] }),
  ],
  [
    'message.content[].thinking[] of an unknown kind',
    'denied',
    said({ content: [{ type: 'thinking', thinking: [{ type: 'tool_use', text: ARGS }] }] }),
  ],
  ['message.content that is an object', 'garbled', said({ content: { type: 'tool_use', input: INPUT } })],
  ['message.content[] that is a text', 'garbled', said({ content: [ARGS] })],
  ['choice.tool_calls', 'left out', completion([saying({}, { tool_calls: [functionCall()] })])],
  [
    'choice.delta.tool_calls of a whole reply',
    'left out',
    completion([saying({}, { delta: { tool_calls: [functionCall()] } })]),
  ],
  ['choice.text', 'left out', completion([saying({}, { text: ARGS })])],
  ['tool_calls, beside the choices', 'left out', completion([saying({})], { tool_calls: [functionCall()] })],
  ['output, as Responses has it', 'left out', completion([saying({})], { output: [functionCall()] })],
  ['message.audio.tool_calls', 'left out', said({ audio: { id: 'a', tool_calls: [functionCall()] } })],
  ['message.audio.transcript that is no text', 'left out', said({ audio: { id: 'a', transcript: INPUT } })],
  [
    'message.reasoning_details',
    'left out',
    said({ reasoning_details: [{ type: 'reasoning.text', text: ARGS }] }),
  ],
  ['message.reasoning that is no text', 'left out', said({ reasoning: { tool_calls: [functionCall()] } })],
  ['message.refusal that is no text', 'left out', said({ refusal: { arguments: ARGS } })],
  [
    'message.provider_specific_fields',
    'left out',
    said({ provider_specific_fields: { call: functionCall() } }),
  ],
  ['message.parsed', 'left out', said({ parsed: INPUT })],
  ['message.role', 'left out', said({ role: CANARY })],
  [
    'message.__proto__',
    'left out',
    twice(said({ x: 'HERE' }), 'HERE', `0,"__proto__":{"tool_calls":[${JSON.stringify(functionCall())}]}`),
  ],
  [
    'message.annotations[] of an unknown kind',
    'left out',
    said({ annotations: [{ type: 'call', call: functionCall() }] }),
  ],
  [
    'message.annotations[] of a search that was not allowed',
    'left out',
    said({ annotations: [{ type: 'url_citation', url_citation: { url: CANARY, title: CANARY } }] }),
  ],
  ['choice.logprobs.content of other words', 'left out', said({}, { logprobs: { content: tokens(ARGS) } })],
  [
    'choice.logprobs.content of no words',
    'left out',
    said({ content: null }, { logprobs: { content: tokens(ARGS) } }),
  ],
  ['choice.logprobs.refusal of no words', 'left out', said({}, { logprobs: { refusal: tokens(ARGS) } })],
  ['choice.logprobs.tool_calls', 'left out', said({}, { logprobs: { tool_calls: tokens(ARGS) } })],
  ['choice.finish_reason', 'garbled', said({}, { finish_reason: ARGS })],
  ['object', 'left out', completion([saying({})], { object: CANARY })],
  ['usage, a word in it', 'left out', completion([saying({})], { usage: { ...USAGE, note: CANARY } })],
  ['usage, a list in it', 'left out', completion([saying({})], { usage: { ...USAGE, notes: [CANARY] } })],
  ['usage, a word within', 'left out', completion([saying({})], { usage: { details: { note: CANARY } } })],
  ['usage, a name in it', 'left out', completion([saying({})], { usage: { details: { [CANARY]: 1 } } })],
  ['usage that is a text', 'left out', completion([saying({})], { usage: CANARY })],
  ['moderation, a text in it', 'left out', completion([saying({})], { moderation: { note: ARGS } })],
  ['moderation, a word in it', 'left out', completion([saying({})], { moderation: { note: CANARY } })],
  [
    'error.failed_generation, beside the choices',
    'left out',
    completion([saying({})], { error: { failed_generation: ARGS } }),
  ],
  [
    'error.failed_generation, and no choices',
    'garbled',
    { error: { message: 'no', failed_generation: ARGS } },
  ],
  ['choices that are no list', 'garbled', completion({ 0: saying({ tool_calls: [functionCall()] }) })],
  [
    'choices[] without a message',
    'garbled',
    completion([{ index: 0, delta: { tool_calls: [functionCall()] } }]),
  ],
  [
    'choices[] without an index',
    'garbled',
    completion([saying({ tool_calls: [functionCall()] }, { index: null })]),
  ],
  ['a message without choices', 'garbled', { ...CHAT_HEAD, message: { tool_calls: [functionCall()] } }],
  ['a list', 'garbled', [said({ tool_calls: [functionCall()] })]],
  ['id', 'words', completion([saying({})], { id: CANARY })],
  ['message.content', 'words', said({ content: CANARY })],
]

const chunk = (delta: Json, more: JsonObject = {}, beside: JsonObject = {}): JsonObject => ({
  ...CHAT_HEAD,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, logprobs: null, finish_reason: null, ...more }],
  ...beside,
})
const DONE = 'data: [DONE]\n\n'
const ROLE = chunk({ role: 'assistant', content: null, refusal: null })
const WORDS = chunk({ content: 'Well.' })
const FINISH = chunk({}, { finish_reason: 'tool_calls' })

type Streamed = readonly (JsonObject | string)[]
/** A whole stream around chunks with a call. */
const around = (...chunks: Streamed): Streamed => [ROLE, ...chunks, FINISH, DONE]
const piece = (entry: Json): JsonObject => chunk({ tool_calls: [entry] })
const args = (text: string, index = 0): JsonObject => piece({ index, function: { arguments: text } })
const opening = (more: JsonObject = {}, index = 0): JsonObject =>
  piece({
    index,
    id: `call_${index}`,
    type: 'function',
    function: { name: 'send_mail', arguments: '' },
    ...more,
  })
const CALL = piece({ index: 0, ...functionCall() })
const wire = (value: Json, lines: string): string => lines.replace('$', JSON.stringify(value))
const halves = (value: Json): readonly string[] => {
  const text = JSON.stringify(value)
  const at = text.indexOf(',"choices"')
  return [text.slice(0, at), text.slice(at)]
}

const CHAT_STREAMED: readonly (readonly [
  place: string,
  expect: Expectation,
  reply: Streamed,
  covers?: string,
])[] = [
  [
    'delta.tool_calls[], in pieces',
    'denied',
    around(opening(), args(ARGS.slice(0, 9)), args(ARGS.slice(9))),
    'function',
  ],
  [
    'delta.tool_calls[], a letter at a time',
    'denied',
    around(opening(), ...letters(ARGS).map((each) => args(each))),
  ],
  ['delta.tool_calls[], at once', 'denied', around(CALL)],
  [
    'delta.tool_calls[], name before id',
    'denied',
    around(
      piece({ index: 0, function: { name: 'send_mail' } }),
      piece({ index: 0, id: 'call_1' }),
      args(ARGS),
    ),
  ],
  ['delta.tool_calls[], arguments before the name', 'denied', around(args(ARGS), opening())],
  [
    'delta.tool_calls[], the name in pieces',
    'denied',
    around(
      piece({ index: 0, id: 'a', function: { name: 'send' } }),
      piece({ index: 0, function: { name: '_mail', arguments: ARGS } }),
    ),
  ],
  ['delta.tool_calls[], never a name', 'denied', around(args(ARGS))],
  ['delta.tool_calls[].custom', 'denied', around(piece({ index: 0, ...customCall() })), 'custom'],
  [
    'delta.tool_calls[].custom, in pieces',
    'denied',
    around(
      piece({ index: 0, id: 'a', type: 'custom', custom: { name: 'write' } }),
      ...letters(CANARY).map((input) => piece({ index: 0, custom: { input } })),
    ),
  ],
  [
    'delta.tool_calls[] of an unknown type',
    'denied',
    around(
      piece({ index: 0, id: 'a', type: 'shell', shell: { run: ARGS } }),
      piece({ index: 0, shell: { run: ARGS } }),
    ),
  ],
  ['delta.tool_calls[] without a type', 'denied', around(opening({ type: null }), args(ARGS))],
  [
    'delta.tool_calls[] that changes its type',
    'denied',
    around(opening(), args(ARGS), piece({ index: 0, type: 'custom' })),
  ],
  [
    'delta.tool_calls[] that changes its id',
    'garbled',
    around(opening(), args(ARGS), piece({ index: 0, id: 'another' })),
  ],
  [
    'delta.tool_calls[] with both a function and a custom',
    'denied',
    around(CALL, piece({ index: 0, custom: { input: CANARY } })),
  ],
  [
    'delta.tool_calls[].function.arguments as a value',
    'denied',
    around(opening(), piece({ index: 0, function: { arguments: INPUT } })),
  ],
  [
    'delta.tool_calls[].function that is a text',
    'denied',
    around(opening(), piece({ index: 0, function: ARGS })),
  ],
  [
    'delta.tool_calls[].arguments, beside the function',
    'denied',
    around(opening(), piece({ index: 0, arguments: ARGS })),
  ],
  [
    'delta.tool_calls[].id that holds them',
    'denied',
    around(piece({ index: 0, ...functionCall({ id: ARGS }) })),
  ],
  [
    'delta.tool_calls[].function.name that holds them',
    'denied',
    around(piece({ index: 0, ...functionCall({}, { name: ARGS }) })),
  ],
  [
    'delta.tool_calls[] of two interleaved calls',
    'denied',
    around(opening(), opening({}, 1), ...letters(ARGS).flatMap((each) => [args(each), args(each, 1)])),
  ],
  [
    'delta.tool_calls[].extra_content',
    'denied',
    around(opening({ extra_content: SIGNED }), args(ARGS), piece({ index: 0, extra_content: SIGNED })),
  ],
  ['delta.tool_calls[], two of one id', 'denied', around(CALL, piece({ index: 1, ...functionCall() }))],
  [
    'delta.tool_calls[], two in one delta',
    'denied',
    around(
      chunk({
        tool_calls: [
          { index: 0, ...functionCall() },
          { index: 1, ...functionCall({ id: 'b' }) },
        ],
      }),
    ),
  ],
  ['delta.tool_calls[] with an index far off', 'denied', around(opening({}, 200), args(ARGS, 200))],
  ['delta.tool_calls[] without an index', 'garbled', around(piece(functionCall()))],
  [
    'delta.tool_calls[] with a text for an index',
    'garbled',
    around(piece({ index: '0', ...functionCall() })),
  ],
  ['delta.tool_calls[] with an index below none', 'garbled', around(args(ARGS, -1))],
  ['delta.tool_calls[] with an index out of all reason', 'garbled', around(args(ARGS, 1e9))],
  ['delta.tool_calls that is no list', 'garbled', around(chunk({ tool_calls: { 0: functionCall() } }))],
  ['delta.tool_calls[][]', 'garbled', around(chunk({ tool_calls: [[functionCall()]] }))],
  ['delta.function_call', 'denied', around(chunk({ function_call: { name: 'send_mail', arguments: ARGS } }))],
  [
    'delta.function_call, in pieces',
    'denied',
    around(
      chunk({ function_call: { name: 'send_mail', arguments: '' } }),
      ...letters(ARGS).map((each) => chunk({ function_call: { arguments: each } })),
    ),
  ],
  ['delta.function_call that is a text', 'garbled', around(chunk({ function_call: ARGS }))],
  [
    'delta of the second choice',
    'denied',
    [
      ROLE,
      chunk({ tool_calls: [{ index: 0, ...functionCall() }] }, { index: 1 }),
      chunk({}, { index: 1, finish_reason: 'tool_calls' }),
      FINISH,
      DONE,
    ],
  ],
  [
    'delta of a choice that is there twice',
    'garbled',
    [
      ROLE,
      {
        ...CALL,
        choices: [
          { index: 0, delta: {} },
          { index: 0, delta: { tool_calls: [{ index: 0, ...functionCall() }] } },
        ],
      },
    ],
  ],
  [
    'delta in the chunk of the finish',
    'denied',
    [ROLE, chunk({ tool_calls: [{ index: 0, ...functionCall() }] }, { finish_reason: 'tool_calls' }), DONE],
  ],
  ['delta after the finish', 'garbled', [ROLE, WORDS, FINISH, CALL, DONE]],
  ['delta after the finish of other calls', 'garbled', [ROLE, CALL, FINISH, args(ARGS), DONE]],
  ['delta after the end', 'garbled', [ROLE, WORDS, FINISH, DONE, CALL]],
  ['delta, and never a finish', 'garbled', [ROLE, CALL, DONE]],
  ['delta, and then nothing', 'cut', [ROLE, WORDS, CALL]],
  ['delta, cut within an event', 'cut', [ROLE, WORDS, `data: ${JSON.stringify(CALL)}`]],
  [
    'delta of a call that was cut',
    'denied',
    [ROLE, opening(), args(ARGS.slice(0, -2)), chunk({}, { finish_reason: 'length' }), DONE],
  ],
  [
    'delta of a custom call that was cut',
    'denied',
    [ROLE, piece({ index: 0, ...customCall() }), chunk({}, { finish_reason: 'length' }), DONE],
  ],
  [
    'delta of a call, where it says that it just stopped',
    'denied',
    [ROLE, CALL, chunk({}, { finish_reason: 'stop' }), DONE],
  ],
  [
    'delta of a call, and an unknown finish reason',
    'denied',
    [ROLE, CALL, chunk({}, { finish_reason: 'so_be_it' }), DONE],
  ],
  [
    'delta.content[] of an unknown kind',
    'denied',
    around(chunk({ content: [{ type: 'tool_use', input: INPUT }] })),
  ],
  ['delta.content[] without a type', 'denied', around(chunk({ content: [{ input: INPUT }] }))],
  ['delta.content that is an object', 'garbled', around(chunk({ content: INPUT }))],
  ['delta that is a list', 'garbled', around(chunk([functionCall()]))],
  ['delta that is a text', 'garbled', around(chunk(ARGS))],
  [
    'choice.message.tool_calls of a chunk',
    'left out',
    around(WORDS, chunk({}, { message: { tool_calls: [functionCall()] } })),
  ],
  ['choice.tool_calls', 'left out', around(chunk({ content: 'a' }, { tool_calls: [functionCall()] }))],
  [
    'choice.function_call',
    'left out',
    around(chunk({ content: 'a' }, { function_call: { arguments: ARGS } })),
  ],
  [
    'tool_calls, beside the choices',
    'left out',
    around(chunk({ content: 'a' }, {}, { tool_calls: [functionCall()] })),
  ],
  ['delta.audio.tool_calls', 'left out', around(chunk({ audio: { id: 'a', tool_calls: [functionCall()] } }))],
  ['delta.reasoning_details', 'left out', around(chunk({ reasoning_details: [{ text: ARGS }] }))],
  ['delta.role', 'left out', around(chunk({ role: CANARY, content: 'a' }))],
  ['delta of unknown members', 'left out', around(chunk({ content: 'a', tool_use: INPUT, call: ARGS }))],
  [
    'choice.logprobs.content of other words',
    'left out',
    around(chunk({ content: 'a' }, { logprobs: { content: tokens(ARGS) } })),
  ],
  [
    'choice.logprobs.content of a call',
    'denied',
    around({
      ...CALL,
      choices: [
        {
          index: 0,
          delta: { tool_calls: [{ index: 0, ...functionCall() }] },
          logprobs: { content: tokens(ARGS) },
        },
      ],
    }),
  ],
  ['choice.finish_reason', 'garbled', [ROLE, chunk({}, { finish_reason: ARGS }), DONE]],
  [
    'usage, a word in it',
    'left out',
    [ROLE, WORDS, FINISH, { ...CHAT_HEAD, choices: [], usage: { ...USAGE, note: CANARY } }, DONE],
  ],
  ['usage, a list in it', 'left out', [ROLE, WORDS, { ...FINISH, usage: { notes: [CANARY] } }, DONE]],
  ['obfuscation', 'left out', around(chunk({ content: 'a' }, {}, { obfuscation: CANARY }))],
  ['object', 'left out', around(chunk({ content: 'a' }, {}, { object: CANARY }))],
  ['a chunk without choices', 'garbled', around({ ...CHAT_HEAD, tool_calls: [functionCall()] })],
  ['a chunk that is a list', 'garbled', around(`data: ${JSON.stringify([CALL])}\n\n`)],
  ['a chunk that is no JSON', 'garbled', around(`data: ${JSON.stringify(CALL).slice(0, -1)}\n\n`)],
  [
    'an event of Responses',
    'garbled',
    around({ type: 'response.function_call_arguments.delta', delta: ARGS }),
  ],
  ['an event of Messages', 'garbled', around({ type: 'content_block_delta', delta: { partial_json: ARGS } })],
  ['an event of an unknown type', 'denied', around(wire(CALL, 'event: tool_call\ndata: $\n\n'))],
  ['the type of an event', 'left out', around(wire(WORDS, `event: ${CANARY}\ndata: $\n\n`))],
  ['a comment', 'left out', around(`: ${CANARY}\n\n`, WORDS)],
  ['a comment within an event', 'left out', around(wire(WORDS, `: ${CANARY}\ndata: $\n: ${CANARY}\n\n`))],
  [
    'other fields of an event',
    'left out',
    around(wire(WORDS, `id: ${CANARY}\nretry: ${CANARY}\n${CANARY}: x\ndata: $\n\n`)),
  ],
  [
    'a call behind a mark of byte order',
    'denied',
    [`\uFEFF${formatSse(JSON.stringify(CALL))}`, FINISH, DONE],
  ],
  ['a call in lines that end with CR LF', 'denied', around(wire(CALL, 'data: $\r\n\r\n'))],
  ['a call in lines that end with CR', 'denied', around(wire(CALL, 'data: $\r\r'))],
  ['a call in two lines of data', 'denied', around(`data: ${halves(CALL).join('\ndata:')}\n\n`)],
  [
    'error.failed_generation',
    'left out',
    [ROLE, WORDS, { error: { message: 'no', failed_generation: ARGS, arguments: ARGS } }],
  ],
  [
    'error.failed_generation, while a call is held',
    'left out',
    [ROLE, CALL, { error: { message: 'no', failed_generation: ARGS } }, DONE],
  ],
  ['a call after an error', 'garbled', [ROLE, { error: { message: 'no' } }, CALL]],
  [
    'error.message that is no text',
    'left out',
    [ROLE, { error: { message: { call: ARGS }, code: { call: ARGS } } }],
  ],
  ['error.message', 'words', [ROLE, { error: { message: CANARY } }]],
]

// Responses.

/** One item for each type, with the canary in its arguments or results. */
export const ITEMS: Readonly<Record<string, JsonObject>> = {
  function_call: { id: 'fc_1', call_id: 'call_1', name: 'send_mail', arguments: ARGS, status: 'completed' },
  custom_tool_call: { id: 'ctc_1', call_id: 'call_1', name: 'write', input: CANARY, status: 'completed' },
  mcp_approval_request: { id: 'mcpr_1', server_label: 'mail', name: 'send', arguments: ARGS },
  local_shell_call: {
    id: 'lsh_1',
    call_id: 'call_1',
    action: { type: 'exec', command: [CANARY], env: {} },
    status: 'completed',
  },
  shell_call: {
    id: 'sh_1',
    call_id: 'call_1',
    action: { commands: [CANARY], timeout_ms: null },
    environment: { type: 'local' },
    status: 'completed',
  },
  apply_patch_call: {
    id: 'apc_1',
    call_id: 'call_1',
    operation: { type: 'create_file', path: CANARY, diff: CANARY },
    status: 'completed',
  },
  computer_call: {
    id: 'cu_1',
    call_id: 'call_1',
    action: { type: 'type', text: CANARY },
    pending_safety_checks: [],
    status: 'completed',
  },
  tool_search_call: {
    id: 'tsc_1',
    call_id: 'call_1',
    execution: 'client',
    arguments: INPUT,
    status: 'completed',
  },
  web_search_call: {
    id: 'ws_1',
    action: { type: 'search', query: CANARY, queries: [CANARY] },
    status: 'completed',
  },
  file_search_call: { id: 'fs_1', queries: [CANARY], results: [{ text: CANARY }], status: 'completed' },
  code_interpreter_call: { id: 'ci_1', code: CANARY, container_id: 'c', outputs: null, status: 'completed' },
  image_generation_call: { id: 'ig_1', result: CANARY, status: 'completed' },
  mcp_call: { id: 'mcp_1', server_label: 'mail', name: 'send', arguments: ARGS, output: CANARY },
  mcp_list_tools: { id: 'mcpl_1', server_label: 'mail', tools: [{ name: CANARY, input_schema: INPUT }] },
  mcp_approval_response: { id: 'mcpa_1', approval_request_id: CANARY, approve: true },
  program: { id: 'p_1', call_id: 'call_1', code: CANARY, fingerprint: 'f' },
  program_output: { id: 'po_1', call_id: 'call_1', result: CANARY, status: 'completed' },
  tool_search_output: {
    id: 'tso_1',
    call_id: 'call_1',
    execution: 'server',
    tools: [{ name: CANARY, parameters: INPUT }],
    status: 'completed',
  },
  additional_tools: {
    id: 'at_1',
    role: 'developer',
    tools: [{ type: 'function', name: CANARY, parameters: INPUT }],
  },
  function_call_output: { id: 'fco_1', call_id: 'call_1', output: CANARY, status: 'completed' },
  custom_tool_call_output: { id: 'cto_1', call_id: 'call_1', output: CANARY, status: 'completed' },
  computer_call_output: {
    id: 'cuo_1',
    call_id: 'call_1',
    output: { type: 'computer_screenshot', image_url: CANARY },
  },
  local_shell_call_output: { id: 'lso_1', output: CANARY },
  shell_call_output: {
    id: 'sho_1',
    call_id: 'call_1',
    output: [{ stdout: CANARY, stderr: CANARY }],
    status: 'completed',
  },
  apply_patch_call_output: { id: 'apo_1', call_id: 'call_1', output: CANARY, status: 'completed' },
  // Unknown types.
  browse_call: { id: 'bc_1', call_id: 'call_1', arguments: ARGS, action: INPUT, status: 'completed' },
  item_reference: { id: CANARY, arguments: ARGS },
  Function_Call: { id: 'fc_1', call_id: 'call_1', name: 'send_mail', arguments: ARGS },
  constructor: { id: 'fc_1', call_id: 'call_1', name: 'send_mail', arguments: ARGS },
}

/** Further forms of items. */
const FORMS: readonly (readonly [place: string, item: JsonObject, streamed?: Expectation])[] = [
  [
    'shell_call in a container',
    { ...item('shell_call'), environment: { type: 'container_reference', container_id: CANARY } },
  ],
  ['shell_call of no environment', { ...item('shell_call'), environment: null }],
  [
    'computer_call of several actions',
    { ...item('computer_call'), action: null, actions: [{ type: 'type', text: CANARY }] },
  ],
  [
    'computer_call of an action and of several',
    { ...item('computer_call'), actions: [{ type: 'type', text: CANARY }] },
  ],
  [
    'computer_call whose checks hold them',
    { ...item('computer_call'), pending_safety_checks: [{ id: 'a', message: CANARY }] },
  ],
  ['tool_search_call at the provider', { ...item('tool_search_call'), execution: 'server' }],
  ['function_call of an undeclared tool', { ...item('function_call'), name: 'no' }],
  ['function_call in a namespace', { ...item('function_call'), namespace: CANARY }],
  ['function_call with a value', { ...item('function_call'), arguments: INPUT }],
  ['function_call without a name', { ...item('function_call'), name: null }],
  ['function_call whose name holds them', { ...item('function_call'), name: ARGS }],
  ['function_call whose id holds them', { ...item('function_call'), call_id: ARGS, id: ARGS }],
  ['function_call without an id', { ...item('function_call'), call_id: null, id: null }],
  ['function_call that is not complete', { ...item('function_call'), status: 'incomplete' }],
  ['function_call in progress', { ...item('function_call'), status: 'in_progress' }],
  [
    'function_call whose caller holds them',
    { ...item('function_call'), caller: { type: 'program', caller_id: CANARY } },
  ],
  ['function_call, as Chat Completions has it', { ...functionCall(), type: 'function' }],
  ['an item of Messages', { type: 'tool_use', id: 'toolu_1', name: 'send_mail', input: INPUT }],
  ['an item without a type', { call_id: 'call_1', name: 'send_mail', arguments: ARGS }],
  ['an item whose type is no text', { ...item('function_call'), type: ['function_call'] }, 'garbled'],
  ['an item whose type holds them', { ...item('function_call'), type: CANARY }],
]

function item(type: string): JsonObject {
  return { type, ...ITEMS[type] }
}

const text = (words: string): JsonObject => ({
  type: 'output_text',
  text: words,
  annotations: [],
  logprobs: [],
})
const message = (more: JsonObject = {}): JsonObject => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [text('Well.')],
  ...more,
})
const thoughts = (more: JsonObject): JsonObject => ({ id: 'rs_1', type: 'reasoning', summary: [], ...more })

const response = (output: Json, more: JsonObject = {}): JsonObject => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_760_000_000,
  status: 'completed',
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  model: 'm',
  output,
  parallel_tool_calls: true,
  reasoning: { effort: null, summary: null },
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  usage: { input_tokens: 8, output_tokens: 4, total_tokens: 12 },
  ...more,
})

/** The members of a response besides its items. */
const AROUND: readonly (readonly [place: string, expect: Expectation, members: JsonObject])[] = [
  ['tool_calls', 'left out', { tool_calls: [functionCall()] }],
  [
    'choices, as Chat Completions has them',
    'left out',
    { choices: [saying({ tool_calls: [functionCall()] })] },
  ],
  ['content, as Messages has it', 'left out', { content: [{ type: 'tool_use', input: INPUT }] }],
  ['output_text', 'left out', { output_text: ARGS }],
  ['instructions', 'left out', { instructions: ARGS }],
  ['instructions[]', 'left out', { instructions: [item('function_call')] }],
  ['tools', 'left out', { tools: [{ type: 'function', name: CANARY, parameters: INPUT }] }],
  ['tool_choice', 'left out', { tool_choice: { type: 'function', name: ARGS, arguments: ARGS } }],
  [
    'text.format',
    'left out',
    { text: { format: { type: 'json_schema', name: 'n', schema: INPUT, arguments: ARGS } } },
  ],
  ['reasoning', 'left out', { reasoning: { effort: null, summary: ARGS, call: ARGS } }],
  ['reasoning, a word in it', 'left out', { reasoning: { effort: null, summary: null, note: CANARY } }],
  ['incomplete_details, a word in it', 'left out', { incomplete_details: { reason: 'x', note: CANARY } }],
  ['prompt.variables', 'left out', { prompt: { id: 'p', variables: INPUT } }],
  ['conversation', 'left out', { conversation: { id: CANARY } }],
  ['incomplete_details', 'left out', { incomplete_details: { reason: ARGS } }],
  ['usage, a word in it', 'left out', { usage: { input_tokens: 1, note: CANARY } }],
  ['usage, a word within', 'left out', { usage: { output_tokens_details: { note: CANARY } } }],
  ['usage, a list in it', 'left out', { usage: { notes: [CANARY] } }],
  ['usage, a name in it', 'left out', { usage: { details: { [CANARY]: 1 } } }],
  ['usage that is a text', 'left out', { usage: CANARY }],
  [
    'error.failed_generation',
    'left out',
    { error: { code: 'server_error', message: 'no', failed_generation: ARGS } },
  ],
  ['object', 'left out', { object: CANARY }],
  ['error.message', 'words', { error: { code: 'server_error', message: CANARY } }],
  // It repeats text of the caller.
  ['metadata', 'words', { metadata: { note: ARGS } }],
]

const RESPONSES_WHOLE: readonly (readonly [
  place: string,
  expect: Expectation,
  reply: Json,
  covers?: string,
])[] = [
  ...Object.keys(ITEMS).map((type) => [`output[], ${type}`, 'denied', response([item(type)]), type] as const),
  ...FORMS.map(([place, form]) => [`output[], ${place}`, 'denied', response([form])] as const),
  ['output[], the second', 'denied', response([message(), item('function_call')])],
  ['output[], two of one id', 'denied', response([item('function_call'), item('function_call')])],
  [
    'output[], the last of a response that was cut',
    'denied',
    response([{ ...item('function_call'), status: null }], { status: 'incomplete' }),
  ],
  [
    'output[], of a response that has failed',
    'denied',
    response([item('function_call')], { status: 'failed' }),
  ],
  ['output[][]', 'garbled', response([[item('function_call')]])],
  ['output[] that is a text', 'garbled', response([ARGS])],
  ['output that is no list', 'garbled', response({ 0: item('function_call') })],
  ['no output', 'garbled', { ...item('function_call'), id: 'resp_1' }],
  ['a list', 'garbled', [response([item('function_call')])]],
  [
    'message.content[] of an unknown kind',
    'denied',
    response([message({ content: [{ type: 'tool_call', text: ARGS }] })]),
  ],
  ['message.content[] that is a text', 'denied', response([message({ content: [ARGS] })])],
  ['message.content that is a text', 'garbled', response([message({ content: ARGS })])],
  [
    'message.content[] of no text',
    'denied',
    response([message({ content: [{ type: 'output_text', text: INPUT }] })]),
  ],
  [
    'message.content[].arguments',
    'left out',
    response([message({ content: [{ ...text('a'), arguments: ARGS }] })]),
  ],
  [
    'message.content[].annotations[] of an unknown kind',
    'left out',
    response([message({ content: [{ ...text('a'), annotations: [{ type: 'call', arguments: ARGS }] }] })]),
  ],
  [
    'message.content[].annotations[].arguments',
    'left out',
    response([
      message({
        content: [{ ...text('a'), annotations: [{ type: 'file_path', file_id: 'f', arguments: ARGS }] }],
      }),
    ]),
  ],
  [
    'message.content[].logprobs of other words',
    'left out',
    response([message({ content: [{ ...text('a'), logprobs: tokens(ARGS) }] })]),
  ],
  ['message.arguments', 'left out', response([message({ arguments: ARGS, call_id: CANARY, name: CANARY })])],
  ['message.tool_calls', 'left out', response([message({ tool_calls: [functionCall()] })])],
  ['message.role', 'left out', response([message({ role: CANARY })])],
  ['message.status', 'left out', response([message({ status: ARGS })])],
  ['message.phase', 'left out', response([message({ phase: CANARY })])],
  [
    'reasoning.content[] of an unknown kind',
    'denied',
    response([thoughts({ content: [{ type: 'call', text: ARGS }] })]),
  ],
  [
    'reasoning.summary[] of an unknown kind',
    'denied',
    response([thoughts({ summary: [{ type: 'call', text: ARGS }] })]),
  ],
  ['reasoning.summary that is no list', 'denied', response([thoughts({ summary: ARGS })])],
  ['reasoning.arguments', 'left out', response([thoughts({ arguments: ARGS, action: INPUT })])],
  [
    'reasoning.encrypted_content that is no text',
    'left out',
    response([thoughts({ encrypted_content: INPUT })]),
  ],
  [
    'compaction.arguments',
    'left out',
    response([{ id: 'cmp_1', type: 'compaction', encrypted_content: 'x', arguments: ARGS }]),
  ],
  [
    'output, twice',
    'left out',
    twice(response([item('function_call')], { x: 'HERE' }), 'HERE', '0,"output":[]'),
  ],
  [
    '__proto__',
    'left out',
    twice(
      response([message()], { x: 'HERE' }),
      'HERE',
      `0,"__proto__":${JSON.stringify(item('function_call'))}`,
    ),
  ],
  ...AROUND.map(([place, expect, members]) => [place, expect, response([message()], members)] as const),
]

const event = (type: string, members: JsonObject): JsonObject => ({ type, ...members })
const CREATED = event('response.created', { response: response([], { status: 'in_progress', usage: null }) })
const added = (whole: Json, output_index: Json = 0): JsonObject =>
  event('response.output_item.added', { output_index, item: whole })
const done = (whole: Json, output_index: Json = 0): JsonObject =>
  event('response.output_item.done', { output_index, item: whole })
const completed = (output: Json, more: JsonObject = {}): JsonObject =>
  event('response.completed', { response: response(output, more) })
const begun = (whole: JsonObject): JsonObject => ({ ...whole, arguments: '', status: 'in_progress' })

const SENT = item('function_call')
const ADDED = added(begun(SENT))
const DONE_ITEM = done(SENT)
const COMPLETED = completed([SENT])
const at = { output_index: 0, item_id: 'fc_1' }
const pieceOf = (delta: string, more: JsonObject = {}): JsonObject =>
  event('response.function_call_arguments.delta', { ...at, delta, ...more })
const PIECES = letters(ARGS).map((each) => pieceOf(each))
const PIECES_DONE = event('response.function_call_arguments.done', {
  ...at,
  arguments: ARGS,
  name: 'send_mail',
})

const OPEN = added(message({ status: 'in_progress', content: [] }))
const inMessage = { output_index: 0, item_id: 'msg_1', content_index: 0 }
const PART = event('response.content_part.added', { ...inMessage, part: text('') })
const SAID = event('response.output_text.delta', { ...inMessage, delta: 'Well.', logprobs: [] })
const MESSAGE = [
  OPEN,
  PART,
  SAID,
  event('response.output_text.done', { ...inMessage, text: 'Well.' }),
  event('response.content_part.done', { ...inMessage, part: text('Well.') }),
  done(message()),
]
/** A stream with text, and something in between. */
const among = (...events: Streamed): Streamed => [
  CREATED,
  OPEN,
  PART,
  ...events,
  SAID,
  done(message()),
  completed([message()]),
]
const alone = (...events: Streamed): Streamed => [CREATED, ...events, COMPLETED]

/** The members of stream events: the canary is in all of them at once. */
const EVERYTHING: JsonObject = {
  delta: ARGS,
  arguments: ARGS,
  input: ARGS,
  code: ARGS,
  text: ARGS,
  refusal: ARGS,
  partial_image_b64: ARGS,
  transcript: ARGS,
  part: { type: 'output_text', text: ARGS },
  annotation: { type: 'url_citation', url: ARGS, title: ARGS },
}

/** Every stream event of an item: for a held call, and for an unannounced one. */
export const ITEM_EVENTS: Readonly<Record<string, readonly [held: Expectation, unannounced: Expectation]>> = {
  'response.function_call_arguments.delta': ['denied', 'garbled'],
  'response.function_call_arguments.done': ['denied', 'garbled'],
  'response.custom_tool_call_input.delta': ['garbled', 'garbled'],
  'response.custom_tool_call_input.done': ['garbled', 'garbled'],
  'response.mcp_call_arguments.delta': ['denied', 'garbled'],
  'response.mcp_call_arguments.done': ['denied', 'garbled'],
  'response.code_interpreter_call_code.delta': ['denied', 'garbled'],
  'response.code_interpreter_call_code.done': ['denied', 'garbled'],
  'response.code_interpreter_call.completed': ['denied', 'garbled'],
  'response.code_interpreter_call.in_progress': ['denied', 'garbled'],
  'response.code_interpreter_call.interpreting': ['denied', 'garbled'],
  'response.file_search_call.completed': ['denied', 'garbled'],
  'response.file_search_call.in_progress': ['denied', 'garbled'],
  'response.file_search_call.searching': ['denied', 'garbled'],
  'response.web_search_call.completed': ['denied', 'garbled'],
  'response.web_search_call.in_progress': ['denied', 'garbled'],
  'response.web_search_call.searching': ['denied', 'garbled'],
  'response.image_generation_call.completed': ['denied', 'garbled'],
  'response.image_generation_call.generating': ['denied', 'garbled'],
  'response.image_generation_call.in_progress': ['denied', 'garbled'],
  'response.image_generation_call.partial_image': ['denied', 'garbled'],
  'response.mcp_call.completed': ['denied', 'garbled'],
  'response.mcp_call.failed': ['denied', 'garbled'],
  'response.mcp_call.in_progress': ['denied', 'garbled'],
  'response.mcp_list_tools.completed': ['denied', 'garbled'],
  'response.mcp_list_tools.failed': ['denied', 'garbled'],
  'response.mcp_list_tools.in_progress': ['denied', 'garbled'],
  'response.audio.delta': ['denied', 'garbled'],
  'response.audio.done': ['denied', 'garbled'],
  'response.audio.transcript.delta': ['denied', 'garbled'],
  'response.audio.transcript.done': ['denied', 'garbled'],
  'response.content_part.added': ['garbled', 'garbled'],
  'response.content_part.done': ['garbled', 'garbled'],
  'response.output_text.delta': ['garbled', 'garbled'],
  'response.output_text.done': ['garbled', 'garbled'],
  'response.output_text.annotation.added': ['garbled', 'garbled'],
  'response.refusal.delta': ['garbled', 'garbled'],
  'response.refusal.done': ['garbled', 'garbled'],
  'response.reasoning_text.delta': ['garbled', 'garbled'],
  'response.reasoning_text.done': ['garbled', 'garbled'],
  'response.reasoning_summary_part.added': ['garbled', 'garbled'],
  'response.reasoning_summary_part.done': ['garbled', 'garbled'],
  'response.reasoning_summary_text.delta': ['garbled', 'garbled'],
  'response.reasoning_summary_text.done': ['garbled', 'garbled'],
  // Unknown types.
  'response.browse_call_arguments.delta': ['denied', 'garbled'],
  'tool_call.delta': ['denied', 'garbled'],
}

/** Events about whole items or the response. They have their own rows. */
export const OTHER_EVENTS: readonly string[] = [
  'response.created',
  'response.in_progress',
  'response.queued',
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.output_item.added',
  'response.output_item.done',
  'error',
]

const RESPONSES_STREAMED: readonly (readonly [
  place: string,
  expect: Expectation,
  reply: Streamed,
  covers?: string,
])[] = [
  ...Object.keys(ITEMS).map(
    (type) =>
      [
        `output_item.added and .done, ${type}`,
        'denied',
        [CREATED, added(item(type)), done(item(type)), completed([item(type)])],
        type,
      ] as const,
  ),
  ...Object.keys(ITEMS).map(
    (type) =>
      [
        `output_item.done alone, ${type}`,
        'denied',
        [CREATED, done(item(type)), completed([item(type)])],
      ] as const,
  ),
  ...Object.keys(ITEMS).map(
    (type) =>
      [
        `output_item.added alone, ${type}`,
        'denied',
        [CREATED, added(item(type)), completed([item(type)])],
      ] as const,
  ),
  ...Object.keys(ITEMS).map(
    (type) => [`response.completed alone, ${type}`, 'garbled', [CREATED, completed([item(type)])]] as const,
  ),
  ...FORMS.map(
    ([place, form, expect = 'denied']) =>
      [
        `output_item.added and .done, ${place}`,
        expect,
        [CREATED, added(form), done(form), completed([form])],
      ] as const,
  ),
  ...Object.entries(ITEM_EVENTS).map(
    ([type, [expect]]) =>
      [
        `${type} of a call`,
        expect,
        [
          CREATED,
          ADDED,
          event(type, { ...EVERYTHING, ...at, content_index: 0, summary_index: 0 }),
          DONE_ITEM,
          COMPLETED,
        ],
        type,
      ] as const,
  ),
  ...Object.entries(ITEM_EVENTS).map(
    ([type, [, expect]]) =>
      [
        `${type} of no item`,
        expect,
        among(event(type, { ...EVERYTHING, output_index: 5, content_index: 0, summary_index: 0 })),
      ] as const,
  ),
  [
    'output_item.added of a call with its arguments',
    'denied',
    alone(added({ ...SENT, status: 'in_progress' }), DONE_ITEM),
  ],
  ['function_call_arguments, a letter at a time', 'denied', alone(ADDED, ...PIECES, PIECES_DONE, DONE_ITEM)],
  [
    'function_call_arguments of two interleaved calls',
    'denied',
    [
      CREATED,
      ADDED,
      added({ ...begun(SENT), id: 'fc_2' }, 1),
      ...letters(ARGS).flatMap((each) => [pieceOf(each), pieceOf(each, { output_index: 1 })]),
      DONE_ITEM,
      done({ ...SENT, id: 'fc_2' }, 1),
      completed([SENT, SENT]),
    ],
  ],
  [
    'function_call_arguments, and a done with others',
    'garbled',
    alone(ADDED, ...PIECES, done({ ...SENT, arguments: '{}' })),
  ],
  [
    'function_call_arguments.done with others',
    'garbled',
    alone(ADDED, pieceOf('{}'), PIECES_DONE, DONE_ITEM),
  ],
  ['function_call_arguments after their done', 'garbled', alone(ADDED, ...PIECES, PIECES_DONE, ...PIECES)],
  ['function_call_arguments after the item', 'garbled', alone(ADDED, DONE_ITEM, ...PIECES)],
  [
    'function_call_arguments that are no text',
    'garbled',
    alone(ADDED, event('response.function_call_arguments.delta', { ...at, delta: INPUT })),
  ],
  [
    'function_call_arguments of no place',
    'garbled',
    alone(ADDED, event('response.function_call_arguments.delta', { item_id: 'fc_1', delta: ARGS })),
  ],
  ['function_call_arguments of a message', 'garbled', among(pieceOf(ARGS))],
  [
    'custom_tool_call_input, a letter at a time',
    'denied',
    [
      CREATED,
      added({ ...item('custom_tool_call'), input: '' }),
      ...letters(CANARY).map((delta) => event('response.custom_tool_call_input.delta', { ...at, delta })),
      done(item('custom_tool_call')),
      completed([item('custom_tool_call')]),
    ],
  ],
  ['an item that ends as another kind', 'garbled', alone(ADDED, done(item('custom_tool_call')))],
  ['an item that ends under another name', 'garbled', alone(ADDED, done({ ...SENT, name: 'read_note' }))],
  ['a call that ends as a message', 'garbled', alone(ADDED, ...PIECES, done(message()))],
  ['a message that ends as a call', 'garbled', [CREATED, OPEN, done(SENT), completed([])]],
  ['an item that ends twice', 'garbled', alone(ADDED, DONE_ITEM, DONE_ITEM)],
  ['two items in one place', 'garbled', alone(ADDED, ADDED)],
  ['a call in the place of a message', 'garbled', [CREATED, OPEN, added(SENT), completed([])]],
  ['a place that makes no sense', 'garbled', alone(added(SENT, -1))],
  ['a place that is a text', 'garbled', alone(added(SENT, '0'))],
  ['an item that is a text', 'garbled', alone(added(ARGS))],
  ['an item that is a list', 'garbled', alone(done([SENT]))],
  [
    'a call without an end, of a response that was cut',
    'denied',
    [
      CREATED,
      ADDED,
      ...PIECES,
      event('response.incomplete', {
        response: response([{ ...SENT, status: 'incomplete' }], { status: 'incomplete' }),
      }),
    ],
  ],
  [
    'a call without an end, of a response that has failed',
    'denied',
    [CREATED, ADDED, ...PIECES, event('response.failed', { response: response([], { status: 'failed' }) })],
  ],
  ['a call, and then nothing', 'cut', [CREATED, ...MESSAGE.slice(0, 3), added(SENT, 1)]],
  ['response.created with items', 'garbled', [event('response.created', { response: response([SENT]) })]],
  [
    'response.in_progress with items',
    'garbled',
    [CREATED, event('response.in_progress', { response: response([SENT]) })],
  ],
  ['response.queued with items', 'garbled', [event('response.queued', { response: response([SENT]) })]],
  [
    'response.created whose output is an object',
    'garbled',
    [event('response.created', { response: response({ 0: SENT }) })],
  ],
  [
    'response.incomplete alone',
    'garbled',
    [CREATED, event('response.incomplete', { response: response([SENT]) })],
  ],
  ['response.failed alone', 'garbled', [CREATED, event('response.failed', { response: response([SENT]) })]],
  [
    'response.completed, one call more than was streamed',
    'garbled',
    [CREATED, ADDED, DONE_ITEM, completed([SENT, SENT])],
  ],
  [
    'response.completed, other arguments than were streamed',
    'denied',
    [CREATED, added({ ...begun(SENT), arguments: '{}' }), done({ ...SENT, arguments: '{}' }), COMPLETED],
  ],
  [
    'response.completed, a call in a message that was streamed',
    'left out',
    among(event('keepalive', {})).with(
      -1,
      completed([
        message({
          tool_calls: [functionCall()],
          content: [text('Well.'), { type: 'tool_call', text: ARGS }],
        }),
      ]),
    ),
  ],
  [
    'response.completed, a message that was not streamed',
    'left out',
    among().with(-1, completed([message(), message({ content: [text(ARGS)] })])),
  ],
  ['response.completed whose output is an object', 'garbled', [CREATED, completed({ 0: SENT })]],
  ['response.completed whose item is a text', 'garbled', [CREATED, completed([ARGS])]],
  [
    'response.completed of a message without its end, with a call in it',
    'garbled',
    [CREATED, OPEN, completed([message({ content: [{ type: 'tool_call', text: ARGS }] })])],
  ],
  ['an item after the end', 'garbled', [CREATED, completed([]), done(SENT)]],
  ['a piece after the end', 'garbled', [CREATED, completed([]), pieceOf(ARGS)]],
  [
    'an event of an unknown type after the end',
    'left out',
    [CREATED, ...MESSAGE, completed([message()]), event('tool_call', { arguments: ARGS })],
  ],
  [
    'content_part.added of an unknown kind',
    'denied',
    [
      CREATED,
      OPEN,
      event('response.content_part.added', { ...inMessage, part: { type: 'tool_call', text: ARGS } }),
      completed([]),
    ],
  ],
  [
    'content_part.added of no text',
    'denied',
    [
      CREATED,
      OPEN,
      event('response.content_part.added', { ...inMessage, part: { type: 'output_text', text: INPUT } }),
      completed([]),
    ],
  ],
  [
    'content_part.done of an unknown kind',
    'garbled',
    among(event('response.content_part.done', { ...inMessage, part: { type: 'tool_call', text: ARGS } })),
  ],
  [
    'words of a part of an unknown kind',
    'denied',
    [
      CREATED,
      OPEN,
      event('response.content_part.added', { ...inMessage, part: { type: 'tool_call' } }),
      event('response.output_text.delta', { ...inMessage, delta: ARGS }),
      event('response.output_text.done', { ...inMessage, text: ARGS }),
      done(message({ content: [text(ARGS)] })),
      completed([]),
    ],
  ],
  [
    'output_item.added of a message with a part of an unknown kind',
    'garbled',
    [CREATED, added(message({ content: [{ type: 'tool_call', text: ARGS }] })), completed([])],
  ],
  [
    'output_item.done of a message with a part of an unknown kind',
    'garbled',
    [CREATED, OPEN, done(message({ content: [{ type: 'tool_call', text: ARGS }] })), completed([])],
  ],
  [
    'output_item.added of reasoning with a part of an unknown kind',
    'garbled',
    [CREATED, added(thoughts({ summary: [{ type: 'call', text: ARGS }] })), completed([])],
  ],
  [
    'output_item.added of a message with arguments',
    'left out',
    [
      CREATED,
      added(message({ content: [], arguments: ARGS, tool_calls: [functionCall()] })),
      done(message({ arguments: ARGS })),
      completed([message({ arguments: ARGS })]),
    ],
  ],
  [
    'output_text.delta that is no text',
    'garbled',
    among(event('response.output_text.delta', { ...inMessage, delta: INPUT })),
  ],
  [
    'output_text.delta.arguments',
    'left out',
    among(
      event('response.output_text.delta', {
        ...inMessage,
        delta: 'a',
        arguments: ARGS,
        item: SENT,
        obfuscation: CANARY,
      }),
    ),
  ],
  [
    'output_text.delta.item_id',
    'left out',
    among(event('response.output_text.delta', { ...inMessage, delta: 'a', item_id: CANARY })),
  ],
  [
    'output_text.delta.logprobs of other words',
    'left out',
    among(event('response.output_text.delta', { ...inMessage, delta: 'a', logprobs: tokens(ARGS) })),
  ],
  [
    'output_text.annotation.added of an unknown kind',
    'left out',
    among(
      event('response.output_text.annotation.added', {
        ...inMessage,
        annotation_index: 0,
        annotation: { type: 'call', arguments: ARGS },
      }),
    ),
  ],
  [
    'reasoning_summary_part.added of an unknown kind',
    'garbled',
    [
      CREATED,
      added(thoughts({})),
      event('response.reasoning_summary_part.added', {
        output_index: 0,
        summary_index: 0,
        part: { type: 'call', text: ARGS },
      }),
    ],
  ],
  [
    'sequence_number',
    'left out',
    [
      { ...CREATED, sequence_number: CANARY },
      ...MESSAGE,
      { ...completed([message()]), sequence_number: CANARY },
    ],
  ],
  ['an unknown event with an item', 'garbled', among(event('response.thing', { item: SENT }))],
  ['an unknown event with arguments', 'garbled', among(event('response.thing', { arguments: ARGS }))],
  [
    'an unknown event with calls of Chat Completions',
    'garbled',
    among(event('response.thing', { tool_calls: [functionCall()] })),
  ],
  ['an unknown event of unknown members', 'left out', among(event('response.thing', { note: CANARY }))],
  ['a ping with members', 'left out', among(event('keepalive', { arguments: ARGS, item: SENT }))],
  ['an event without a type', 'garbled', among({ item: SENT })],
  [
    'an event whose type is on the wire alone',
    'garbled',
    among(wire({ output_index: 1, item: SENT }, 'event: response.output_item.done\ndata: $\n\n')),
  ],
  [
    'an event with another type on the wire',
    'garbled',
    among(
      wire({ type: 'ping', output_index: 1, item: SENT }, 'event: response.output_item.done\ndata: $\n\n'),
    ),
  ],
  ['the type of an event on the wire', 'left out', among(wire(SAID, `event: ${CANARY}\ndata: $\n\n`))],
  ['a chunk of Chat Completions', 'garbled', among(CALL)],
  [
    'an event of Messages',
    'garbled',
    among({
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', input: INPUT },
      item: SENT,
    }),
  ],
  [
    'an event of Messages, of which no member is known',
    'left out',
    among({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: ARGS } }),
  ],
  ['an event that is no JSON', 'garbled', among(`data: ${ARGS.slice(1)}\n\n`)],
  ['an event that is a list', 'garbled', among(`data: ${JSON.stringify([DONE_ITEM])}\n\n`)],
  ['a comment', 'left out', among(`: ${CANARY}\n\n`)],
  ['other fields of an event', 'left out', among(wire(SAID, `id: ${CANARY}\nretry: ${CANARY}\ndata: $\n\n`))],
  [
    'error, what it says besides',
    'left out',
    [CREATED, event('error', { code: 'x', message: 'no', arguments: ARGS, failed_generation: ARGS })],
  ],
  [
    'error.error, what it says besides',
    'left out',
    [CREATED, event('error', { error: { message: 'no', failed_generation: ARGS, item: SENT } })],
  ],
  ['error, while a call is held', 'left out', [CREATED, ADDED, ...PIECES, event('error', { message: 'no' })]],
  ...AROUND.map(
    ([place, expect, members]) =>
      [
        `response.created, ${place}`,
        expect,
        [event('response.created', { response: response([], members) }), ...MESSAGE, completed([message()])],
      ] as const,
  ),
  ...AROUND.map(
    ([place, expect, members]) =>
      [
        `response.completed, ${place}`,
        expect,
        [CREATED, ...MESSAGE, completed([message()], members)],
      ] as const,
  ),
]

// Messages.

/** One block for each type, with the canary in its arguments or results. */
export const BLOCKS: Readonly<Record<string, JsonObject>> = {
  tool_use: { id: 'toolu_1', name: 'send_mail', input: INPUT },
  server_tool_use: { id: 'srvtoolu_1', name: 'web_search', input: INPUT },
  mcp_tool_use: { id: 'mcptoolu_1', name: 'send', server_name: 'mail', input: INPUT },
  mcp_tool_result: { tool_use_id: 'mcptoolu_1', is_error: false, content: [{ type: 'text', text: CANARY }] },
  mcp_tool_listing: { mcp_server_name: 'mail', tools: [{ name: CANARY, input_schema: INPUT }] },
  web_search_tool_result: {
    tool_use_id: 's',
    content: [{ type: 'web_search_result', url: CANARY, title: CANARY, encrypted_content: CANARY }],
  },
  web_fetch_tool_result: {
    tool_use_id: 's',
    content: {
      type: 'web_fetch_result',
      url: CANARY,
      content: { type: 'document', source: { type: 'text', data: CANARY, media_type: 'text/plain' } },
    },
  },
  code_execution_tool_result: {
    tool_use_id: 's',
    content: { type: 'code_execution_result', stdout: CANARY, stderr: '', return_code: 0, content: [] },
  },
  bash_code_execution_tool_result: {
    tool_use_id: 's',
    content: { type: 'bash_code_execution_result', stdout: CANARY, stderr: '', return_code: 0, content: [] },
  },
  text_editor_code_execution_tool_result: {
    tool_use_id: 's',
    content: { type: 'text_editor_code_execution_view_result', content: CANARY },
  },
  tool_search_tool_result: {
    tool_use_id: 's',
    content: {
      type: 'tool_search_tool_search_result',
      tool_references: [{ type: 'tool_reference', tool_name: CANARY }],
    },
  },
  advisor_tool_result: { tool_use_id: 's', content: { type: 'advisor_result', text: CANARY } },
  container_upload: { file_id: CANARY },
  // Unknown types.
  browser_use: { id: 'toolu_1', name: 'send_mail', input: INPUT, text: CANARY },
  tool_call: { ...functionCall() },
  Tool_Use: { id: 'toolu_1', name: 'send_mail', input: INPUT },
  constructor: { id: 'toolu_1', name: 'send_mail', input: INPUT },
}

function block(type: string): JsonObject {
  return { ...BLOCKS[type], type }
}

const BLOCK_FORMS: readonly (readonly [place: string, block: JsonObject])[] = [
  ['tool_use of an undeclared tool', { ...block('tool_use'), name: 'no' }],
  ['tool_use of a toolset', { ...block('tool_use'), toolset_name: CANARY }],
  ['tool_use whose input is a text', { ...block('tool_use'), input: ARGS }],
  ['tool_use whose input is a list', { ...block('tool_use'), input: [CANARY] }],
  ['tool_use with arguments beside the input', { ...block('tool_use'), input: { a: 1 }, arguments: ARGS }],
  ['tool_use without a name', { ...block('tool_use'), name: null }],
  ['tool_use whose name holds them', { ...block('tool_use'), name: ARGS }],
  ['tool_use whose id holds them', { ...block('tool_use'), id: ARGS }],
  ['tool_use whose caller holds them', { ...block('tool_use'), caller: { type: CANARY, tool_id: CANARY } }],
  ['server_tool_use of an unknown tool', { ...block('server_tool_use'), name: 'no' }],
  ['server_tool_use of a tool of the client', { ...block('server_tool_use'), name: 'send_mail' }],
  ['mcp_tool_use without a server', { ...block('mcp_tool_use'), server_name: null }],
  ['a block without a type', { id: 'a', name: 'send_mail', input: INPUT }],
  ['a block whose type is no text', { ...block('tool_use'), type: ['tool_use'] }],
  ['a block whose type holds them', { ...block('tool_use'), type: CANARY }],
]

const reply = (content: Json, more: JsonObject = {}): JsonObject => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content,
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 8, output_tokens: 4 },
  ...more,
})
const TEXT = { type: 'text', text: 'Well.' }
const TOOL = block('tool_use')

const MESSAGES_AROUND: readonly (readonly [place: string, expect: Expectation, members: JsonObject])[] = [
  ['tool_calls', 'left out', { tool_calls: [functionCall()] }],
  ['input', 'left out', { input: INPUT, name: CANARY, tool_use: TOOL }],
  ['usage, a word in it', 'left out', { usage: { input_tokens: 1, output_tokens: 1, note: CANARY } }],
  [
    'usage, a word within',
    'left out',
    { usage: { input_tokens: 1, output_tokens: 1, server_tool_use: { note: CANARY } } },
  ],
  ['usage, a list in it', 'left out', { usage: { input_tokens: 1, output_tokens: 1, notes: [CANARY] } }],
  ['usage, a name in it', 'left out', { usage: { details: { [CANARY]: 1 } } }],
  ['usage that is a text', 'left out', { usage: CANARY }],
  ['diagnostics, a word in it', 'left out', { diagnostics: { note: CANARY } }],
  ['context_management, a word in it', 'left out', { context_management: { note: CANARY } }],
  ['diagnostics, a text in it', 'left out', { diagnostics: { note: ARGS } }],
  [
    'context_management, a text in it',
    'left out',
    { context_management: { applied_edits: [{ input: ARGS }] } },
  ],
  ['container, what it has besides', 'left out', { container: { id: 'c', input: INPUT } }],
  ['error', 'left out', { error: { message: CANARY } }],
]

const MESSAGES_WHOLE: readonly (readonly [
  place: string,
  expect: Expectation,
  reply: Json,
  covers?: string,
])[] = [
  ...Object.keys(BLOCKS).map((type) => [`content[], ${type}`, 'denied', reply([block(type)]), type] as const),
  ...BLOCK_FORMS.map(([place, form]) => [`content[], ${place}`, 'denied', reply([form])] as const),
  ['content[], the second', 'denied', reply([TEXT, TOOL], { stop_reason: 'tool_use' })],
  ['content[], two of one id', 'denied', reply([TOOL, TOOL], { stop_reason: 'tool_use' })],
  [
    'content[], the last of a reply that was cut',
    'denied',
    reply([TEXT, TOOL], { stop_reason: 'max_tokens' }),
  ],
  ['content[][]', 'garbled', reply([[TOOL]])],
  ['content[] that is a text', 'garbled', reply([ARGS])],
  ['content that is a text', 'garbled', reply(ARGS)],
  ['content that is an object', 'garbled', reply({ 0: TOOL })],
  ['text.input', 'left out', reply([{ ...TEXT, input: INPUT, name: CANARY }])],
  ['text.text that is no text', 'garbled', reply([{ type: 'text', text: INPUT }])],
  [
    'text.citations[] of an unknown kind',
    'left out',
    reply([{ ...TEXT, citations: [{ type: 'call', cited_text: ARGS }] }]),
  ],
  [
    'text.citations[].input',
    'left out',
    reply([{ ...TEXT, citations: [{ type: 'char_location', cited_text: 'a', input: INPUT }] }]),
  ],
  ['thinking.input', 'left out', reply([{ type: 'thinking', thinking: 'a', signature: 's', input: INPUT }])],
  ['redacted_thinking.input', 'left out', reply([{ type: 'redacted_thinking', data: 'a', input: INPUT }])],
  ['compaction.input', 'left out', reply([{ type: 'compaction', content: 'a', input: INPUT }])],
  ['compaction.content that is no text', 'left out', reply([{ type: 'compaction', content: [TOOL] }])],
  [
    'fallback.input',
    'left out',
    reply([{ type: 'fallback', from: { model: 'a', input: INPUT }, to: { model: 'b' }, input: INPUT }]),
  ],
  ['content, twice', 'left out', twice(reply([TOOL], { x: 'HERE' }), 'HERE', '0,"content":[]')],
  ['input, twice', 'denied', twice(reply([{ ...TOOL, x: 'HERE' }]), 'HERE', '0,"input":{"a":1}')],
  [
    '__proto__',
    'left out',
    twice(reply([TEXT], { x: 'HERE' }), 'HERE', `0,"__proto__":{"tool_use":${JSON.stringify(TOOL)}}`),
  ],
  ['stop_reason', 'garbled', reply([TEXT], { stop_reason: ARGS })],
  ['the type of the message', 'garbled', reply([TOOL], { type: 'completion' })],
  ['the role of the message', 'garbled', reply([TOOL], { role: 'tool' })],
  ['an error in place of a message', 'garbled', { type: 'error', error: { message: 'no', input: INPUT } }],
  ['a list', 'garbled', [reply([TOOL])]],
  ...MESSAGES_AROUND.map(([place, expect, members]) => [place, expect, reply([TEXT], members)] as const),
  ['stop_sequence', 'words', reply([TEXT], { stop_sequence: CANARY })],
]

const START = { type: 'message_start', message: reply([], { stop_reason: null }) }
const STOP = { type: 'message_stop' }
const ENDING = {
  type: 'message_delta',
  delta: { stop_reason: 'tool_use', stop_sequence: null },
  usage: { output_tokens: 4 },
}
const start = (content_block: Json, index: Json = 0): JsonObject => ({
  type: 'content_block_start',
  index,
  content_block,
})
const change = (delta: Json, index: Json = 0): JsonObject => ({ type: 'content_block_delta', index, delta })
const stop = (index = 0): JsonObject => ({ type: 'content_block_stop', index })
const json = (partial_json: Json, index = 0): JsonObject =>
  change({ type: 'input_json_delta', partial_json }, index)
const within = (...events: Streamed): Streamed => [START, ...events, ENDING, STOP]
/** Something in the middle of a text. */
const amid = (...events: Streamed): Streamed =>
  within(start({ type: 'text', text: '' }), change({ type: 'text_delta', text: 'Well.' }), ...events, stop())

const EMPTY = { ...TOOL, input: {} }
const JSON_PIECES = letters(ARGS).map((each) => json(each))

const MESSAGES_STREAMED: readonly (readonly [
  place: string,
  expect: Expectation,
  reply: Streamed,
  covers?: string,
])[] = [
  ...Object.keys(BLOCKS).map(
    (type) => [`content_block_start, ${type}`, 'denied', within(start(block(type)), stop()), type] as const,
  ),
  ...Object.keys(BLOCKS)
    .filter((type) => type.toLowerCase().endsWith('_use'))
    .map(
      (type) =>
        [
          `input_json_delta, ${type}`,
          'denied',
          within(start({ ...block(type), input: {} }), ...JSON_PIECES, stop()),
        ] as const,
    ),
  ...BLOCK_FORMS.map(
    ([place, form]) => [`content_block_start, ${place}`, 'denied', within(start(form), stop())] as const,
  ),
  ['input_json_delta, at once', 'denied', within(start(EMPTY), json(ARGS), stop())],
  [
    'input_json_delta of two interleaved blocks',
    'denied',
    within(
      start(EMPTY),
      start({ ...EMPTY, id: 'b' }, 1),
      ...letters(ARGS).flatMap((each) => [json(each), json(each, 1)]),
      stop(),
      stop(1),
    ),
  ],
  ['input_json_delta, and an input in the start', 'garbled', within(start(TOOL), json(ARGS), stop())],
  ['input_json_delta that is no text', 'garbled', within(start(EMPTY), json(INPUT), stop())],
  ['input_json_delta of a text', 'garbled', amid(json(ARGS))],
  [
    'input_json_delta of a thought',
    'garbled',
    within(start({ type: 'thinking', thinking: '', signature: '' }), json(ARGS), stop()),
  ],
  ['input_json_delta of a block that never began', 'garbled', within(json(ARGS))],
  ['input_json_delta of another block', 'garbled', within(start(EMPTY), json(ARGS, 1), stop())],
  ['input_json_delta after the end of its block', 'garbled', within(start(EMPTY), stop(), json(ARGS))],
  ['input_json_delta of a block without an end', 'denied', within(start(EMPTY), json(ARGS))],
  [
    'input_json_delta of a call that was cut',
    'denied',
    [
      START,
      start(EMPTY),
      json(ARGS.slice(0, -2)),
      stop(),
      { ...ENDING, delta: { stop_reason: 'max_tokens' } },
      STOP,
    ],
  ],
  [
    'text_delta of a call',
    'garbled',
    within(start(EMPTY), change({ type: 'text_delta', text: ARGS }), stop()),
  ],
  [
    'a delta of an unknown type',
    'garbled',
    within(start(EMPTY), change({ type: 'call_delta', partial_json: ARGS }), stop()),
  ],
  ['a delta of an unknown type, of a text', 'garbled', amid(change({ type: 'call_delta', text: ARGS }))],
  ['a delta without a type', 'garbled', within(start(EMPTY), change({ partial_json: ARGS }), stop())],
  ['a delta that is a text', 'garbled', within(start(EMPTY), change(ARGS), stop())],
  [
    'text_delta.partial_json',
    'left out',
    amid(change({ type: 'text_delta', text: 'a', partial_json: ARGS, input: INPUT })),
  ],
  [
    'citations_delta of an unknown kind',
    'garbled',
    amid(change({ type: 'citations_delta', citation: { type: 'call', cited_text: ARGS } })),
  ],
  [
    'deltas of an unknown block',
    'denied',
    within(start({ type: 'browser_use' }), json(ARGS), change({ type: 'text_delta', text: ARGS }), stop()),
  ],
  [
    'deltas of a result that was not allowed',
    'denied',
    within(start(block('web_search_tool_result')), change({ type: 'text_delta', text: ARGS }), stop()),
  ],
  [
    'content_block_delta.content_block',
    'left out',
    amid({ ...change({ type: 'text_delta', text: 'a' }), content_block: TOOL, input: INPUT }),
  ],
  [
    'content_block_start.input',
    'left out',
    within({ ...start(TEXT), input: INPUT, delta: { partial_json: ARGS } }, stop()),
  ],
  ['content_block_start, text.input', 'left out', within(start({ ...TEXT, input: INPUT }), stop())],
  ['content_block_start, text of no text', 'garbled', within(start({ type: 'text', text: INPUT }), stop())],
  ['content_block_start of a text', 'garbled', within(start(ARGS), stop())],
  ['content_block_start of one that is there', 'garbled', amid(start(TOOL))],
  ['content_block_start of no place', 'garbled', within(start(TOOL, null))],
  ['content_block_start of a place that makes no sense', 'garbled', within(start(TOOL, -1))],
  ['content_block_start of a place that is a text', 'garbled', within(start(TOOL, '0'))],
  ['content_block_start after message_delta', 'garbled', [START, ENDING, start(TOOL), stop(), STOP]],
  ['content_block_start before message_start', 'garbled', [start(TOOL), stop(), ENDING, STOP]],
  [
    'content_block_stop.content_block',
    'left out',
    within(start({ type: 'text', text: '' }), { ...stop(), content_block: TOOL, input: INPUT }),
  ],
  ['a call, and then nothing', 'cut', [START, start({ type: 'text', text: '' }), start(TOOL, 1)]],
  ['message_start.message.content', 'garbled', [{ ...START, message: reply([TOOL]) }]],
  ['message_start.message.content that is a text', 'garbled', [{ ...START, message: reply(ARGS) }]],
  ['message_start.content', 'left out', [{ ...START, content: [TOOL] }, ENDING, STOP]],
  ['message_start, twice', 'garbled', [START, { ...START, message: reply([TOOL]) }]],
  [
    'message_delta.delta.content',
    'left out',
    [
      START,
      { ...ENDING, delta: { stop_reason: 'end_turn', content: [TOOL], tool_calls: [functionCall()] } },
      STOP,
    ],
  ],
  ['message_delta.content', 'left out', [START, { ...ENDING, content: [TOOL] }, STOP]],
  ['message_delta.delta.stop_reason', 'garbled', [START, { ...ENDING, delta: { stop_reason: ARGS } }, STOP]],
  [
    'message_delta.delta.container',
    'left out',
    [START, { ...ENDING, delta: { stop_reason: 'end_turn', container: { id: 'c', input: INPUT } } }, STOP],
  ],
  [
    'message_delta.usage, a word in it',
    'left out',
    [START, { ...ENDING, usage: { output_tokens: 1, note: CANARY } }, STOP],
  ],
  [
    'message_delta.usage, a list in it',
    'left out',
    [START, { ...ENDING, usage: { output_tokens: 1, notes: [CANARY] } }, STOP],
  ],
  ['message_stop.message', 'left out', [START, ENDING, { ...STOP, message: reply([TOOL]), content: [TOOL] }]],
  ['ping.input', 'left out', within({ type: 'ping', input: INPUT, content_block: TOOL })],
  ['an unknown event with a block', 'garbled', within({ type: 'thing', content_block: TOOL })],
  ['an unknown event with an input', 'garbled', within({ type: 'thing', thing: { input: INPUT } })],
  ['an unknown event of the name of a call', 'garbled', within({ type: 'tool_call', note: CANARY })],
  ['an unknown event of unknown members', 'left out', within({ type: 'thing', note: CANARY })],
  [
    'an unknown event that nests it deep',
    'garbled',
    within({ type: 'thing', note: Array.from({ length: 40 }).reduce<Json>((inner) => [inner], INPUT) }),
  ],
  ['an event without a type', 'garbled', within({ content_block: TOOL })],
  [
    'an event with another type on the wire',
    'garbled',
    within(wire(start(TOOL), 'event: ping\ndata: $\n\n')),
  ],
  [
    'the type of an event on the wire',
    'garbled',
    within(wire({ type: 'ping' }, `event: ${CANARY}\ndata: $\n\n`)),
  ],
  ['a chunk of Chat Completions', 'garbled', within(CALL)],
  [
    'an event of Responses',
    'garbled',
    within({ type: 'response.function_call_arguments.delta', delta: ARGS }),
  ],
  ['an item of Responses', 'garbled', within({ type: 'response.output_item.done', item: SENT })],
  ['an event that is no JSON', 'garbled', within(`data: ${ARGS.slice(1)}\n\n`)],
  ['an event that is a list', 'garbled', within(`data: ${JSON.stringify([start(TOOL)])}\n\n`)],
  ['a comment', 'left out', within(`: ${CANARY}\n\n`)],
  [
    'other fields of an event',
    'left out',
    within(wire({ type: 'ping' }, `event: ping\nid: ${CANARY}\nretry: ${CANARY}\ndata: $\n\n`)),
  ],
  ['after message_stop', 'left out', [START, ENDING, STOP, start(TOOL), json(ARGS), stop()]],
  [
    'error, what it says besides',
    'left out',
    [START, { type: 'error', error: { type: 'api_error', message: 'no', input: INPUT }, input: INPUT }],
  ],
  [
    'error, while a call is held',
    'left out',
    [START, start(EMPTY), json(ARGS), { type: 'error', error: { type: 'api_error', message: 'no' } }],
  ],
  ...MESSAGES_AROUND.map(
    ([place, expect, members]) =>
      [
        `message_start, ${place}`,
        expect,
        [{ ...START, message: reply([], { ...members, stop_reason: null }) }, ENDING, STOP],
      ] as const,
  ),
]

type Entry<Reply> = readonly [place: string, expect: Expectation, reply: Reply, covers?: string]

const whole = (dialect: DialectName, rows: readonly Entry<Json>[]): Row[] =>
  rows.map(([place, expect, each, covers]) => ({
    dialect,
    streamed: false,
    place,
    expect,
    reply: each,
    covers,
  }))
const streamed = (dialect: DialectName, rows: readonly Entry<Streamed>[]): Row[] =>
  rows.map(([place, expect, each, covers]) => ({
    dialect,
    streamed: true,
    place,
    expect,
    reply: each,
    covers,
  }))

/** The table. */
export const PLACES: readonly Row[] = [
  ...whole('chat', CHAT_WHOLE),
  ...streamed('chat', CHAT_STREAMED),
  ...whole('responses', RESPONSES_WHOLE),
  ...streamed('responses', RESPONSES_STREAMED),
  ...whole('messages', MESSAGES_WHOLE),
  ...streamed('messages', MESSAGES_STREAMED),
]

/** The wire text of a row's events. */
export function wireOf(dialect: DialectName, events: Streamed): string {
  return events.map((each) => (typeof each === 'string' ? each : eventText(dialect, each))).join('')
}

function eventText(dialect: DialectName, data: JsonObject): string {
  const type = dialect !== 'chat' && typeof data.type === 'string' ? { type: data.type } : {}
  return formatSse(JSON.stringify(data), type)
}
