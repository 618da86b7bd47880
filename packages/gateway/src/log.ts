// Writes one JSON line per event to standard error. A line never contains a secret, a token or an argument value.

export type Level = 'debug' | 'info' | 'warn' | 'error'

/** Writes one log line. Fields are for programs, the message is for people. */
export type Log = (level: Level, message: string, fields?: Readonly<Record<string, unknown>>) => void

const ORDER: readonly Level[] = ['debug', 'info', 'warn', 'error']

/** Creates a log that passes lines of level `least` and above to `write`. */
export function createLog(least: Level, write: (line: string) => void): Log {
  return (level, message, fields = {}) => {
    if (ORDER.indexOf(level) < ORDER.indexOf(least)) return
    write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...fields })}\n`)
  }
}

/** A log that writes nothing. */
export const silent: Log = () => undefined
