// The first exchange with a server: finds out which protocol it speaks and who it is. The modern question comes first. If a
// process stays silent, it gets the legacy question too. If both are answered, the legacy handshake counts, because a server
// that supports both follows the last question.

import { isList, isObject } from '@tollgate/evidence'
import { faultOf, within, type ServerCall } from './calls.ts'
import { perform, post, type ServerChannel, type Times } from './channel.ts'
import { LEGACY, MODERN } from '../protocol.ts'
import { readInitialized, speakLegacy, type ServerSession } from './legacy.ts'
import { CODE, formatNotification } from '../message.ts'
import { orLate } from '../waiting.ts'
import { readDiscovered, senderMeta, speakModern } from './modern.ts'
import type { ClientHello, ServerHello, UpstreamAnswer, UpstreamEvents, UpstreamFault } from './upstream.ts'

interface GreetOptions {
  readonly client: ClientHello
  readonly events: UpstreamEvents
  readonly times: Times
  /** A time of `now()`. */
  readonly deadline: number
  /** Whether the modern question is asked. */
  readonly probe: boolean
  /** A modern HTTP server no longer reports changes. */
  readonly onChangesLost: () => void
}

/** Finds out how to talk to a server. @throws UpstreamFault. */
export async function greet(channel: ServerChannel, options: GreetOptions): Promise<ServerSession> {
  const { name } = channel
  const late = (): UpstreamFault => faultOf('UNREACHABLE', name, 'it did not answer the handshake')
  return within(meet(channel, options), { deadline: options.deadline, late, name })
}

async function meet(channel: ServerChannel, options: GreetOptions): Promise<ServerSession> {
  const { client, times, probe } = options
  const call = probe ? ask(channel, client) : undefined
  const silence = channel.transport === 'stdio' ? times.silence : Infinity
  const early = call && (await orLate(call.answer, silence))
  const modern = early && readModern(channel.name, early)
  if (modern) return beginModern(channel, modern, options)
  const answer = await initialize(channel, options)
  const legacy = answer.ok ? readInitialized(answer.result, channel.transport) : undefined
  if (legacy) return beginLegacy(channel, legacy, options)
  // A modern server that started slowly refuses the handshake and then answers the first question.
  const asked = early || answer.ok ? undefined : (call ?? ask(channel, client))
  const slow = asked && readModern(channel.name, await asked.answer)
  if (slow) return beginModern(channel, slow, options)
  throw unsupported(channel.name)
}

function ask(channel: ServerChannel, client: ClientHello): ServerCall {
  const call = channel.calls.open('server/discover', {})
  post(channel, call, { params: () => ({ _meta: senderMeta(client) }) })
  return call
}

function initialize(channel: ServerChannel, { client, deadline }: GreetOptions): Promise<UpstreamAnswer> {
  const { capabilities, info } = client
  const params = { protocolVersion: LEGACY[0] ?? '', capabilities, clientInfo: info }
  return perform(channel, { method: 'initialize', params: () => params, exchange: {}, deadline })
}

function beginModern(channel: ServerChannel, hello: ServerHello, options: GreetOptions): ServerSession {
  channel.speak('modern', hello.version)
  return speakModern(channel, hello, options)
}

async function beginLegacy(
  channel: ServerChannel,
  hello: ServerHello,
  { times }: GreetOptions,
): Promise<ServerSession> {
  channel.speak('legacy', hello.version)
  await channel.send(formatNotification('notifications/initialized', {}))
  channel.attend?.()
  return speakLegacy(channel, hello, times.patience)
}

const MODERN_ERRORS: readonly number[] = [
  CODE.headerMismatch,
  CODE.missingCapability,
  CODE.unsupportedVersion,
]

/** The identity of a modern server; undefined if it needs the legacy handshake. @throws UpstreamFault if neither works. */
function readModern(name: string, answer: UpstreamAnswer): ServerHello | undefined {
  if (answer.ok) {
    const hello = readDiscovered(answer.result)
    if (hello) return hello
    const versions = answer.result['supportedVersions']
    if (!isList(versions) || hasLegacy(versions)) return undefined
    throw unsupported(name)
  }
  const { code, data } = answer.error
  if (!MODERN_ERRORS.includes(code)) return undefined
  const supported = isObject(data) ? data['supported'] : undefined
  if (isList(supported) && hasLegacy(supported)) return undefined
  throw unsupported(name)
}

function hasLegacy(versions: readonly unknown[]): boolean {
  return LEGACY.some((version) => versions.includes(version))
}

function unsupported(name: string): UpstreamFault {
  const spoken = [MODERN, ...LEGACY].join(', ')
  return faultOf('UNREACHABLE', name, `it supports none of these protocol versions: ${spoken}`)
}
