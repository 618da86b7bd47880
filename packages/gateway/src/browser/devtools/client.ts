// One client of the endpoint: its commands and events on a session of its own, with its own ids.

import { asObject, textOf, type Cdp, type CdpAnswer, type CdpResult } from '../cdp.ts'
import { withoutCredentials } from './credentials.ts'
import { admit, classOf, isUrgent } from './methods.ts'
import type { ClientCommand, Screen } from './screen.ts'
import { isShown, openSessions } from './sessions.ts'
import type { Targets } from './targets.ts'

/** The way back to a client. */
interface Line {
  say(text: string): void
  /** Ends the connection. */
  hangUp(reason: string): void
}

/** A client that is connected. */
export interface Client {
  /** Takes a message of the client. */
  take(text: string): void
  /** Detaches everything that the client attached to. */
  end(): void
}

/** A browser, with the gateway's own view of it. */
export interface Guarded {
  readonly cdp: Cdp
  readonly targets: Pick<Targets, 'prepared'>
}

/** More are not under way at once. The servers send a few dozen. */
const MOST_COMMANDS = 4_096
/** In characters. */
const MOST_WAITING = 128 << 20
const RUN = 'Runtime.runIfWaitingForDebugger'
const NO_SESSION = { code: -32_001, message: 'Session with given id not found.' }

/** Opens the browser for a client. */
export async function openClient({ cdp, targets }: Guarded, screen: Screen, line: Line): Promise<Client> {
  const root = textOf((await cdp.send('Target.attachToBrowserTarget'))['sessionId'])
  const sessions = openSessions(root)
  const turns = new Map<string, Promise<void>>()
  let [under, waiting, ended] = [0, 0, false]
  const outside = (session: string): object => (session === root ? {} : { sessionId: session })
  const tell = (message: object): void => {
    if (!ended) line.say(JSON.stringify(message))
  }
  const forget = cdp.onAny(({ method, params, session }) => {
    if (session === undefined || !sessions.has(session)) return
    if (sessions.follow(method, params)) {
      tell({ method, params: withoutCredentials(method, params), ...outside(session) })
    } else if (method === 'Target.attachedToTarget') leave(cdp, textOf(params['sessionId']), session)
  })
  return {
    take: (text) => {
      const message = commandOf(text)
      const tooMuch = under >= MOST_COMMANDS || waiting + text.length > MOST_WAITING
      if (!message || tooMuch) return line.hangUp('the client does not speak the protocol')
      take(message, text.length)
    },
    end: () => {
      ended = true
      forget()
      cdp.send('Target.detachFromTarget', { sessionId: root }).catch(() => undefined)
    },
  }

  function take({ id, method, params: sent, session: named }: Received, length: number): void {
    const session = named ?? root
    const back = outside(session)
    const refuse = (why: string): void => {
      tell({
        id,
        ...back,
        error: { code: -32_000, message: `the gateway refused \`${method.slice(0, 64)}\`: ${why}` },
      })
    }
    if (!sessions.has(session)) return tell({ id, ...back, error: NO_SESSION })
    const admitted = admit(method, sent)
    if ('refuse' in admitted) return refuse(admitted.refuse)
    if ('answer' in admitted) return tell({ id, ...back, result: admitted.answer })
    const { params } = admitted
    const command = {
      method,
      params,
      session: session === root ? undefined : session,
      target: sessions.targetOf(session),
    }
    under++
    waiting += length
    const done = (answer: CdpAnswer): void => {
      under--
      tell({ id, ...back, ...answer })
    }
    const failed = (why: string): void => {
      under--
      refuse(why)
    }
    const forward = (): void => {
      cdp.forward(method, params, session, (answer) => {
        if (method === 'Target.createBrowserContext') return withoutDownloads(cdp, answer, done)
        screened(screen, command, answer, done, failed)
      })
    }
    const run = async (): Promise<void> => {
      // The first debugger that lets a target run lets it run for all.
      if (method === RUN && sessions.isHeld(session)) await targets.prepared(command.target ?? '')
      const said = await screen.onCommand(command)
      if (said !== 'pass' && 'refuse' in said) failed(said.refuse)
      // The client may have left while the screen was asked.
      else if (ended || !sessions.has(session)) done({ error: NO_SESSION })
      else {
        const why = said === 'pass' ? undefined : said.unless()
        if (why === undefined) forward()
        else failed(why)
      }
    }
    const judged = async (): Promise<void> => {
      await run().catch(() => failed('it could not be judged'))
      waiting -= length
    }
    inTurn(command, judged)
  }

  function inTurn({ method, target = '' }: ClientCommand, run: () => Promise<void>): void {
    if (isUrgent(method)) return void run()
    const turn = (turns.get(target) ?? Promise.resolve()).then(run)
    turns.set(target, turn)
    void turn.then(() => {
      if (turns.get(target) === turn) turns.delete(target)
    })
  }
}

/** Resumes and leaves a target that the client may not see. */
function leave(cdp: Cdp, session: string, parent: string): void {
  cdp.send(RUN, {}, { session }).catch(() => undefined)
  cdp.send('Target.detachFromTarget', { sessionId: session }, { session: parent }).catch(() => undefined)
}

/** Gives an answer to `done`, after the screen has seen it if the class of the command asks for that. */
function screened(
  screen: Screen,
  command: ClientCommand,
  answer: CdpAnswer,
  done: (answer: CdpAnswer) => void,
  failed: (why: string) => void,
): void {
  if ('error' in answer) return done(answer)
  const { result } = answer
  if (command.method === 'Target.getTargets') return done({ result: withShown(result) })
  if (classOf(command.method) === 'read') return done(answer)
  const seen = async (): Promise<CdpResult> => screen.onResult(command, result)
  seen().then(
    (replaced) => done({ result: replaced }),
    () => failed('its result could not be judged'),
  )
}

/** Denies downloads in a new context before the client can use it. */
function withoutDownloads(cdp: Cdp, answer: CdpAnswer, done: (answer: CdpAnswer) => void): void {
  if ('error' in answer) return done(answer)
  const { browserContextId } = answer.result
  cdp.send('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId }).then(
    () => done(answer),
    () => done({ error: { code: -32_000, message: 'the gateway could not deny downloads' } }),
  )
}

function withShown(result: CdpResult): CdpResult {
  const { targetInfos } = result
  return { ...result, targetInfos: Array.isArray(targetInfos) ? targetInfos.filter(isShown) : [] }
}

interface Received {
  readonly id: number
  readonly method: string
  readonly params: CdpResult
  readonly session: string | undefined
}

/** A message of a client; undefined if it is no command. */
function commandOf(text: string): Received | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const { id, method, params, sessionId: session } = asObject(value)
  const whole =
    Number.isSafeInteger(id) &&
    typeof method === 'string' &&
    (params === undefined || (typeof params === 'object' && params !== null && !Array.isArray(params))) &&
    (session === undefined || typeof session === 'string')
  // Sound: the checks above cover each of these.
  return whole ? ({ id, method, params: asObject(params), session } as Received) : undefined
}
