// One line of JSON on standard error for each thing worth knowing. Never a secret, a token, or an argument's value.

/** How much a line matters. */
export type Level = 'debug' | 'info' | 'warn' | 'error'

/** Writes lines of the log. Fields are for machines; the message is for people. */
export type Log = (level: Level, message: string, fields?: Readonly<Record<string, unknown>>) => void

const ORDER: readonly Level[] = ['debug', 'info', 'warn', 'error']

/** A log that writes to `write` what is at least as important as `least`. */
export function createLog(least: Level, write: (line: string) => void): Log {
  return (level, message, fields = {}) => {
    if (ORDER.indexOf(level) < ORDER.indexOf(least)) return
    write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...fields })}\n`)
  }
}

/** Says nothing. */
export const silent: Log = () => undefined
