// Turns a thrown value into the text that is reported, inspected and shown to the agent.

/** Maximum length of a reported error message. */
export const MAX_FAILURE_LENGTH = 8192

const UNREADABLE = '(the tool threw an error that cannot be read)'
const NO_MESSAGE = '(the tool threw a value without a message)'

/**
 * The message of a thrown value. Reads `message` once and nothing else: no stack, no cause, no other property, no errors inside an
 * `AggregateError`. Never throws.
 */
export function failureText(thrown: unknown): string {
  try {
    return bounded(messageOf(thrown) || NO_MESSAGE)
  } catch {
    // A getter or a proxy threw. Its error is again untrusted text.
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
      // Sound: the type of `message` is checked below.
      const message = (thrown as { readonly message?: unknown } | null)?.message
      return typeof message === 'string' ? message : ''
    }
    case 'undefined':
      return ''
  }
}

/** Cuts the text before inspection, so that all of it is inspected. Replaces lone surrogates, which JSON does not allow. */
function bounded(text: string): string {
  const whole = text.length <= MAX_FAILURE_LENGTH
  return (
    whole ? text : `${text.slice(0, MAX_FAILURE_LENGTH)} (cut: ${text.length} characters)`
  ).toWellFormed()
}
