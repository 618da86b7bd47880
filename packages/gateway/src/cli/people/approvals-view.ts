// `tollgate approvals` on a terminal: shows what waits, and answers it with keys. Without a terminal it prints the list.

import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { GatewayOptions } from '../commands.ts'
import { ask } from '../program/ask.ts'
import { answerTo } from '../program/confirm.ts'
import { givenToken, runsOn, withConnection, type Connection } from '../program/connect.ts'
import { openScreen, type TerminalScreen } from '../program/screen.ts'
import { CommandError, type Terminal } from '../program/terminal.ts'
import { allowAlways } from './always.ts'
import { drawView } from './approvals-screen.ts'
import { EMPTY_VIEW, pressed, refreshed, type ViewAnswer, type ViewState } from './approvals-state.ts'
import { runList, waitingOn, type WaitingApproval } from './approvals.ts'

const REFRESH_MS = 1000

/** Opens the view, or prints the list if there is no terminal or no running gateway. */
export async function runView(terminal: Terminal, options: GatewayOptions): Promise<number> {
  const isPerson = !terminal.json && process.stdin.isTTY && process.stdout.isTTY
  if (!isPerson || !(await hasGateway(options))) return runList(terminal, options)
  // Asks for the passphrase first, so that no decision is possible before it.
  return withConnection(options, 'write', async (connection) => {
    // Fails before the screen opens if the gateway does not answer.
    const { approvals } = await waitingOn(connection)
    let state = refreshed(EMPTY_VIEW, approvals)
    while (true) {
      const request = await show(terminal, connection, state)
      if (!request) return 0
      await proposed(terminal, options, connection, request)
      const { approvals: now } = await waitingOn(connection)
      state = refreshed(EMPTY_VIEW, now)
    }
  })
}

/** Proposes a rule on the normal screen, because the change can be long and the person confirms it there. */
async function proposed(
  terminal: Terminal,
  options: GatewayOptions,
  connection: Connection,
  { id }: WaitingApproval,
): Promise<void> {
  try {
    await allowAlways(terminal, options, connection, id)
  } catch (fault) {
    if (!(fault instanceof CommandError)) throw fault
    terminal.warn(fault.message, ...fault.hints)
  }
  await answerTo('press Enter to go back ')
}

async function hasGateway(options: GatewayOptions): Promise<boolean> {
  return options.url !== undefined || givenToken(options) !== undefined || (await runsOn(options))
}

/** Shows the view until the person quits. Returns the request that a rule is wanted for, if the person asks for one. */
async function show(
  terminal: Terminal,
  connection: Connection,
  first: ViewState,
): Promise<WaitingApproval | undefined> {
  let state = first
  let wanted: WaitingApproval | undefined
  let isAllSeen = false
  const stop = new AbortController()
  const draw = (): void => {
    const drawn = drawView(state, screen.size(), Date.now(), terminal.paint)
    isAllSeen = drawn.isAllSeen
    screen.draw(drawn.lines)
  }
  const onKey = (key: string): void => {
    const { state: next, answer, quit } = pressed(state, key, isAllSeen)
    state = next
    if (answer?.word === 'always') wanted = answer.request
    if (quit === true || wanted) stop.abort()
    else if (answer) void send(answer)
    draw()
  }
  // Counts sent answers: a list that was asked for before an answer would show the request again.
  let answers = 0
  const send = async (answer: ViewAnswer): Promise<void> => {
    answers++
    const notice = await answered(connection, answer)
    state = { ...state, notice }
    await refresh()
  }
  const refresh = async (): Promise<void> => {
    const before = answers
    try {
      const { approvals } = await waitingOn(connection)
      if (before === answers) state = refreshed(state, approvals)
    } catch (fault) {
      state = { ...state, notice: messageOf(fault) }
    }
    draw()
  }
  const screen: TerminalScreen = openScreen(onKey, draw)
  try {
    draw()
    while (await isNextDue(stop.signal)) await refresh()
    return wanted
  } finally {
    screen.close()
  }
}

/** Waits for the next refresh; false if the person quits. */
async function isNextDue(signal: AbortSignal): Promise<boolean> {
  await sleep(REFRESH_MS, undefined, { signal }).catch(() => undefined)
  return !signal.aborted
}

/** Sends an answer. Returns what happened, in one line. */
async function answered(connection: Connection, { request, word, because }: ViewAnswer): Promise<string> {
  try {
    await ask(connection, `/v1/approvals/${request.id}/${word}`, because === undefined ? {} : { because })
    const id = request.id.slice(0, 8)
    return word === 'approve' ? `approved ${id}: exactly this call is allowed, once` : `denied ${id}`
  } catch (fault) {
    return messageOf(fault)
  }
}

function messageOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : 'unknown fault'
}
