// A stand-in for the gateway with its wire format and a real ledger in memory. It judges with a function and can inject faults,
// see `stand-in-faults.ts`.

import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  canonicalize,
  formatProof,
  formatTrust,
  inclusionProof,
  parseCheckpoint,
  parseJson,
  reasonOf,
  sha256Hex,
  type Json,
  type JsonObject,
  type Receipt,
  type Sealed,
} from '../../evidence/src/index.ts'
import {
  begin,
  createLedger,
  decision,
  effect,
  type Draft,
  type TestLedger,
} from '../../evidence/test/ledger.ts'
import { respond, type Fault } from './stand-in-faults.ts'

export const AGENT_TOKEN = `tg_agent_${'a'.repeat(43)}`
export const OPERATOR_TOKEN = `tg_operator_${'o'.repeat(43)}`

const POLICY_HASH = sha256Hex('the policy of the stand-in')
const ALLOWED_FOR = 60_000

/** A received request. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: JsonObject
}

/** An answer of the stand-in. */
export interface Reply {
  readonly status: number
  readonly type: string
  readonly text: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface StandInOptions {
  /** Returns the reason code for a call. It determines the verdict. */
  readonly judge?: (call: JsonObject) => string
  /** Inspects an output. */
  readonly inspect?: (output: Json | undefined) => Inspected
  /** The fault of a request. */
  readonly fault?: (asked: Asked) => Fault | undefined
  /** Other pages, for a browser. */
  readonly pages?: Readonly<Record<string, { readonly type: string; readonly text: string }>>
}

/** The result of an inspection. */
export interface Inspected {
  readonly delivery: 'full' | 'redacted' | 'withheld'
  readonly labels?: readonly string[]
  readonly findings?: readonly string[]
  /** The redacted output. */
  readonly output?: Json
}

export interface StandIn {
  readonly url: string
  /** The trust file of its ledger. */
  readonly trust: string
  readonly ledger: TestLedger
  /** Every processed request, in order, as `METHOD path`. */
  readonly asked: string[]
  /** Receipts of one kind. */
  receipts<K extends Receipt['kind']>(kind: K): readonly Extract<Receipt, { kind: K }>[]
  append(draft: Draft): Promise<Sealed>
  close(): Promise<void>
}

type Status = 'waiting' | 'granted' | 'refused' | 'used'

interface Waiting {
  readonly call: JsonObject
  readonly binding: string
  readonly receipt: Extract<Receipt, { kind: 'decision' }>
  status: Status
  answer: string | undefined
}

/** Allows tools that read, escalates tools that send, and denies all others, by their names. */
export function judgeByName({ tool }: JsonObject): string {
  if (typeof tool === 'string' && /read|list|echo/.test(tool)) return 'RULE_ALLOWED'
  return typeof tool === 'string' && tool.includes('send') ? 'APPROVAL_REQUIRED' : 'NO_RULE_MATCHED'
}

export async function startStandIn(options: StandInOptions = {}): Promise<StandIn> {
  const { judge = judgeByName, fault = () => undefined, pages = {} } = options
  const { inspect = (): Inspected => ({ delivery: 'full' }) } = options
  const ledger = await createLedger({ origin: 'tollgate.example/stand-in' })
  await begin(ledger)
  const open = new Set<string>()
  const requests = new Map<string, Waiting>()
  const asked: string[] = []
  const listeners = new Set<() => void>()
  let turn: Promise<unknown> = Promise.resolve()

  function append(draft: Draft): Promise<Sealed> {
    const mine = turn.then(() => ledger.append(draft))
    turn = mine
    return mine.finally(() => {
      for (const listener of listeners) listener()
    })
  }

  async function evaluate(call: JsonObject): Promise<Reply> {
    const binding = canonicalize([call.tool, call.arguments ?? {}, call.session_id ?? null])
    const request = [...requests.values()].find((each) =>
      call.approval === undefined ? each.binding === binding : idOf(each) === call.approval,
    )
    const code = settled(judge(call), call, binding, request)
    const sealed = await append(draftOf(call, code, request))
    const { verdict } = reasonOf(code) ?? { verdict: 'DENY' }
    if (verdict === 'ALLOW') open.add(sealed.id)
    if (request && code === 'APPROVAL_GRANTED') request.status = 'used'
    const waits = verdict === 'ESCALATE' && request?.status === 'waiting'
    const id = waits ? idOf(request) : sealed.id
    // Sound: a decision was appended.
    const receipt = sealed.receipt as Waiting['receipt']
    if (verdict === 'ESCALATE' && !waits)
      requests.set(id, { call, binding, receipt, status: 'waiting', answer: undefined })
    return json(200, verdictOf(code, sealed.id, verdict === 'ESCALATE' ? id : null, receipt.expires ?? null))
  }

  function settled(code: string, call: JsonObject, binding: string, request: Waiting | undefined): string {
    if (code !== 'APPROVAL_REQUIRED') return code
    if (call.approval !== undefined && request?.binding !== binding) return 'APPROVAL_INVALID'
    if (request?.status === 'granted') return 'APPROVAL_GRANTED'
    if (request?.status === 'refused') return 'APPROVAL_REFUSED'
    return call.approval !== undefined && request?.status === 'used' ? 'APPROVAL_INVALID' : code
  }

  function draftOf(call: JsonObject, code: string, request: Waiting | undefined): Draft {
    const { verdict } = reasonOf(code) ?? { verdict: 'DENY' as const }
    const text = canonicalize(call.arguments ?? {})
    return decision(POLICY_HASH, {
      time: new Date().toISOString(),
      door: 'http',
      assurance: 'advised',
      tool: textIn(call.tool),
      session: {
        id: typeof call.session_id === 'string' ? call.session_id : 'agent:ci',
        seq: ledger.size,
      },
      args_hash: sha256Hex(text),
      verdict,
      // Sound: the table knows it.
      reason_code: code as 'RULE_ALLOWED',
      ...(verdict === 'ALLOW' && { expires: new Date(Date.now() + ALLOWED_FOR).toISOString() }),
      ...(code === 'APPROVAL_GRANTED' &&
        request?.answer !== undefined && {
          approval: request.answer,
          causes: [request.answer],
        }),
    })
  }

  function idOf(request: Waiting): string {
    return [...requests].find(([, each]) => each === request)?.[0] ?? ''
  }

  async function report({ body }: Asked): Promise<Reply> {
    const { decision: of, status, output_base64: encoded, output_digest: digest } = body
    const output = body.output === undefined ? digest : body.output
    if (typeof of !== 'string' || !open.delete(of)) return problem(409, 'effect-refused', 'it is not open')
    const bytes =
      output === undefined ? Buffer.from(textIn(encoded), 'base64') : Buffer.from(canonicalize(output))
    const found = inspect(output)
    const { delivery, labels = [], findings = [], output: left } = found
    const { id } = await append(
      effect(of, {
        delivery,
        ...(labels.length > 0 && { labels }),
        ...(findings.length > 0 && { findings }),
        status: status === 'FAILED' ? 'FAILED' : 'COMPLETED',
        effect_hash: sha256Hex(bytes),
        reported_by: 'caller',
      }),
    )
    return json(201, { receipt: id, delivery, labels, findings, ...(left !== undefined && { output: left }) })
  }

  function shown(id: string, { receipt, status, answer }: Waiting): object {
    const {
      principal,
      session,
      tool,
      effect_class,
      reason_code,
      rung,
      rule = null,
      args_hash,
      time,
    } = receipt
    return {
      ...{
        id,
        principal,
        session: session.id,
        tool,
        effect_class,
        reason_code,
        rung,
        rule,
        args_hash,
        status,
      },
      approvers: [],
      opened: time,
      until: '2099-01-01T00:00:00.000Z',
      approver: answer === undefined ? null : 'user:olga',
    }
  }

  async function approvals({ path, query, method, headers }: Asked): Promise<Reply> {
    const [, , , id, word] = path.split('/')
    if (id === undefined) {
      const waiting = [...requests].filter(([, { status }]) => status === 'waiting')
      return json(200, { approvals: waiting.map(([each, request]) => shown(each, request)) })
    }
    const request = requests.get(id)
    if (!request) return problem(404, 'not-found', 'there is no such request')
    if (method === 'GET') {
      await changed(() => request.status !== 'waiting', 1000 * Number(query.get('wait') ?? 0))
      return json(200, shown(id, request))
    }
    if (headers.authorization !== `Bearer ${OPERATOR_TOKEN}`)
      return problem(403, 'role-forbidden', 'not your role')
    if (request.status !== 'waiting')
      return problem(409, 'approval-refused', 'the request was already answered')
    const granted = word === 'approve'
    request.status = granted ? 'granted' : 'refused'
    const sealed = await append({
      kind: 'approval',
      decision: id,
      causes: [id],
      answer: granted ? 'GRANTED' : 'REFUSED',
      approver: 'user:olga',
      expires: '2099-01-01T00:00:00.000Z',
    })
    request.answer = sealed.id
    return json(200, { receipt: sealed.id, answer: granted ? 'GRANTED' : 'REFUSED' })
  }

  async function changed(done: () => boolean, milliseconds: number): Promise<void> {
    const end = Date.now() + milliseconds
    while (!done() && Date.now() < end) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(100, end - Date.now()))
        const wake = (): void => {
          clearTimeout(timer)
          listeners.delete(wake)
          resolve()
        }
        listeners.add(wake)
      })
    }
  }

  function entryAt(index: number): object {
    const sealed = ledger.entries[index]
    return { index, id: sealed?.id, receipt: sealed?.receipt }
  }

  function fits(index: number, query: URLSearchParams): boolean {
    // Sound: receipts are objects; missing members are undefined.
    const receipt = ledger.entries[index]?.receipt as unknown as Record<string, unknown>
    return ['kind', 'tool', 'verdict', 'principal', 'decision'].every(
      (name) => !query.has(name) || receipt[name] === query.get(name),
    )
  }

  function page(query: URLSearchParams): Reply {
    const on = query.get('direction') === 'on'
    const all = ledger.entries.map((_, index) => index).filter((index) => fits(index, query))
    const from = Number(query.get('from') ?? (on ? 0 : ledger.size))
    const ordered = on ? all.filter((index) => index >= from) : all.filter((index) => index <= from).reverse()
    const limit = Number(query.get('limit') ?? 50)
    return json(200, { receipts: ordered.slice(0, limit).map(entryAt), next: ordered[limit] ?? null })
  }

  async function receipts({ path, query }: Asked): Promise<Reply> {
    const [, , , id, word] = path.split('/')
    if (id === undefined) return page(query)
    const index = ledger.entries.findIndex((sealed) => sealed.id === id)
    const sealed = ledger.entries[index]
    if (!sealed) return problem(404, 'not-found', 'there is no such receipt')
    if (word !== 'proof') {
      return json(200, { ...entryAt(index), envelope: Buffer.from(sealed.envelope).toString() })
    }
    const checkpoint = await ledger.checkpointAt()
    const hashes = await inclusionProof(index, parseCheckpoint(checkpoint).size, (level, at) =>
      ledger.node(level, at),
    )
    return plain(formatProof({ index, hashes, checkpoint }))
  }

  async function answer(one: Asked): Promise<Reply> {
    const { method, path, body } = one
    asked.push(`${method} ${path}`)
    if (path === '/v1/evaluate') return evaluate(body)
    if (path === '/v1/effects') return report(one)
    if (path.startsWith('/v1/approvals')) return approvals(one)
    if (path.startsWith('/v1/receipts')) return receipts(one)
    if (path === '/v1/checkpoint') return plain(await ledger.checkpointAt())
    if (path === '/v1/status') return json(200, statusOf(ledger))
    if (path === '/v1/freeze' && method === 'POST') {
      // Good enough for a stand-in: the ledger refuses invalid receipts.
      const { id } = await append({
        kind: 'freeze',
        by: 'user:olga',
        ...(body as unknown as { scope: 'all'; frozen: true }),
      })
      return json(200, { receipt: id })
    }
    if (path === '/v1/freeze') return json(200, { freezes: [] })
    if (path === '/v1/policy' && method === 'POST') {
      return problem(422, 'policy-invalid', 'the policy has a mistake', {
        mistakes: [{ line: 1, column: 1, message: 'no' }],
      })
    }
    return problem(404, 'not-found', 'there is no such route')
  }

  const server: Server = createServer((request, response) => {
    void readBody(request).then(async (body) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://stand-in')
      const page = pages[pathname]
      if (page) return response.writeHead(200, { 'content-type': page.type }).end(page.text)
      const one = {
        method: request.method ?? '',
        path: pathname,
        query: searchParams,
        headers: request.headers,
        body,
      }
      if (!isKnown(request)) return write(problem(401, 'token-unknown', 'the token is unknown'))
      if (pathname === '/v1/receipts/stream') return follow(one)
      return respond(response, fault(one), () => answer(one))

      function write({ status, type, text }: Reply): void {
        response.writeHead(status, { 'content-type': type }).end(text)
      }

      function follow({ query, headers }: Asked): void {
        const bad = fault(one)
        if (bad?.kind === 'status') return write(problem(bad.status, 'trouble', 'trouble'))
        asked.push('GET /v1/receipts/stream')
        const last = headers['last-event-id']
        let next = last === undefined ? Number(query.get('from') ?? ledger.size) : Number(last) + 1
        response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
        response.write(': tollgate\n\n')
        const send = (): void => {
          for (; next < ledger.size; next++) {
            if (!fits(next, query)) continue
            const event = `id: ${next}\nevent: receipt\ndata: ${JSON.stringify(entryAt(next))}\n\n`
            if (bad?.kind === 'drop-after') return void response.write(event, () => response.destroy())
            response.write(event)
          }
        }
        listeners.add(send)
        response.on('close', () => listeners.delete(send))
        send()
      }
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    // Sound: it listens on a port.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    trust: formatTrust({ ledger: ledger.origin, keys: [ledger.noteKey()], witnesses: [], quorum: 0 }),
    ledger,
    asked,
    receipts: (kind) =>
      // Sound: of that kind.
      ledger.entries.flatMap(({ receipt }) => (receipt.kind === kind ? [receipt as never] : [])),
    append,
    async close() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

function isKnown({ headers }: IncomingMessage): boolean {
  return [AGENT_TOKEN, OPERATOR_TOKEN].some((token) => headers.authorization === `Bearer ${token}`)
}

async function readBody(request: IncomingMessage): Promise<JsonObject> {
  const chunks: Uint8Array[] = []
  // Sound: a request is a stream of bytes.
  for await (const chunk of request) chunks.push(chunk as Uint8Array)
  // Sound: the client sends objects, and the tests would fail otherwise.
  return chunks.length === 0 ? {} : (parseJson(new Uint8Array(Buffer.concat(chunks))) as JsonObject)
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function statusOf({ origin, size }: TestLedger): object {
  const since = '2026-01-05T09:00:00.000Z'
  return {
    version: '0.1.0',
    ledger: origin,
    size,
    poisoned: null,
    since,
    tenant: 'default',
    principal: 'agent:ci',
    role: 'agent',
  }
}

export function verdictOf(
  code: string,
  receipt: string,
  approval: string | null,
  expires: string | null,
): object {
  const { verdict, sentence, remedy } = reasonOf(code) ?? { verdict: 'DENY', sentence: '', remedy: '' }
  const judged = {
    verdict,
    reason_code: code,
    message: sentence,
    remedy,
    rung: 'policy',
    rule: 'reading',
    detail: null,
  }
  return { ...judged, receipt, approval, expires }
}

function json(status: number, value: object): Reply {
  return { status, type: 'application/json', text: JSON.stringify(value) }
}

function plain(text: string): Reply {
  return { status: 200, type: 'text/plain; charset=utf-8', text }
}

export function problem(status: number, code: string, detail: string, more: object = {}): Reply {
  const body = {
    type: `urn:tollgate:problem:${code}`,
    title: code,
    status,
    detail,
    code,
    remedy: 'Try.',
    ...more,
  }
  return { status, type: 'application/problem+json', text: JSON.stringify(body) }
}
