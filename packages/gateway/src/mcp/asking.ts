// Sends requests to a legacy client while one of its own requests is in progress.

import type { JsonObject } from '@tollgate/evidence'
import { CODE, formatRequest, RpcFault, type Response } from './message.ts'

interface Asks {
  ask(
    send: (message: string) => void,
    method: string,
    params: JsonObject,
    signal: AbortSignal,
  ): Promise<JsonObject>
  /** Takes an answer of the client. An answer to no open question is dropped. */
  take(response: Response): void
  /** Rejects every open question. */
  close(): void
}

interface PendingQuestion {
  readonly resolve: (result: JsonObject) => void
  readonly reject: (fault: RpcFault) => void
}

const MAX_WAITING = 256

export function createAsks(): Asks {
  const waiting = new Map<string, PendingQuestion>()
  let asked = 0

  return {
    ask(send, method, params, signal) {
      if (waiting.size >= MAX_WAITING)
        return Promise.reject(new RpcFault(CODE.internal, 'too many questions to the client are open'))
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
