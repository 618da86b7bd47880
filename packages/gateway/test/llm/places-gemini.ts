// Every place of a Gemini reply where a call or something like one can appear, and the required handling.

import type { Json, JsonObject } from '@tollgate/evidence'
import { ARGS, CANARY, INPUT, type Expectation, type Row } from './places.ts'

type Entry = readonly [place: string, expect: Expectation, reply: JsonObject, covers?: string]

const CALL: JsonObject = { name: 'send_mail', args: INPUT }
const FINISHED = { finishReason: 'STOP', index: 0 }
const USAGE = { promptTokenCount: 8, candidatesTokenCount: 4, totalTokenCount: 12 }
const HEAD = { usageMetadata: USAGE, modelVersion: 'm', responseId: 'r1' }

const candidate = (parts: Json, more: JsonObject = {}): JsonObject => ({
  content: { role: 'model', parts },
  ...FINISHED,
  ...more,
})
const response = (...candidates: readonly Json[]): JsonObject => ({ candidates, ...HEAD })
const saying = (...parts: readonly Json[]): JsonObject => response(candidate(parts))
const beside = (members: JsonObject): JsonObject => response(candidate([{ text: 'Well.' }], members))
const called = (members: JsonObject, part: JsonObject = {}): JsonObject =>
  saying({ functionCall: { ...CALL, ...members }, ...part })

/** A part of each kind, with the canary in it. */
const PARTS: readonly Entry[] = [
  ['functionCall', 'denied', called({}), 'functionCall'],
  ['functionCall with an id', 'denied', called({ id: 'c1' })],
  ['functionCall of an undeclared function', 'denied', called({ name: 'no' })],
  ['functionCall without a name', 'denied', called({ name: null })],
  ['functionCall.name that holds them', 'denied', called({ name: ARGS, args: {} })],
  ['functionCall.name that is no text', 'denied', called({ name: [CANARY] })],
  ['functionCall.args that are a text', 'denied', called({ args: ARGS })],
  ['functionCall.args that are a list', 'denied', called({ args: [INPUT] })],
  ['functionCall.arguments beside none', 'denied', called({ args: null, arguments: ARGS })],
  ['functionCall.id that holds them', 'denied', called({ id: ARGS })],
  ['functionCall.id that is no text', 'denied', called({ id: [ARGS] })],
  ['functionCall.partialArgs', 'denied', called({ args: null, partialArgs: [{ stringValue: CANARY }] })],
  ['functionCall.willContinue', 'denied', called({ willContinue: true })],
  ['functionCall beside a text', 'denied', called({}, { text: 'a' })],
  ['functionCall of a thought', 'denied', called({}, { thought: true })],
  ['functionCall with a signature', 'denied', called({}, { thoughtSignature: CANARY })],
  ['functionCall that is a text', 'denied', saying({ functionCall: ARGS })],
  ['functionCall that is a list', 'denied', saying({ functionCall: [CALL] })],
  ['function_call, the other spelling', 'denied', saying({ function_call: CALL })],
  [
    'two calls of one id',
    'denied',
    saying({ functionCall: { ...CALL, id: 'a' } }, { functionCall: { ...CALL, id: 'a' } }),
  ],
  ['two equal calls', 'denied', saying({ functionCall: CALL }, { functionCall: CALL })],
  [
    'functionResponse',
    'denied',
    saying({ functionResponse: { name: 'x', response: INPUT } }),
    'functionResponse',
  ],
  [
    'executableCode',
    'denied',
    saying({ executableCode: { language: 'PYTHON', code: CANARY } }),
    'executableCode',
  ],
  [
    'codeExecutionResult',
    'denied',
    saying({ codeExecutionResult: { outcome: 'OUTCOME_OK', output: CANARY } }),
    'codeExecutionResult',
  ],
  ['toolCall', 'denied', saying({ toolCall: { toolType: 'GOOGLE_SEARCH_WEB', args: INPUT } }), 'toolCall'],
  ['toolCall of an unknown type', 'denied', saying({ toolCall: { toolType: 'SHELL', args: INPUT } })],
  [
    'toolResponse',
    'denied',
    saying({ toolResponse: { toolType: 'URL_CONTEXT', response: INPUT } }),
    'toolResponse',
  ],
  ['fileData', 'denied', saying({ fileData: { fileUri: CANARY } }), 'fileData'],
  ['audioTranscription', 'denied', saying({ audioTranscription: { text: CANARY } }), 'audioTranscription'],
  ['speechMetadata alone', 'denied', saying({ speechMetadata: { note: CANARY } }), 'speechMetadata'],
  ['mediaProcessing alone', 'denied', saying({ mediaProcessing: { note: CANARY } }), 'mediaProcessing'],
  ['a part of an unknown kind', 'denied', saying({ act: INPUT })],
  ['a text that is no text', 'denied', saying({ text: INPUT })],
  ['a text beside an unknown member', 'denied', saying({ text: 'a', act: INPUT })],
  ['inlineData that is a text', 'denied', saying({ inlineData: ARGS })],
  [
    'inlineData.data that is no text',
    'denied',
    saying({ inlineData: { mimeType: 'image/png', data: INPUT } }),
  ],
  [
    'inlineData.args',
    'left out',
    saying({ inlineData: { mimeType: 'image/png', data: 'aGk=', args: INPUT } }),
  ],
  ['partMetadata of a text', 'left out', saying({ text: 'a', partMetadata: INPUT }), 'partMetadata'],
  ['videoMetadata of a text', 'left out', saying({ text: 'a', videoMetadata: INPUT }), 'videoMetadata'],
  ['mediaResolution of a text', 'left out', saying({ text: 'a', mediaResolution: INPUT }), 'mediaResolution'],
  ['thought that is no flag', 'left out', saying({ text: 'a', thought: INPUT })],
  ['thoughtSignature that is no text', 'left out', saying({ text: 'a', thoughtSignature: INPUT })],
  ['thoughtSignature that holds a sentence', 'left out', saying({ text: 'a', thoughtSignature: ARGS })],
  ['asides alone', 'left out', saying({ thought: true, partMetadata: INPUT }, { text: 'a' })],
  ['parts that are no list', 'garbled', response(candidate({ functionCall: CALL }))],
  ['parts that are a text', 'garbled', response(candidate(ARGS))],
  ['parts[] that is a text', 'garbled', saying(ARGS)],
  ['parts[][]', 'garbled', saying([{ functionCall: CALL }])],
  ['text', 'words', saying({ text: CANARY }), 'text'],
  ['text of a thought', 'words', saying({ text: CANARY, thought: true }), 'thought'],
  ['inlineData', 'words', saying({ inlineData: { mimeType: 'image/png', data: CANARY } }), 'inlineData'],
  ['thoughtSignature of a text', 'words', saying({ text: '', thoughtSignature: CANARY }), 'thoughtSignature'],
]

