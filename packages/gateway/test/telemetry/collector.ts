// A trace collector that reads OTLP/HTTP strictly, as the JSON mapping of its protocol buffers says: known members only, ids in
// hexadecimal, 64-bit numbers as decimal strings, enums as numbers.

import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface CollectedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly flags: number | undefined
  readonly name: string
  readonly kind: number
  /** Nanoseconds since 1970. */
  readonly start: bigint
  readonly end: bigint
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  readonly status: number
}

export interface Collector {
  readonly url: string
  readonly spans: readonly CollectedSpan[]
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders }[]
  /** Everything received, as text. */
  readonly text: string
  /** The mistakes in what arrived. */
  readonly mistakes: readonly string[]
  close(): Promise<void>
}

/** How it answers the requests, one after another; afterwards 200 with an empty object. */
export interface ScriptedAnswer {
  readonly status: number
  readonly body?: string
}

export async function startCollector(...answers: readonly ScriptedAnswer[]): Promise<Collector> {
  const left = [...answers]
  const spans: CollectedSpan[] = []
  const requests: { path: string; headers: IncomingHttpHeaders }[] = []
  const mistakes: string[] = []
  let all = ''
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      const { url: path = '', headers } = request
      requests.push({ path, headers })
      const { status, body = '{}' } = left.shift() ?? { status: 200 }
      all += text
      try {
        const read = readRequest(JSON.parse(text))
        if (status === 200) spans.push(...read)
      } catch (fault) {
        mistakes.push(String(fault))
      }
      response.writeHead(status, { 'content-type': 'application/json' }).end(body)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Sound: it listens on a port.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    requests,
    mistakes,
    get text() {
      return all
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

type Members = Readonly<Record<string, unknown>>

/** The members of a message, which may only have these. */
function message(value: unknown, where: string, known: readonly string[]): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${where}: no message`)
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) throw new Error(`${where}: unknown member ${name}`)
  }
  return value as Members
}

function items(value: unknown, where: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`${where}: no list`)
  return value as readonly unknown[]
}

function text(value: unknown, where: string, form = /^/): string {
  if (typeof value !== 'string' || !form.test(value)) throw new Error(`${where}: not ${form.source}`)
  return value
}

function readRequest(value: unknown): readonly CollectedSpan[] {
  const { resourceSpans } = message(value, 'request', ['resourceSpans'])
  return items(resourceSpans, 'resourceSpans').flatMap((each) => {
    const { resource, scopeSpans } = message(each, 'resourceSpans', ['resource', 'scopeSpans', 'schemaUrl'])
    const { attributes } = message(resource, 'resource', ['attributes', 'droppedAttributesCount'])
    const about = readAttributes(attributes)
    if (about['service.name'] !== 'tollgate') throw new Error('the service is not named')
    return items(scopeSpans, 'scopeSpans').flatMap((group) => {
      const { scope, spans } = message(group, 'scopeSpans', ['scope', 'spans', 'schemaUrl'])
      message(scope, 'scope', ['name', 'version', 'attributes', 'droppedAttributesCount'])
      return items(spans, 'spans').map(readSpan)
    })
  })
}

const SPAN = [
  ...['traceId', 'spanId', 'traceState', 'parentSpanId', 'flags', 'name', 'kind', 'startTimeUnixNano'],
  ...['endTimeUnixNano', 'attributes', 'droppedAttributesCount', 'events', 'links', 'status'],
]
const NANOS = /^[1-9][0-9]{18}$/

function readSpan(value: unknown): CollectedSpan {
  const span = message(value, 'span', SPAN)
  const start = BigInt(text(span.startTimeUnixNano, 'start', NANOS))
  const end = BigInt(text(span.endTimeUnixNano, 'end', NANOS))
  if (end < start) throw new Error('a span that ends before it starts')
  const { code = 0 } = message(span.status, 'status', ['code', 'message'])
  const { parentSpanId, flags, kind } = span
  if (typeof kind !== 'number' || kind < 1 || kind > 5) throw new Error('no kind')
  if (flags !== undefined && !Number.isInteger(flags)) throw new Error('no flags')
  return {
    traceId: text(span.traceId, 'traceId', /^(?!0+$)[0-9a-f]{32}$/),
    spanId: text(span.spanId, 'spanId', /^(?!0+$)[0-9a-f]{16}$/),
    parentSpanId:
      parentSpanId === undefined ? undefined : text(parentSpanId, 'parentSpanId', /^(?!0+$)[0-9a-f]{16}$/),
    flags: flags as number | undefined,
    name: text(span.name, 'name', /./),
    kind,
    start,
    end,
    attributes: readAttributes(span.attributes),
    status: Number(code),
  }
}

function readAttributes(value: unknown): Record<string, string | number | boolean> {
  const read: Record<string, string | number | boolean> = {}
  for (const each of items(value, 'attributes')) {
    const { key, value: inner } = message(each, 'attribute', ['key', 'value'])
    const name = text(key, 'key', /./)
    if (Object.hasOwn(read, name)) throw new Error(`${name} twice`)
    const entries = Object.entries(
      message(inner, name, ['stringValue', 'boolValue', 'intValue', 'doubleValue']),
    )
    const [[form, held] = []] = entries
    if (entries.length !== 1) throw new Error(`${name}: not one value`)
    if (form === 'stringValue') read[name] = text(held, name)
    else if (form === 'intValue') read[name] = Number(text(held, name, /^-?[0-9]+$/))
    else if (form === 'boolValue' && typeof held === 'boolean') read[name] = held
    else if (form === 'doubleValue' && typeof held === 'number') read[name] = held
    else throw new Error(`${name}: a wrong value`)
  }
  return read
}
