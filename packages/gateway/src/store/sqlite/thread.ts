// Asking a thread, and answering in one: each question has a number, each answer the same one.

import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, Worker, type Transferable } from 'node:worker_threads'
import { GatewayError, type GatewayErrorCode } from '../../error.ts'
import { faultOf } from './database.ts'

/** A question on its way to a thread. */
interface ThreadQuestion {
  readonly id: number
  readonly method: string
  readonly args: readonly unknown[]
}

/** The answer to a question, or why there is none. */
interface ThreadAnswer {
  readonly id: number
  readonly value?: unknown
  readonly fault?: {
    readonly code: GatewayErrorCode
    readonly message: string
    readonly hints: readonly string[]
  }
}

/** A thread that answers. */
export interface Thread {
  /** Asks it. @throws GatewayError what it threw, or `STORE_FAILED` once it has ended or does not answer. */
  ask(method: string, args: readonly unknown[], transfer?: readonly Transferable[]): Promise<unknown>
  /** Tells it something that it does not answer to. */
  tell(message: unknown, transfer: readonly Transferable[]): void
  end(): Promise<void>
}

// A disk that does not answer for so long is as good as gone; whoever waits must be told.
const PATIENCE_MS = 60_000
// And so long it may still take to come back, when it is to be ended.
const REST_MS = 10_000

/** Starts a thread of this folder, and hands it `data`. */
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
          // Whatever it answers later, nobody may go on with it.
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
      // Ended in the middle of a native call, a thread can take the process with it.
      const rest = new Promise<void>((done) => (atRest = done))
      if (answered < asked) await Promise.race([rest, sleep(REST_MS, undefined, { ref: false })])
      await worker.terminate()
    },
  }
}

function silent(name: string): GatewayError {
  return new GatewayError(
    'STORE_FAILED',
    `the ledger file has not answered for ${PATIENCE_MS / 1000} seconds`,
    {
      hints: [`check the disk (thread \`${name}\`), then start again`],
    },
  )
}

const DIST = new URL(import.meta.url.endsWith('.ts') ? '../../../dist/' : '../../../', import.meta.url)
// The compiler leaves these whenever it builds. A package has none of them: nothing is built again there.
const BUILDS = ['gateway/dist/src', 'kernel/dist/src', 'evidence/dist/src', 'evidence/dist/node']

/** Threads run what was built, also when they are started from the sources: the bundle if it is the newest, as it starts sooner. */
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

/** What a thread can be asked: each method by its name. */
export type Methods = Readonly<Record<string, (...args: never[]) => unknown>>

/**
 * Answers the questions that come to this thread, which works on `file`. Each begins as it comes; one that waits does not hold
 * up the next.
 */
export function answerQuestions(methods: Promise<Methods>, file: string): void {
  // If it cannot be opened, the first question is told why; until then that is nobody's fault.
  methods.catch(() => undefined)
  parentPort?.on('message', (question: ThreadQuestion) => void answer(methods, file, question))
}

async function answer(
  methods: Promise<Methods>,
  file: string,
  { id, method, args }: ThreadQuestion,
): Promise<void> {
  try {
    const found = (await methods)[method]
    if (!found) throw new GatewayError('REQUEST_INVALID', `the thread has no method \`${method}\``)
    // Sound: both sides of a thread are written together; what is sent is what the method takes.
    reply({ id, value: await found(...(args as never[])) })
  } catch (cause) {
    // Every fault leaves the thread here, so it is named here: who asked only knows what is said.
    const { code, message, hints } = faultOf(cause, file)
    reply({ id, fault: { code, message, hints } })
  }
}

function reply(answer: ThreadAnswer): void {
  parentPort?.postMessage(answer)
}