const TOKENS = CANARY.split('').map((token) => ({ token, logProbability: -0.1 }))

/** The surroundings of the parts. */
const AROUND: readonly Entry[] = [
  [
    'the second candidate',
    'denied',
    response(candidate([{ text: 'a' }]), candidate([{ functionCall: CALL }], { index: 1 })),
  ],
  ['a candidate without an index', 'denied', response(candidate([{ functionCall: CALL }], { index: null }))],
  [
    'finishMessage of a call that is broken',
    'denied',
    beside({ finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: ARGS }),
  ],
  ['finishMessage', 'left out', beside({ finishMessage: ARGS })],
  ['finishReason', 'garbled', beside({ finishReason: ARGS })],
  ['finishReason that is no text', 'garbled', beside({ finishReason: INPUT })],
  ['content.role', 'left out', response({ ...FINISHED, content: { role: CANARY, parts: [{ text: 'a' }] } })],
  [
    'content.functionCall',
    'left out',
    response({ ...FINISHED, content: { parts: [{ text: 'a' }], functionCall: CALL } }),
  ],
  ['content that is a text', 'garbled', response({ ...FINISHED, content: ARGS })],
  ['content that is a list', 'garbled', response({ ...FINISHED, content: [{ functionCall: CALL }] })],
  ['candidate.functionCall', 'left out', beside({ functionCall: CALL })],
  ['candidate.parts', 'left out', beside({ parts: [{ functionCall: CALL }] })],
  [
    'candidate.groundingMetadata of a search that was not allowed',
    'left out',
    beside({
      groundingMetadata: { webSearchQueries: [CANARY], groundingChunks: [{ web: { uri: CANARY } }] },
    }),
  ],
  [
    'candidate.groundingMetadata of maps that were not allowed',
    'left out',
    beside({ groundingMetadata: { groundingChunks: [{ maps: { uri: CANARY } }] } }),
  ],
  [
    'candidate.urlContextMetadata that was not allowed',
    'left out',
    beside({ urlContextMetadata: { urlMetadata: [{ retrievedUrl: CANARY }] } }),
  ],
  [
    'candidate.citationMetadata, an unknown member',
    'left out',
    beside({ citationMetadata: { call: INPUT, citationSources: [{ args: INPUT }] } }),
  ],
  [
    'candidate.logprobsResult of other words',
    'left out',
    beside({ logprobsResult: { chosenCandidates: TOKENS } }),
  ],
  [
    'candidate.logprobsResult beside a call',
    'denied',
    response(candidate([{ functionCall: CALL }], { logprobsResult: { chosenCandidates: TOKENS } })),
  ],
  [
    'candidate.safetyRatings, a word in it',
    'left out',
    beside({ safetyRatings: [{ category: 'HARM', note: CANARY }] }),
  ],
  ['candidate.continuationToken', 'left out', beside({ continuationToken: CANARY })],
  [
    'candidate.index that is no number',
    'garbled',
    response(candidate([{ functionCall: CALL }], { index: CANARY })),
  ],
  ['candidate.index below zero', 'garbled', response(candidate([{ functionCall: CALL }], { index: -1 }))],
  [
    'one candidate twice',
    'garbled',
    response(candidate([{ text: 'a' }]), candidate([{ functionCall: CALL }])),
  ],
  ['candidates that are no list', 'garbled', { candidates: candidate([{ functionCall: CALL }]), ...HEAD }],
  ['candidates[] that is a text', 'garbled', response(ARGS)],
  [
    'usageMetadata, a word in it',
    'left out',
    { ...saying({ text: 'a' }), usageMetadata: { ...USAGE, note: CANARY } },
  ],
  ['usageMetadata, a name in it', 'left out', { ...saying({ text: 'a' }), usageMetadata: { [CANARY]: 1 } }],
  [
    'promptFeedback.blockReasonMessage',
    'left out',
    { ...saying({ text: 'a' }), promptFeedback: { blockReason: 'OTHER', blockReasonMessage: ARGS } },
  ],
  [
    'modelStatus.message',
    'left out',
    { ...saying({ text: 'a' }), modelStatus: { modelStage: 'STABLE', message: ARGS } },
  ],
  ['modelVersion that holds them', 'left out', { ...saying({ text: 'a' }), modelVersion: ARGS }],
  [
    'automaticFunctionCallingHistory',
    'left out',
    { ...saying({ text: 'a' }), automaticFunctionCallingHistory: [{ parts: [{ functionCall: CALL }] }] },
  ],
  ['functionCalls, as the client has it', 'left out', { ...saying({ text: 'a' }), functionCalls: [CALL] }],
  [
    'choices, as Chat Completions has it',
    'left out',
    { ...saying({ text: 'a' }), choices: [{ message: { tool_calls: [INPUT] } }] },
  ],
]

