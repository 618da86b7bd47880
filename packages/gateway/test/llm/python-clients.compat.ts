// Official Python clients and frameworks behind a real gateway, unmodified but for their base URL.

import { answerRequest } from '@tollgate/kernel/admin'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Mark } from '../../../../tools/compat/rows.ts'
import { pypi, saw } from '../../../../tools/compat/saw.ts'
import { compatPython, PythonLines } from '../../../../tools/compat/python.ts'
import { openDoorTo, openLlmGate, type LlmGate } from './gate.ts'
import { LLM_DOORS, streamedIf } from './sightings.ts'
import { startUpstream, type Step } from './upstream.ts'

const PURE = ['final_result', 'Note', 'transfer_to_*'].map((name) => `  "${name}": { pure: true }`).join('\n')
const POLICY = `
tollgate: 1
name: python
principals: { "agent:*": { tier: standard } }
tools:
  read_note: { effect: read, destinations: none }
  send_mail: { effect: send, destinations: none }
${PURE}
rules:
`
const NAMES = '[final_result, Note, "transfer_to_*"]'
const ALLOWING = `${POLICY}  - { id: reading, allow: read_note }\n  - { id: pure, allow: ${NAMES} }\n  - { id: mail, deny: send_mail }\n`
const DENYING = `${POLICY}  - { id: reading, allow: read_note }\n  - { id: pure, deny: ${NAMES} }\n`
const ASKING = `${POLICY}  - { id: asked, require: read_note, expires: 15m }\n`

interface Ended {
  readonly output?: unknown
  readonly error?: string
  readonly ran: readonly string[]
}

interface Agent {
  readonly name: string
  readonly dialect: 'chat' | 'responses' | 'anthropic'
  /** The tool that carries the structured output; undefined if the reply itself does; false if there is none. */
  readonly answers?: string | false
  readonly handsOver?: boolean
}

const AGENTS: readonly Agent[] = [
  { name: 'openai', dialect: 'chat' },
  { name: 'openai', dialect: 'responses' },
  { name: 'anthropic', dialect: 'anthropic', answers: false },
  { name: 'openai-agents', dialect: 'chat', handsOver: true },
  { name: 'openai-agents', dialect: 'responses', handsOver: true },
  { name: 'pydantic-ai-slim', dialect: 'chat', answers: 'final_result' },
  { name: 'pydantic-ai-slim', dialect: 'responses', answers: 'final_result' },
  { name: 'pydantic-ai-slim', dialect: 'anthropic' },
  { name: 'langchain', dialect: 'chat', answers: 'Note', handsOver: true },
  { name: 'langchain', dialect: 'responses', answers: 'Note', handsOver: true },
  { name: 'langchain', dialect: 'anthropic', answers: 'Note', handsOver: true },
]

const READ = { name: 'read_note', args: { name: 'list' } }
const MAIL = { name: 'send_mail', args: { name: 'eve' } }
const DONE: Step = { text: 'All done.' }
const REFUSED = /\[Tollgate\] The call to `[\w-]+` was not run/

const python = compatPython()

