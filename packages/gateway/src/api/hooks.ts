// The route of the hook door: coding agents ask it about each call of their own tools, and report the results.

import { MAX_WAIT, readWait, type AnswerWait } from '../answer-wait.ts'
import { hookClient } from '../hooks/clients.ts'
import { answerHook } from '../hooks/door.ts'
import { PayloadFault, type HookClient, type HookEvent } from '../hooks/event.ts'
import { kernelCaller } from '../tokens.ts'
import { unknownToken } from './auth.ts'
import { Problem } from './problem.ts'
import { json, kernelOf, queryIn, type ApiQuestion, type ApiRoute, type Reply } from './route.ts'

async function answer(question: ApiQuestion): Promise<Reply> {
  const { options, identity, params, asked } = question
  const kernel = kernelOf(options)
  const client = hookClient(params['client'] ?? '')
  if (!client) throw new Problem('not-found')
  const event = eventIn(question, client)
  const wait = new HookWait(question)
  try {
    const answer = await answerHook(
      {
        ...{ kernel, client, caller: kernelCaller(identity), log: options.log, wait: () => wait.begin() },
        traceparent: asked.header('traceparent'),
        local: asked.local,
      },
      event,
    )
    // Checked after the decision: the ledger may be poisoned now, or the token revoked.
    if (kernel.ledger.poisoned !== undefined) throw new Problem('ledger-unavailable')
    if (!question.stillKnown()) throw unknownToken(question.asked)
    return json(200, client.write(event, answer))
  } finally {
    wait.end()
  }
}

/** Reads the event. @throws Problem for a payload that is not understood; the client then denies the call. */
function eventIn(question: ApiQuestion, client: HookClient): HookEvent {
  const { asked, body } = question
  try {
    return client.read(body, { event: queryIn(question, 'event'), entry: asked.header('tollgate-entry') })
  } catch (fault) {
    if (!(fault instanceof PayloadFault)) throw fault
    throw new Problem('request-invalid', `the payload cannot be read: ${fault.message}`, {
      remedy: 'Run `tollgate doctor`. Your version of the client may need a newer Tollgate.',
    })
  }
}

/** The wait of one request for the answers of people. */
class HookWait {
  readonly #question: ApiQuestion
  readonly #ending = new AbortController()
  readonly #leave: (() => void)[] = []

  constructor(question: ApiQuestion) {
    this.#question = question
    // Before the first decision: the gateway may stop while it is made.
    this.#leave.push(question.onEnd(() => this.#ending.abort()))
  }

  /** Begins the wait that the header asks for. @throws Problem for an unreadable time, or if too many requests wait. */
  begin(): AnswerWait {
    const question = this.#question
    const { asked, options } = question
    const left = readWait(asked.header('tollgate-wait') ?? '0')
    if (left === undefined)
      throw new Problem('request-invalid', 'the header `tollgate-wait` must be a time such as `50s`, or 0')
    if (left > 0) {
      asked.mayTakeLong()
      this.#leave.push(question.mayWait())
    }
    return {
      left: Math.min(left, MAX_WAIT),
      signal: this.#ending.signal,
      watch: (listener) => options.watch(listener),
    }
  }

  end(): void {
    for (const leave of this.#leave) leave()
  }
}

/** The hook door. */
export const hookRoutes: readonly ApiRoute[] = [
  {
    method: 'POST',
    path: '/v1/hooks/{client}',
    id: 'answerHook',
    about:
      'Decides a call of a coding agent’s own tool, or takes its result, in the form of the agent’s hooks. `tollgate setup` writes the hooks. With the header `tollgate-wait: 50s`, a call that needs an approval waits this long for it. The client must deny the call on every other status.',
    roles: ['agent'],
    params: { client: { type: 'string', pattern: '^[0-9a-z-]{1,64}$' } },
    query: {
      event: {
        type: 'string',
        pattern: '^[A-Za-z.]{1,40}$',
        description: 'The event of the hook, for clients whose payloads do not name it.',
      },
    },
    body: { schema: { type: 'object', description: 'The payload of the hook, as the client sends it.' } },
    answers: {
      200: { about: 'The decision, in the form of the client.', schema: { type: 'object' } },
    },
    problems: ['gateway-needed', 'ledger-unavailable', 'too-many-waiting'],
    answer,
  },
]
