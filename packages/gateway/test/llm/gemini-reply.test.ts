// Replies of the Gemini API after their calls are judged.

import type { Json, JsonObject } from '@tollgate/evidence'
import { describe, expect, it } from 'vitest'
import { Refused, type Judge, type ProposedCall } from '../../src/llm/dialect.ts'
import { geminiContent, geminiStream } from '../../src/llm/gemini/gemini.ts'

/** Allows `read`, and records what the provider ran, if its tool is allowed. */
function judging(
  allowed: readonly string[] = [],
  more: Partial<Judge> = {},
): Judge & { readonly ranTools: string[] } {
  const ranTools: string[] = []
  return {
    ranTools,
    judge: (proposals) => Promise.resolve(proposals.map(rule)),
    ran(tool) {
      ranTools.push(tool)
      return allowed.includes(tool)
    },
    ...more,
  }
}

function rule({ tool, args }: ProposedCall): Awaited<ReturnType<Judge['judge']>>[number] {
  if (tool === 'read') return { allowed: true, args: JSON.stringify(args) }
  return { allowed: false, code: 'POLICY_VIOLATION', text: `Refused ${tool ?? 'it'}.`, receipt: 'rc' }
}

const READ = { functionCall: { name: 'read', args: { name: 'a' } } }
const MAIL = { functionCall: { name: 'mail', args: { to: 'b' } } }
const SIGNED = { thoughtSignature: 'c2lnbmVk' }

const replyOf = (parts: readonly Json[], more: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', ...more }],
})

async function governed(reply: JsonObject, judge: Judge = judging()): Promise<JsonObject> {
  return geminiContent.governReply(reply, judge)
}

async function partsOf(reply: JsonObject, judge?: Judge): Promise<unknown> {
  const { candidates } = await governed(reply, judge)
  // Sound: the reply has one candidate with content.
  const [{ content }] = candidates as unknown as [{ content: { parts: unknown } }]
  return content.parts
}

async function streamed(judge: Judge, ...responses: readonly JsonObject[]): Promise<unknown[]> {
  const rewriter = geminiStream.openStream(judge)
  let text = ''
  for (const response of responses) {
    text += await rewriter.take({ type: 'message', data: Buffer.from(JSON.stringify(response)) })
  }
  expect(rewriter.ended).toBe(true)
  return text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => JSON.parse(event.slice('data: '.length)) as unknown)
}

describe('calls', () => {
  it('stay in their order, with a text in place of each denied one', async () => {
    expect(await partsOf(replyOf([{ text: 'a' }, READ, MAIL, { text: 'b' }]))).toEqual([
      { text: 'a' },
      READ,
      { text: 'Refused mail.' },
      { text: 'b' },
    ])
  })

  it('without arguments have none, and keep their id', async () => {
    const parts = [{ functionCall: { name: 'read', id: 'x1' } }]
    expect(await partsOf(replyOf(parts))).toEqual([{ functionCall: { id: 'x1', name: 'read', args: {} } }])
  })

  it('that are equal refer to the same function and arguments', async () => {
    const asked: ProposedCall[] = []
    const judge = judging([], {
      judge: (proposals) => {
        asked.push(...proposals)
        return Promise.resolve(proposals.map(rule))
      },
    })
    await governed(replyOf([READ, READ, { functionCall: { name: 'read', args: { name: 'b' } } }]), judge)
    const [one, two, three] = asked.map(({ ref }) => ref)
    expect(one).toMatch(/^function:read#[0-9a-f]{64}$/)
    expect([two === one, three === one]).toEqual([true, false])
  })
})

describe('a thought signature', () => {
  const SKIP = { thoughtSignature: 'skip_thought_signature_validator' }

  it('stays with its call, its text and its thought', async () => {
    const parts = [
      { text: 'a', thought: true, ...SIGNED },
      { text: '', ...SIGNED },
      { ...READ, ...SIGNED },
    ]
    expect(await partsOf(replyOf(parts))).toEqual(parts)
  })

  it('of a denied call is lost, and the first call that is left says so to the provider', async () => {
    expect(await partsOf(replyOf([{ ...MAIL, ...SIGNED }, READ, READ]))).toEqual([
      { text: 'Refused mail.' },
      { ...READ, ...SKIP },
      READ,
    ])
    const chunks = await streamed(
      judging(),
      { candidates: [{ content: { parts: [{ ...MAIL, ...SIGNED }] } }] },
      replyOf([READ]),
    )
    expect(JSON.stringify(chunks)).toContain(JSON.stringify({ ...READ, ...SKIP }))
  })

  it('is not made up where the provider sent none, or where it is not needed', async () => {
    expect(await partsOf(replyOf([MAIL, READ]))).toEqual([{ text: 'Refused mail.' }, READ])
    expect(await partsOf(replyOf([{ ...READ, ...SIGNED }, MAIL, READ]))).toEqual([
      { ...READ, ...SIGNED },
      { text: 'Refused mail.' },
      READ,
    ])
  })
})

describe('a denial in structured output', () => {
  const structured = judging([], { structured: true })

  it('is the reason of the end, not a text', async () => {
    expect(await governed(replyOf([{ text: '{"a":1}' }, MAIL]), structured)).toEqual({
      candidates: [
        {
          content: { role: 'model', parts: [{ text: '{"a":1}' }] },
          finishReason: 'PROHIBITED_CONTENT',
          finishMessage: 'Refused mail.',
        },
      ],
    })
  })

  it('does not end a reply that has a call left, also streamed', async () => {
    const chunks = await streamed(
      structured,
      { candidates: [{ content: { parts: [MAIL] } }] },
      replyOf([READ]),
    )
    expect(chunks.at(-1)).toEqual({
      candidates: [
        { content: { role: 'model', parts: [READ] }, finishReason: 'STOP', finishMessage: 'Refused mail.' },
      ],
    })
  })
})

describe('what tools of the provider have done', () => {
  const FOUND = {
    webSearchQueries: ['a'],
    groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }],
  }
  const ADDRESSES = {
    urlMetadata: [{ retrievedUrl: 'https://a.example', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS' }],
  }
  const CODE = { executableCode: { language: 'PYTHON', code: '1 + 1' } }
  const OUTPUT = { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '2' } }
  const LOOKED = { toolCall: { toolType: 'GOOGLE_SEARCH_WEB', id: 'a', args: { queries: ['x'] } } }

  it('is forwarded if they were allowed', async () => {
    const all = ['google_search', 'url_context', 'code_execution'].map((name) => `gemini/${name}`)
    const more = { groundingMetadata: FOUND, urlContextMetadata: ADDRESSES }
    const reply = replyOf([CODE, OUTPUT, LOOKED, { text: '2' }], more)
    const judge = judging(all)
    const { candidates } = await governed(reply, judge)
    expect(candidates).toMatchObject([{ content: { parts: [CODE, OUTPUT, LOOKED, { text: '2' }] }, ...more }])
    expect(new Set(judge.ranTools)).toEqual(new Set(all))
  })

  it('counts for the tool that has found it', async () => {
    const judge = judging()
    const chunks = [{ maps: { title: 'A' } }, { retrievedContext: { title: 'B' } }]
    await governed(replyOf([{ text: 'a' }], { groundingMetadata: { groundingChunks: chunks } }), judge)
    await governed(replyOf([{ text: 'a' }], { groundingMetadata: { webSearchQueries: ['a'] } }), judge)
    expect(judge.ranTools).toEqual(['gemini/google_maps', 'gemini/google_search'])
  })
})

