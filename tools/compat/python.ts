// The Python of the tests: environments with pinned packages, and a process that makes calls.

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { environmentOf, type PythonName } from '../python.mjs'

/** The folder of the client for Python. */
export const PACKAGE: string = fileURLToPath(new URL('../../packages/python/', import.meta.url))

/** The Python with `httpx`, if there is one. Otherwise says what does not run. */
export function clientPython(): string | undefined {
  return found('client', 'npm test')
}

/** The Python with the frameworks of the compat tests, if there is one. Otherwise says what does not run. */
export function compatPython(): string | undefined {
  return found('compat', 'npm run test:compat')
}

/** The Python with the package of the second verifier, if there is one. Otherwise says what does not run. */
export function verifierPython(): string | undefined {
  return found('verifier', 'npm test')
}

function found(name: PythonName, command: string): string | undefined {
  const python = environmentOf(name)
  if (python === undefined)
    process.stderr.write(
      `\n!!! NO PYTHON: tests with Python do NOT run. Install python3 with pip and venv, then run \`${command}\`.\n\n`,
    )
  return python
}

/** The variables that Python needs to find the package, and nothing of the user. */
export const PYTHON_ENV: NodeJS.ProcessEnv = {
  PATH: process.env.PATH,
  PYTHONPATH: `${PACKAGE}src`,
  PYTHONDONTWRITEBYTECODE: '1',
  // A warning of Python is a fault.
  PYTHONWARNINGS: 'error',
}

/** A Python program that answers each line with a line. */
export class PythonLines {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>
  #turn: Promise<unknown> = Promise.resolve()

  constructor(python: string, script: URL, ...args: readonly string[]) {
    const child = spawn(python, [fileURLToPath(script), ...args], {
      env: PYTHON_ENV,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.#child = child
    this.#lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  }

  /** The answer to one line. */
  ask(line: object): Promise<unknown> {
    const answer = this.#turn.then(async () => {
      this.#child.stdin?.write(`${JSON.stringify(line)}\n`)
      const next = await this.#lines.next()
      if (next.done === true) throw new Error('the Python program has ended')
      return JSON.parse(next.value) as unknown
    })
    this.#turn = answer.catch(() => undefined)
    return answer
  }

  async end(): Promise<void> {
    const closed = once(this.#child, 'close')
    this.#child.stdin?.end()
    await closed
  }
}
