// Spans as an OTLP `ExportTraceServiceRequest` in its JSON form: ids in hexadecimal, 64-bit numbers as decimal strings, names in
// lowerCamelCase, enums as numbers.

import { randomBytes } from 'node:crypto'
import { readTraceparent } from './traceparent.ts'
import type { Span } from './tracer.ts'

const SPAN_KIND_INTERNAL = 1
const STATUS_CODE_ERROR = 2
/** The parent is in another process: it is known whether it is remote, and it is. */
const REMOTE_PARENT = 0x300

/** Some spans as the body of one request. */
export function traceRequest(spans: readonly Span[], version: string): object {
  const resource = { attributes: attributesOf({ 'service.name': 'tollgate', 'service.version': version }) }
  const scope = { name: 'tollgate', version }
  return { resourceSpans: [{ resource, scopeSpans: [{ scope, spans: spans.map(spanOf) }] }] }
}

function spanOf({ name, start, end, parent, attributes, failed = false }: Span): object {
  const above = readTraceparent(parent)
  return {
    traceId: above?.trace ?? randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    ...(above && { parentSpanId: above.span, flags: above.flags | REMOTE_PARENT }),
    name,
    kind: SPAN_KIND_INTERNAL,
    startTimeUnixNano: nanos(start),
    endTimeUnixNano: nanos(end),
    attributes: attributesOf(attributes),
    status: failed ? { code: STATUS_CODE_ERROR } : {},
  }
}

function nanos(milliseconds: number): string {
  return String(BigInt(Math.round(milliseconds * 1000)) * 1000n)
}

function attributesOf(attributes: Span['attributes']): readonly object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }))
}

function valueOf(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
