// A stdio channel to a server process: one message per line in both directions.

import type { JsonObject } from '@tollgate/evidence'
import type { BrowserCalls } from '../../browser/door/browser-calls.ts'
import type { GuardedBrowser } from '../../browser/door/guard.ts'
import { faultOf, ServerCalls, type ServerCall } from './calls.ts'
import type { ServerChannel, ChannelOptions } from './channel.ts'
import { startChild, type Child } from './child.ts'
import { Incoming } from './incoming.ts'
import { createLineReader, type LineSplitter } from '../lines.ts'
import { formatNotification, formatRequest } from '../message.ts'
import type { ServerAddress, UpstreamFaultCode } from './upstream.ts'

export interface StdioOptions extends ChannelOptions {
  readonly address: ServerAddress & { readonly transport: 'stdio' }
  /** Most bytes that may wait until the process reads them. */
  readonly maxQueue: number
  /** Its browser, which ends with it. */
  readonly browser?: GuardedBrowser
  /** Receives its standard error. */
  readonly onStderr?: (text: string) => void
}

/** A process and the channel to it. */
export class StdioChannel implements ServerChannel {
  readonly name: string
  readonly transport = 'stdio'
  readonly calls: ServerCalls = new ServerCalls()
  readonly browser: BrowserCalls | undefined
  readonly #browser: GuardedBrowser | undefined
  readonly #onEnd: () => void
  readonly #child: Child
  readonly #lines: LineSplitter
  #spoken: 'modern' | 'legacy' | undefined
  #hasEnded = false
  #closing: Promise<void> | undefined

  /** Starts the process. */
  constructor(options: StdioOptions) {
    const { name, times, address, maxMessage, maxQueue, onStderr, onEnd } = options
    this.name = name
    this.#onEnd = onEnd
    this.#browser = options.browser
    this.browser = options.browser?.calls
    const incoming = new Incoming(options, this.calls, {
      protocol: () => this.#spoken,
      send: (message) => this.#write(message),
      onTooMuch: () => this.#giveUp('GARBLED', 'it sends too much that violates the protocol'),
    })
    this.#lines = createLineReader(maxMessage, {
      onLine(line) {
        if (!isBlank(line)) incoming.take(line, { answers: true })
      },
      onOverflow: () => this.#giveUp('GARBLED', `a line has more than ${maxMessage} bytes`),
    })
    this.#child = startChild({
      address,
      grace: times.grace,
      maxQueue,
      onOutput: (chunk) => this.#lines.push(chunk),
      onEnd: (because) => this.#giveUp('LOST', because),
      ...(onStderr && { onStderr }),
    })
    this.#browser?.onEnd(() => this.#giveUp('LOST', 'its browser has ended'))
  }

  speak(protocol: 'modern' | 'legacy'): void {
    this.#spoken = protocol
  }

  post(call: ServerCall, params: JsonObject): void {
    if (this.#hasEnded) call.fail(faultOf('UNREACHABLE', this.name, 'it has ended'))
    else this.#write(formatRequest(call.id, call.method, params))
  }

  send(message: string): Promise<void> {
    this.#write(message)
    return Promise.resolve()
  }

  cancel({ id, method }: ServerCall): void {
    if (method !== 'initialize') this.#write(formatNotification('notifications/cancelled', { requestId: id }))
  }

  abandon(): void {
    this.#giveUp('LOST', 'one of its calls was given up')
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    this.#stop('LOST', 'the connection was closed')
    await this.#child.close()
    await this.#browser?.close()
  }

  #write(message: string): void {
    if (this.#hasEnded || this.#child.write(message)) return
    this.#giveUp('LOST', 'it does not read its input')
  }

  #giveUp(code: UpstreamFaultCode, because: string): void {
    if (this.#hasEnded) return
    this.#stop(code, because)
    this.#child.kill()
    this.#onEnd()
  }

  /** Ends the channel: nothing more is taken, and active requests fail. */
  #stop(code: UpstreamFaultCode, because: string): void {
    this.#hasEnded = true
    this.#lines.stop()
    this.calls.failAll(faultOf(code, this.name, because))
  }
}

function isBlank(line: Uint8Array): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)
}
