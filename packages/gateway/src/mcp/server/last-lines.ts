// The last lines that a server process wrote to its standard error: the reason of a failed start, for a person.

import { holdsSecret } from '../../tools/seen.ts'
import { safeText } from '../safe-text.ts'

const MAX_TEXT = 8192
const MAX_LINES = 8
const MAX_LINE = 300
// Shorter values are words such as `true` or `3000`.
const MIN_HIDDEN = 8
// The part of an environment that holds no secrets, and whose values a reader needs, such as paths.
const SHOWN = /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_.*|TZ|TMPDIR|TEMP|TMP)$/i

export class LastLines {
  readonly #hidden: readonly string[]
  #text = ''
  #isCut = false

  /** `env` is the environment of the process. Its values are not shown. */
  constructor(env: Readonly<Record<string, string>>) {
    this.#hidden = Object.entries(env)
      .filter(([name]) => !SHOWN.test(name))
      // A part of a value of several lines is as secret as the whole.
      .flatMap(([, value]) => [value, ...value.split(/\r?\n/)])
      .filter((value) => value.length >= MIN_HIDDEN)
      .toSorted((a, b) => b.length - a.length)
  }

  take(text: string): void {
    const all = this.#text + text
    this.#isCut ||= all.length > MAX_TEXT
    this.#text = all.slice(-MAX_TEXT)
  }

  /** Forgets everything: another process writes now. */
  clear(): void {
    this.#text = ''
    this.#isCut = false
  }

  /** The lines, without values of the environment, secrets, control characters and instructions to a model. */
  read(): readonly string[] {
    // The first line may be the end of a longer one, and hide a part of a secret.
    const whole = this.#isCut ? this.#text.replace(/^[^\n]*(?:\n|$)/, '') : this.#text
    const open = this.#hidden.reduce((text, value) => text.replaceAll(value, '[hidden]'), whole)
    const lines = open.split(/[\r\n]+/).filter((line) => line.trim() !== '')
    return lines.slice(-MAX_LINES).map(shownLine)
  }
}

function shownLine(line: string): string {
  return holdsSecret(line) ? '[removed by Tollgate: secret]' : safeText(line, MAX_LINE)
}