describe.skipIf(python === undefined)('the Python client', () => {
  let lines: PythonLines
  let gates: Record<'allowing' | 'denying' | 'asking', LlmGate>
  let agents = 0

  beforeAll(async () => {
    lines = new PythonLines(python ?? '', new URL('python-clients.py', import.meta.url))
    const unused = { upstream: 'http://127.0.0.1:9' }
    const [allowing, denying, asking] = await Promise.all(
      [ALLOWING, DENYING, ASKING].map((policy) => openLlmGate({ ...unused, policy })),
    )
    if (!allowing || !denying || !asking) throw new Error('no gateway')
    gates = { allowing, denying, asking }
  })
  afterAll(async () => {
    await lines.end()
    for (const gate of Object.values(gates)) await gate.close()
  })

  describe.each(AGENTS)('$name, $dialect', ({ name, dialect, answers, handsOver = false }) => {
    const door = LLM_DOORS[dialect]

    async function run(
      of: keyof typeof gates,
      steps: readonly Step[],
      { stream = false, kind = 'loop' }: { stream?: boolean; kind?: string } = {},
    ): Promise<Ended> {
      const principal = `agent:p${agents++}`
      const upstream = await startUpstream(...steps)
      const wait = of === 'asking' ? { wait: 300_000, quiet: 50 } : {}
      const open = await openDoorTo(gates[of], upstream.url, principal, wait)
      const approved = of === 'asking' ? approve(gates[of], principal) : undefined
      try {
        const call = { agent: `${name}, ${dialect}`, base: open.url, key: open.token, stream, kind }
        // Sound: the form of the answers of the program.
        const ended = (await lines.ask(call)) as Ended
        await approved
        expect(
          upstream.requests.map(({ objection }) => objection).filter((each) => each !== undefined),
        ).toEqual([])
        expect(upstream.left, JSON.stringify(ended)).toBe(0)
        return ended
      } finally {
        await open.close()
        await upstream.close()
      }
    }

    function sawIt(use: string | undefined, stream: boolean, ...marks: readonly Mark[]): void {
      saw(pypi(name, use), door, ...streamedIf(stream), ...marks)
    }

    describe.each([false, true])('streamed: %s', (stream) => {
      test('runs an allowed call', async () => {
        const ended = await run('allowing', [{ calls: [READ] }, DONE], { stream })
        expect(ended).toEqual({ output: 'All done.', ran: ['read_note'] })
        sawIt(undefined, stream, 'allowed')
      })

      test('ends with the reason if the only call is denied', async () => {
        const ended = await run('allowing', [{ calls: [MAIL] }], { stream })
        expect(ended.ran).toEqual([])
        expect(String(ended.output)).toMatch(REFUSED)
        sawIt(undefined, stream, 'denied')
      })

      test('runs the allowed call beside a denied one', async () => {
        const ended = await run('allowing', [{ calls: [MAIL, READ] }, DONE], { stream })
        expect(ended).toEqual({ output: 'All done.', ran: ['read_note'] })
        sawIt(undefined, stream, 'allowed', 'denied', 'parallel')
      })

      test('waits for an approval, and runs the call', async () => {
        const ended = await run('asking', [{ calls: [READ] }, DONE], { stream })
        expect(ended).toEqual({ output: 'All done.', ran: ['read_note'] })
        sawIt(undefined, stream, 'escalated')
      })
    })

    describe.each(answers === false ? [] : [false, true])(
      'with a structured output, streamed: %s',
      (stream) => {
        const kind = 'structured'
        const answer: Step =
          typeof answers === 'string'
            ? { calls: [{ name: answers, args: { text: 'milk' } }] }
            : { text: '{"text":"milk"}' }

        test('gets it after an allowed call', async () => {
          const ended = await run('allowing', [{ calls: [READ] }, answer], { stream, kind })
          expect(ended).toEqual({ output: { text: 'milk' }, ran: ['read_note'] })
          sawIt('structured output', stream, 'allowed', 'structured')
        })

        test('gets the reason, and not nothing, if a call is denied', async () => {
          const steps: Step[] = [
            { calls: [typeof answers === 'string' ? { name: answers, args: { text: 'milk' } } : MAIL] },
          ]
          const ended = await run('denying', steps, { stream, kind })
          expect(ended.ran).toEqual([])
          expect(JSON.stringify(ended)).toMatch(REFUSED)
          sawIt('structured output', stream, 'denied', 'structured')
        })
      },
    )

    describe.each(handsOver ? ['handoff'] : [])('with a %s', (kind) => {
      const steps: Step[] = [{ calls: [{ name: 'transfer_to_billing', args: {} }] }]

      test('reaches the other agent', async () => {
        const last = name === 'langchain' ? [] : [{ text: 'Paid.' }]
        const ended = await run('allowing', [...steps, ...last], { kind })
        expect(ended).toEqual({ output: ['billing', 'Paid.'], ran: [] })
        sawIt('handoff', false, 'allowed')
      })

      test('gets the reason if it is denied', async () => {
        const ended = await run('denying', steps, { kind })
        expect(JSON.stringify(ended)).toMatch(REFUSED)
        expect(JSON.stringify(ended)).not.toContain('billing"')
        sawIt('handoff', false, 'denied')
      })
    })
  })
})

/** Approves the next request of an agent. */
async function approve({ running: { gateway } }: LlmGate, principal: string): Promise<void> {
  const { kernel, watch } = gateway
  const request = await new Promise<string>((resolve) => {
    const stop = watch(() => {
      const found = kernel.approvals.list(kernel.host.now()).find((one) => one.principal === principal)
      if (!found) return
      stop()
      resolve(found.id)
    })
  })
  await answerRequest(kernel, { tenant: 'default', request, granted: true, approver: 'user:olga' })
}
