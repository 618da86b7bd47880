// `tollgate mcp -- COMMAND`: replaces the server command of an MCP client. Standard input and output carry only the protocol of the
// client. It has no keys and no ledger: it relays to the gateway, which starts the server.

import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { lineWriter } from '../../mcp/lines.ts'
import { requireUsable } from '../../directory.ts'
import { GatewayError } from '../../error.ts'
import { createLineReader } from '../../mcp/lines.ts'
import type { Join } from '../../mcp/client/local-join.ts'
import { checkSocket, socketPath } from '../../mcp/client/local-path.ts'
import { ADAPTERS } from '../../browser/servers/adapters.ts'
import { isServerName } from '../../tools/offer.ts'
import type { DataOptions } from '../commands.ts'
import { dataOf } from '../program/connect.ts'
import { onInterrupt } from '../program/interrupt.ts'
import { CommandError, UsageError, type Terminal } from '../program/terminal.ts'
import { SCANNED } from './config.ts'
import { joinGateway, NoGateway, type WrapLink, type LinkEvents } from './wrap-link.ts'
import { serverNameOf } from './wrap-name.ts'
import { Relay } from './wrap-relay.ts'
import { createStarter, type Starter } from './wrap-start.ts'

interface WrapOptions extends DataOptions {
  readonly name?: string
  readonly browser?: string
}

// Lines that are too long for the gateway are still read, so that they get an answer.
const MAX_LINE = 64 << 20

/** Relays between the client and a gateway until the client ends. */
export async function runWrap(
  terminal: Terminal,
  options: WrapOptions,
  ...words: readonly string[]
): Promise<number> {
  refuseScan()
  const join = joinOf(terminal, options, words)
  const data = resolve(dataOf(options))
  // Fail at once if the directory is unusable: waiting would not help.
  if (!checkSocket(socketPath(data))) requireUsable(data)
  const starter = createStarter(data)
  const { stdin, stdout, stderr } = process
  const relay = new Relay({
    data,
    join: (events, again, mayStart) =>
      reach(
        socketPath(data),
        { ...join, ...(again && { initialize: again }) },
        events,
        mayStart ? starter : undefined,
      ),
    write: lineWriter(stdout),
    stderr: (text) => void stderr.write(text),
    say: (sentence) => terminal.say(sentence),
  })
  stdout.on('drain', () => relay.drained())
  onInterrupt(() => {
    relay.close()
    return 0
  })
  await read(
    stdin,
    (line) => relay.take(line),
    () => terminal.warn('a line of the client is too long'),
  )
  await relay.finish()
  stdin.destroy()
  return 0
}

/** A scan needs no gateway, and starts none. @throws CommandError in a scan. */
function refuseScan(): void {
  if (process.env[SCANNED] !== '1') return
  throw new CommandError(
    'a scan asks servers without a gateway, and a script hides the command of this one',
    'write `tollgate mcp --` into the configuration of the client itself',
  )
}

/** Reads every complete line until the end. */
function read(
  stdin: NodeJS.ReadStream,
  onLine: (line: Uint8Array) => void,
  onOverflow: () => void,
): Promise<void> {
  return new Promise((resolve) => {
    const reader = createLineReader(MAX_LINE, {
      onLine: (line) => onLine(withoutReturn(line)),
      onOverflow() {
        onOverflow()
        resolve()
      },
    })
    stdin.on('data', (chunk: Buffer) => reader.push(chunk))
    stdin.on('close', resolve)
    stdin.on('end', resolve)
    stdin.on('error', () => resolve())
  })
}

function withoutReturn(line: Uint8Array): Uint8Array {
  return line.at(-1) === 0x0d ? line.subarray(0, -1) : line
}

function joinOf(
  terminal: Terminal,
  { name, browser }: WrapOptions,
  [command, ...args]: readonly string[],
): Join {
  if (command === undefined) {
    throw new UsageError(
      'no command to wrap',
      'write it after `--`, as in `tollgate mcp -- npx -y @modelcontextprotocol/server-everything`',
    )
  }
  const called = name ?? serverNameOf([command, ...args])
  if (!isServerName(called)) {
    throw new UsageError(
      `\`${called}\` is not a valid server name`,
      'use at most 32 lower-case letters, digits, `-` and `_`',
    )
  }
  const adapter = ADAPTERS.find((each) => each === browser)
  if (browser !== undefined && !adapter) {
    throw new UsageError(`\`${browser}\` is not a browser server`, `write one of ${ADAPTERS.join(', ')}`)
  }
  const token = agentToken(terminal)
  return {
    name: called,
    command,
    args,
    env: environment(),
    cwd: process.cwd(),
    process: randomBytes(16).toString('hex'),
    ...(token !== undefined && { token }),
    ...(adapter && { browser: adapter }),
  }
}

/** Returns the token of the agent. Tokens of other roles are not for agents. */
function agentToken(terminal: Terminal): string | undefined {
  const { TOLLGATE_AGENT_TOKEN: token = '', TOLLGATE_TOKEN: older = '' } = process.env
  if (token.startsWith('tg_agent_')) return token
  if (token !== '') terminal.warn('TOLLGATE_AGENT_TOKEN does not contain an agent token; it is not used')
  if (!older.startsWith('tg_agent_')) return undefined
  terminal.warn(
    'TOLLGATE_TOKEN contains an agent token',
    'rename the variable to TOLLGATE_AGENT_TOKEN; a later version will not read the old name here',
  )
  return older
}

/** Returns the environment for the server: that of this process without the variables of the gateway. */
function environment(): Record<string, string> {
  const all = Object.entries(process.env).filter(([name]) => !name.startsWith('TOLLGATE_'))
  return Object.fromEntries(all.map(([name, value]) => [name, value ?? '']))
}

const START_TIMEOUT_MS = 15_000
// If the new gateway ended because another one was starting, wait this long for the other.
const GRACE_MS = 5000
const POLL_INTERVAL_MS = 100

/** Joins the gateway. Starts one if there is none and a starter is given. */
async function reach(
  path: string,
  join: Join,
  events: LinkEvents,
  starter: Starter | undefined,
): Promise<WrapLink> {
  const first = await joinIfThere(path, join, events)
  if (first) {
    starter?.joined()
    return first
  }
  if (!starter) {
    throw new GatewayError('LISTEN_REFUSED', 'it was stopped, and is not restarted automatically')
  }
  const started = starter.start()
  let end = performance.now() + START_TIMEOUT_MS
  let failure: string | undefined
  while (performance.now() < end) {
    await sleep(POLL_INTERVAL_MS)
    const link = await joinIfThere(path, join, events)
    if (link) {
      starter.joined()
      return link
    }
    if (failure === undefined) {
      failure = started.failure()
      if (failure !== undefined) end = Math.min(end, performance.now() + GRACE_MS)
    }
  }
  throw starter.failed(failure ?? 'it did not become ready')
}

async function joinIfThere(path: string, join: Join, events: LinkEvents): Promise<WrapLink | undefined> {
  try {
    return await joinGateway(path, join, events)
  } catch (fault) {
    if (fault instanceof NoGateway) return undefined
    throw fault
  }
}
