// The parent of a span, as W3C Trace Context writes it.

// Version, trace, parent, flags. Ids of only zeros are invalid.
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/

interface ParentSpan {
  readonly trace: string
  readonly span: string
  readonly flags: number
}

/** The parent that a `traceparent` names; undefined if it is missing or malformed. */
export function readTraceparent(text: string | undefined): ParentSpan | undefined {
  const [, trace, span, flags] = TRACEPARENT.exec(text ?? '') ?? []
  if (trace === undefined || span === undefined || flags === undefined) return undefined
  return { trace, span, flags: parseInt(flags, 16) }
}

/** Whether a text is a well-formed `traceparent`. */
export function isTraceparent(text: string | undefined): boolean {
  return text !== undefined && TRACEPARENT.test(text)
}
