// The first words with a server: which era it is of, and who it is.
//
// The modern question comes first, since only its answer can tell. A process that says nothing for a while is asked the legacy
// question too. Where both are answered the handshake holds, for a server of both eras goes by what it was asked last.

import { isList, isObject } from '@tollgate/evidence'
import { faultOf, within, withResolvers, type ServerCall } from './calls.ts'
import { perform, post, type ServerChannel, type Times } from './channel.ts'
import { LEGACY, MODERN } from '../protocol.ts'
import { initializeParams, readInitialized, speakLegacy, type Spoken } from './legacy.ts'
import { CODE, formatNotification } from '../message.ts'
import { readDiscovered, senderMeta, speakModern } from './modern.ts'
import type { ClientHello, ServerHello, UpstreamAnswer, UpstreamEvents, UpstreamFault } from './upstream.ts'

/** What a greeting needs. */
interface GreetOptions {
  readonly client: ClientHello
  readonly events: UpstreamEvents
  readonly times: Times
  /** A time of `now()`. */
  readonly deadline: number
  /** Whether the modern question is asked. */
  readonly probe: boolean
  /** A modern server by HTTP no longer tells of changes. */
  readonly onUntold: () => void
}

/** Finds out how to speak with a server. @throws UpstreamFault. */
export async function greet(channel: ServerChannel, options: GreetOptions): Promise<Spoken> {
  const { name } = channel
  const late = (): UpstreamFault => faultOf('UNREACHABLE', name, 'it does not say who it is')
  return within(meet(channel, options), { deadline: options.deadline, late, name })
}

async function meet(channel: ServerChannel, options: GreetOptions): Promise<Spoken> {
  const { client, times, probe } = options
  const call = probe ? ask(channel, client) : undefined
  const silence = channel.transport === 'stdio' ? times.silence : Infinity
  const early = call && (await answerWithin(call, silence))
  const modern = early && readModern(channel.name, early)
  if (modern) return beginModern(channel, modern, options)
  const answer = await initialize(channel, options)
  const legacy = answer.ok ? readInitialized(answer.result, channel.transport) : undefined
  if (legacy) return beginLegacy(channel, legacy, options)
  // A modern server that was slow to start has refused the handshake, and is about to answer what it was asked before.
  const asked = early || answer.ok ? undefined : (call ?? ask(channel, client))
  const slow = asked && readModern(channel.name, await asked.answer)
  if (slow) return beginModern(channel, slow, options)
  throw strange(channel.name)
}

function ask(channel: ServerChannel, client: ClientHello): ServerCall {
  const call = channel.calls.open('server/discover', {})
  post(channel, call, { params: () => ({ _meta: senderMeta(client) }) })
  return call
}

function initialize(channel: ServerChannel, { client, deadline }: GreetOptions): Promise<UpstreamAnswer> {
  const params = initializeParams(client)
  return perform(channel, { method: 'initialize', params: () => params, exchange: {}, deadline })
}

function beginModern(channel: ServerChannel, hello: ServerHello, options: GreetOptions): Spoken {
  channel.speak('modern', hello.version)
  return speakModern(channel, hello, options)
}

async function beginLegacy(
  channel: ServerChannel,
  hello: ServerHello,
  { times }: GreetOptions,
): Promise<Spoken> {
  channel.speak('legacy', hello.version)
  await channel.send(formatNotification('notifications/initialized', {}))
  channel.attend?.()
  return speakLegacy(channel, hello, times.patience)
}

/** The answer, or undefined if it does not come in time. @throws UpstreamFault. */
async function answerWithin(call: ServerCall, milliseconds: number): Promise<UpstreamAnswer | undefined> {
  if (milliseconds === Infinity) return call.answer
  const { promise, resolve } = withResolvers<undefined>()
  const timer = setTimeout(() => resolve(undefined), milliseconds)
  try {
    return await Promise.race([call.answer, promise])
  } finally {
    clearTimeout(timer)
  }
}

const MODERN_ERRORS: readonly number[] = [
  CODE.headerMismatch,
  CODE.missingCapability,
  CODE.unsupportedVersion,
]

/** Who a modern server is; undefined for one that has to be asked the legacy way. @throws UpstreamFault if neither helps. */
function readModern(name: string, answer: UpstreamAnswer): ServerHello | undefined {
  if (answer.ok) {
    const hello = readDiscovered(answer.result)
    if (hello) return hello
    const versions = answer.result['supportedVersions']
    if (!isList(versions) || hasLegacy(versions)) return undefined
    throw strange(name)
  }
  const { code, data } = answer.error
  if (!MODERN_ERRORS.includes(code)) return undefined
  const supported = isObject(data) ? data['supported'] : undefined
  if (isList(supported) && hasLegacy(supported)) return undefined
  throw strange(name)
}

function hasLegacy(versions: readonly unknown[]): boolean {
  return LEGACY.some((version) => versions.includes(version))
}

function strange(name: string): UpstreamFault {
  const spoken = [MODERN, ...LEGACY].join(', ')
  return faultOf('UNREACHABLE', name, `it speaks none of the revisions that are spoken here (${spoken})`)
}
