// A tool's thrown value as a text: all of it that is reported, inspected and, if the gateway lets it pass, shown to the agent.

/** Most characters of a thrown message that are reported. */
export const MAX_FAILURE = 8192

const UNREADABLE = '(the tool threw an error that cannot be read)'
const NO_MESSAGE = '(the tool threw something without a message)'

/**
 * The message of what a tool threw. Reads `message` once and nothing else: no stack, no cause, no other property, no errors
 * inside an `AggregateError`. Never throws, whatever was thrown.
 */
export function failureText(thrown: unknown): string {
  try {
    return bounded(messageOf(thrown) || NO_MESSAGE)
  } catch {
    // A getter or a proxy that throws. Why it did is again the tool's own text.
    return UNREADABLE
  }
}

function messageOf(thrown: unknown): string {
  switch (typeof thrown) {
    case 'string':
      return thrown
    case 'number':
    case 'bigint':
    case 'boolean':
    case 'symbol':
      return String(thrown)
    case 'object':
    case 'function': {
      // Sound: of an object, any member may be asked for; what it is gets checked.
      const message = (thrown as { readonly message?: unknown } | null)?.message
      return typeof message === 'string' ? message : ''
    }
    case 'undefined':
      return ''
  }
}

/** Cut before it is inspected, so that the agent never gets a part that inspection has not seen. Lone surrogates are no JSON. */
function bounded(text: string): string {
  const whole = text.length <= MAX_FAILURE
  return (whole ? text : `${text.slice(0, MAX_FAILURE)} (cut: ${text.length} characters)`).toWellFormed()
}