describe('log probabilities', () => {
  const chosenCandidates = ['he', 'llo'].map((token) => ({ token, tokenId: 7, logProbability: -0.1 }))

  it('are forwarded for exactly the text that is forwarded', async () => {
    const logprobsResult = { chosenCandidates, topCandidates: [{ candidates: chosenCandidates }] }
    const { candidates } = await governed(replyOf([{ text: 'hello' }], { logprobsResult }))
    expect(candidates).toMatchObject([{ logprobsResult }])
    const [other] = (await governed(replyOf([{ text: 'hell' }], { logprobsResult })))
      .candidates as JsonObject[]
    expect(other).not.toHaveProperty('logprobsResult')
  })
})

describe('the end', () => {
  it('is refused if a call is required and none is left', async () => {
    let isRefused = false
    const judge = judging([], {
      requireForced() {
        isRefused = true
        throw new Refused(403, 'POLICY_VIOLATION', 'refused')
      },
    })
    await expect(governed(replyOf([MAIL]), judge)).rejects.toBeInstanceOf(Refused)
    expect(isRefused).toBe(true)
    const rewriter = geminiStream.openStream(judge)
    const data = Buffer.from(JSON.stringify(replyOf([MAIL])))
    await expect(rewriter.take({ type: 'message', data })).rejects.toBeInstanceOf(Refused)
    expect(rewriter.ended).toBe(false)
  })

  it('of a stream comes when every candidate has finished', async () => {
    const rewriter = geminiStream.openStream(judging())
    const take = async (response: JsonObject): Promise<boolean> => {
      await rewriter.take({ type: 'message', data: Buffer.from(JSON.stringify(response)) })
      return rewriter.ended
    }
    expect(await take({ candidates: [{ content: { parts: [{ text: 'a' }] } }, { index: 1 }] })).toBe(false)
    expect(await take({ candidates: [{ finishReason: 'STOP' }] })).toBe(false)
    expect(await take({ candidates: [{ index: 1, finishReason: 'FINISH_REASON_UNSPECIFIED' }] })).toBe(false)
    expect(await take({ candidates: [{ index: 1, finishReason: 'MAX_TOKENS' }] })).toBe(true)
    expect(await take({ usageMetadata: { totalTokenCount: 9 } })).toBe(true)
  })

  it('of a blocked prompt needs no candidate', async () => {
    const promptFeedback = {
      blockReason: 'SAFETY',
      safetyRatings: [{ category: 'HARM', probability: 'HIGH' }],
    }
    expect(await streamed(judging(), { promptFeedback })).toEqual([{ promptFeedback }])
  })
})
