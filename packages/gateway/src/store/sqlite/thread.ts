// Request and response messages between threads. A response has the number of its request.

import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, Worker, type Transferable } from 'node:worker_threads'
import { GatewayError, type GatewayErrorCode } from '../../error.ts'
import { faultOf } from './database.ts'

interface ThreadQuestion {
  readonly id: number
  readonly method: string
  readonly args: readonly unknown[]
}

/** The value or the error of a question. */
interface ThreadAnswer {
  readonly id: number
  readonly value?: unknown
  readonly fault?: {
    readonly code: GatewayErrorCode
    readonly message: string
    readonly hints: readonly string[]
  }
}

export interface Thread {
  /** Calls a method. @throws GatewayError as the thread threw it, or `STORE_FAILED` if the thread ended or does not answer. */
  ask(method: string, args: readonly unknown[], transfer?: readonly Transferable[]): Promise<unknown>
  /** Sends a message without an answer. */
  tell(message: unknown, transfer: readonly Transferable[]): void
  end(): Promise<void>
}

// A disk that does not answer for this long counts as failed.
const PATIENCE_MS = 60_000
// How long a thread may take to finish when it is ended.
const REST_MS = 10_000

/** Starts a thread of this folder with `data`. */
export function startThread(name: string, data: unknown, transfer: readonly Transferable[] = []): Thread {
  const worker = new Worker(fileOf(name), { workerData: data, transferList: [...transfer] })
  const waiting = new Map<
    number,
    { resolve: (value: unknown) => void; reject: (fault: GatewayError) => void }
  >()
  let asked = 0
  let answered = 0
  let atRest = (): void => undefined
  let ended: GatewayError | undefined

  function endWith(cause: unknown): void {
    ended ??= new GatewayError('STORE_FAILED', 'the thread that owns the ledger file has ended', { cause })
    for (const { reject } of waiting.values()) reject(ended)
    waiting.clear()
    answered = asked
    atRest()
  }

  worker.on('message', ({ id, value, fault }: ThreadAnswer) => {
    if (++answered === asked) atRest()
    const question = waiting.get(id)
    waiting.delete(id)
    if (fault) question?.reject(new GatewayError(fault.code, fault.message, { hints: fault.hints }))
    else question?.resolve(value)
  })
  worker.on('error', endWith)
  worker.on('messageerror', endWith)
  worker.on('exit', endWith)

  return {
    ask: (method, args, moved = []) =>
      new Promise((resolve, reject) => {
        if (ended) return reject(ended)
        const id = asked++
        const timer = setTimeout(() => {
          waiting.delete(id)
          // A later answer must not be used.
          ended ??= silent(name)
          reject(ended)
        }, PATIENCE_MS)
        const settle =
          <T>(done: (value: T) => void) =>
          (value: T): void => {
            clearTimeout(timer)
            done(value)
          }
        waiting.set(id, { resolve: settle(resolve), reject: settle(reject) })
        const question: ThreadQuestion = { id, method, args }
        worker.postMessage(question, [...moved])
      }),
    tell(message, moved) {
      if (!ended) worker.postMessage(message, [...moved])
    },
    end: async () => {
      ended ??= new GatewayError('STORE_FAILED', 'the ledger has been closed')
      // Terminating a thread in the middle of a native call can crash the process.
      const rest = new Promise<void>((done) => (atRest = done))
      if (answered < asked) await Promise.race([rest, sleep(REST_MS, undefined, { ref: false })])
      await worker.terminate()
    },
  }
}

function silent(name: string): GatewayError {
  return new GatewayError(
    'STORE_FAILED',
    `the ledger file did not respond for ${PATIENCE_MS / 1000} seconds`,
    {
      hints: [`check the disk (thread \`${name}\`), then start again`],
    },
  )
}

const DIST = new URL(import.meta.url.endsWith('.ts') ? '../../../dist/' : '../../../', import.meta.url)
// The compiler writes these files on every build. A published package does not contain them.
const BUILDS = ['gateway/dist/src', 'kernel/dist/src', 'evidence/dist/src', 'evidence/dist/node']

/** The file of a thread: always built code. The bundle is used if it is the newest, because it starts faster. */
function fileOf(name: string): URL {
  const bundled = new URL(`bundle/${name}.cjs`, DIST)
  const made = changed(bundled)
  const isNewest = BUILDS.every(
    (build) => changed(new URL(`../../${build}/tsconfig.tsbuildinfo`, DIST)) <= made,
  )
  return made > 0 && isNewest ? bundled : new URL(`src/store/sqlite/${name}.js`, DIST)
}

function changed(file: URL): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/** The methods of a thread, by name. */
export type Methods = Readonly<Record<string, (...args: never[]) => unknown>>

/** Answers the requests to this thread, which works on `file`. Requests run concurrently. */
export function answerQuestions(methods: Promise<object>, file: string): void {
  // If opening fails, the first request gets the error. Until then it is not unhandled.
  methods.catch(() => undefined)
  parentPort?.on('message', (question: ThreadQuestion) => void answer(methods, file, question))
}

async function answer(
  methods: Promise<object>,
  file: string,
  { id, method, args }: ThreadQuestion,
): Promise<void> {
  try {
    // Sound: both sides of a thread are written together.
    const known = (await methods) as Methods
    if (!known[method]) throw new GatewayError('REQUEST_INVALID', `the thread has no method \`${method}\``)
    reply({ id, value: await known[method](...(args as never[])) })
  } catch (cause) {
    // Errors are translated here, because only the code, message and hints cross to the other thread.
    const { code, message, hints } = faultOf(cause, file)
    reply({ id, fault: { code, message, hints } })
  }
}

function reply(answer: ThreadAnswer): void {
  parentPort?.postMessage(answer)
}
