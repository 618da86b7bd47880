// Streams a short notice whenever something changes that people act on: open approval requests, freezes, pins, the policy. The
// notice has no contents; the reader asks for them.

import { sha256Hex, type Kind } from '@tollgate/evidence'
import type { Kernel } from '@tollgate/kernel'
import type { LedgerView } from '../view.ts'
import { kernelOf, type ApiQuestion, type ApiRoute, type Reply } from './route.ts'
import { TEXT } from './schema.ts'
import { releasing, createChangeSignal } from './stream.ts'

const HEARTBEAT_MS = 15_000
/** Kinds of receipts that change what a person sees beside the calls. */
const STATE_KINDS: readonly Kind[] = ['freeze', 'pin', 'policy', 'observe', 'key']

interface Notice {
  /** The number of requests that wait for an answer. */
  readonly waiting: number
  /** Changes with the open requests and their answers. */
  readonly approvals: string
  /** The index of the newest receipt of a freeze, a pin, a policy, observe mode or a key; -1 if there is none. */
  readonly state: number
}

async function noticeOf(kernel: Kernel, view: LedgerView, tenant: string): Promise<Notice> {
  const requests = kernel.approvals.list(kernel.host.now()).filter((each) => each.tenant === tenant)
  const told = requests.map(({ id, answer }) => `${id} ${answer === null ? '' : String(answer.granted)}`)
  return {
    waiting: requests.filter(({ answer }) => answer === null).length,
    approvals: sha256Hex(told.join('\n')).slice(0, 16),
    state: (await view.indexesOf(STATE_KINDS)).at(-1) ?? -1,
  }
}

function stream(question: ApiQuestion): Reply {
  const kernel = kernelOf(question.options)
  const release = question.mayWait()
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8' },
    body: releasing(follow(question, kernel), release),
  }
}

async function* follow(question: ApiQuestion, kernel: Kernel): AsyncGenerator<string> {
  const { options, identity } = question
  const changes = createChangeSignal()
  const leave = [options.watch(() => changes.ring()), question.onEnd(() => changes.end())]
  question.metrics.streams(1)
  try {
    let last = ''
    while (!changes.ended && question.stillKnown()) {
      changes.close()
      const notice = JSON.stringify(await noticeOf(kernel, options.view, identity.tenant))
      if (notice !== last) yield `event: notice\ndata: ${notice}\n\n`
      last = notice
      if (!(await changes.wait(HEARTBEAT_MS))) yield ': \n\n'
    }
  } finally {
    question.metrics.streams(-1)
    for (const each of leave) each()
  }
}

export const noticeRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/notices',
    id: 'streamNotices',
    about:
      'Streams a notice at once and after each change of the open approval requests, freezes, pins, the policy or observe mode, as server-sent events: `event` is `notice`, `data` is `{waiting, approvals, state}`. `waiting` is the number of open requests. The other two change with the requests and with the rest. A comment is sent every 15 seconds. The stream ends when the token expires or is revoked.',
    roles: ['operator', 'admin', 'auditor'],
    answers: { 200: { about: 'The stream.', type: 'text/event-stream; charset=utf-8', schema: TEXT } },
    problems: ['too-many-waiting', 'gateway-needed'],
    answer: stream,
  },
]
