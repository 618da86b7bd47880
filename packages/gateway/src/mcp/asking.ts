// Asking a legacy client something while a request of its own is under way: with a request of ours.

import type { JsonObject } from '@tollgate/evidence'
import { CODE, formatRequest, RpcFault, type Response } from './message.ts'

/** Asks a legacy client with requests of our own. */
interface Asks {
  ask(
    send: (message: string) => void,
    method: string,
    params: JsonObject,
    signal: AbortSignal,
  ): Promise<JsonObject>
  /** Takes an answer of the client's. One that nobody waits for is dropped. */
  take(response: Response): void
  /** Nobody will answer any more. */
  close(): void
}

interface PendingQuestion {
  readonly resolve: (result: JsonObject) => void
  readonly reject: (fault: RpcFault) => void
}

const MAX_WAITING = 256

/** Asks nothing yet. */
export function createAsks(): Asks {
  const waiting = new Map<string, PendingQuestion>()
  let asked = 0

  return {
    ask(send, method, params, signal) {
      if (waiting.size >= MAX_WAITING)
        return Promise.reject(new RpcFault(CODE.internal, 'too much is being asked'))
      const id = `tollgate-${asked++}`
      return new Promise((resolve, reject) => {
        const end = (): void => {
          waiting.delete(id)
          signal.removeEventListener('abort', gone)
        }
        const gone = (): void => {
          end()
          reject(new RpcFault(CODE.internal, 'the client cancelled'))
        }
        signal.addEventListener('abort', gone)
        waiting.set(id, {
          resolve(result) {
            end()
            resolve(result)
          },
          reject(fault) {
            end()
            reject(fault)
          },
        })
        send(formatRequest(id, method, params))
      })
    },
    take(response) {
      const question = waiting.get(String(response.id))
      if ('result' in response) question?.resolve(response.result)
      else question?.reject(new RpcFault(response.error.code, response.error.message, response.error.data))
    },
    close() {
      for (const { reject } of [...waiting.values()])
        reject(new RpcFault(CODE.internal, 'the client is gone'))
    },
  }
}
