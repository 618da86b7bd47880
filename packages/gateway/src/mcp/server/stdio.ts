// A stdio channel to a server process: one message per line in both directions.

import { createCalls, faultOf, type ServerCall } from './calls.ts'
import type { ServerChannel, ChannelOptions } from './channel.ts'
import { startChild } from './child.ts'
import { createIncoming } from './incoming.ts'
import { createLineReader } from '../lines.ts'
import { formatNotification, formatRequest } from '../message.ts'
import type { ServerAddress, UpstreamFaultCode } from './upstream.ts'

interface StdioOptions extends ChannelOptions {
  readonly address: ServerAddress & { readonly transport: 'stdio' }
  /** Most bytes that may wait until the process reads them. */
  readonly maxQueue: number
  /** Receives its standard error. */
  readonly onStderr?: (text: string) => void
}

/** Starts a process and opens a channel to it. */
export function openStdio(options: StdioOptions): ServerChannel {
  const { name, log, events, times, address, maxMessage, maxQueue, onStderr, onEnd } = options
  const calls = createCalls()
  let spoken: 'modern' | 'legacy' | undefined
  let hasEnded = false
  let closing: Promise<void> | undefined

  const incoming = createIncoming({
    name,
    calls,
    events,
    log,
    maxMessage,
    protocol: () => spoken,
    send: write,
    onTooMuch: () => giveUp('GARBLED', 'it sends too much that violates the protocol'),
  })
  const lines = createLineReader(maxMessage, {
    onLine: (line) => {
      if (!isBlank(line)) incoming.take(line, { answers: true })
    },
    onOverflow: () => giveUp('GARBLED', `a line has more than ${maxMessage} bytes`),
  })
  const child = startChild({
    address,
    grace: times.grace,
    maxQueue,
    onOutput: (chunk) => lines.push(chunk),
    onEnd: (because) => giveUp('LOST', because),
    ...(onStderr && { onStderr }),
  })

  /** Ends the channel: nothing more is taken, and active requests fail. */
  function giveUp(code: UpstreamFaultCode, because: string): void {
    if (hasEnded) return
    hasEnded = true
    lines.stop()
    child.kill()
    calls.failAll(faultOf(code, name, because))
    onEnd()
  }

  function write(message: string): void {
    if (hasEnded || child.write(message)) return
    giveUp('LOST', 'it does not read its input')
  }

  function close(): Promise<void> {
    hasEnded = true
    lines.stop()
    calls.failAll(faultOf('LOST', name, 'the connection was closed'))
    return child.close()
  }

  return {
    name,
    transport: 'stdio',
    calls,
    speak: (protocol) => (spoken = protocol),
    post(call: ServerCall, params) {
      if (hasEnded) call.fail(faultOf('UNREACHABLE', name, 'it has ended'))
      else write(formatRequest(call.id, call.method, params))
    },
    send(message) {
      write(message)
      return Promise.resolve()
    },
    cancel({ id, method }) {
      if (method !== 'initialize') write(formatNotification('notifications/cancelled', { requestId: id }))
    },
    close: () => (closing ??= close()),
  }
}

function isBlank(line: Uint8Array): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)
}