const ROWS = [...PARTS, ...AROUND]

/** Responses of a stream. */
const STREAMED: readonly (readonly [string, Expectation, readonly (JsonObject | string)[]])[] = [
  [
    'a call, and then the end',
    'denied',
    [response({ content: { parts: [{ functionCall: CALL }] } }), saying({ text: '' })],
  ],
  [
    'a call, and then nothing',
    'cut',
    [response({ content: { parts: [{ text: 'a' }] } })].concat({ ...HEAD, note: CANARY }),
  ],
  ['a call after the end', 'garbled', [saying({ text: 'a' }), saying({ functionCall: CALL })]],
  [
    'a call after an end of its own',
    'garbled',
    [
      response(candidate([{ text: 'a' }], { index: 1 })),
      response(candidate([{ functionCall: CALL }], { index: 1 })),
    ],
  ],
  [
    'a repeated id in another response',
    'denied',
    [response({ content: { parts: [{ functionCall: { ...CALL, id: 'a' } }] } }), called({ id: 'a' })],
  ],
  ['an event that is no JSON', 'garbled', [`data: ${ARGS.slice(1)}\r\n\r\n`]],
  ['an event that is a list', 'garbled', [`data: ${JSON.stringify([called({})])}\r\n\r\n`]],
  ['a comment', 'left out', [`: ${CANARY}\r\n\r\n`, saying({ text: 'a' })]],
  [
    'other fields of an event',
    'left out',
    [`id: ${CANARY}\r\nevent: ${CANARY}\r\ndata: ${JSON.stringify(saying({ text: 'a' }))}\r\n\r\n`],
  ],
  [
    'error.details',
    'left out',
    [{ error: { code: 500, message: 'no', status: 'INTERNAL', details: [INPUT] }, candidates: [INPUT] }],
  ],
  ['error.status that holds them', 'left out', [{ error: { code: 500, message: 'no', status: ARGS } }]],
  ['an event after an error', 'garbled', [{ error: { code: 500 } }, called({})]],
]

/** The table. */
export const GEMINI_PLACES: readonly Row[] = [
  ...ROWS.map(([place, expect, reply, covers]): Row => ({
    dialect: 'gemini',
    streamed: false,
    place,
    expect,
    reply,
    covers,
  })),
  {
    dialect: 'gemini',
    streamed: false,
    place: 'error, beside nothing',
    expect: 'garbled',
    reply: { error: { message: ARGS } },
  },
  {
    dialect: 'gemini',
    streamed: false,
    place: 'a list of responses',
    expect: 'garbled',
    reply: [called({})],
  },
  ...ROWS.map(([place, expect, reply, covers]): Row => ({
    dialect: 'gemini',
    streamed: true,
    place,
    expect,
    reply: [reply],
    covers,
  })),
  ...STREAMED.map(([place, expect, reply]): Row => ({
    dialect: 'gemini',
    streamed: true,
    place,
    expect,
    reply,
  })),
]
