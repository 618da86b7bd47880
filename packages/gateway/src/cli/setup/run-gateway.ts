// Runs a gateway until a signal ends it. `up` and `serve` share this.

import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../../config/config.ts'
import { GatewayError } from '../../error.ts'
import { createBudget, type Budget } from '../../budget.ts'
import { openKeyring } from '../../keyring.ts'
import type { Log } from '../../log.ts'
import type { HookProof } from './agents/proof.ts'
import { watchHooks } from './agents/watch-hooks.ts'
import { boundMemory } from './memory.ts'
import { createConnect } from '../../mcp/server/connect.ts'
import { createLlmDoor } from '../../llm/door.ts'
import { createLinks, type ConsoleLinks } from '../../console/links.ts'
import { createHttpDoor } from '../../mcp/client/http.ts'
import { openLocal, type LocalDoor } from '../../mcp/client/local.ts'
import { createMcp, type Mcp } from '../../mcp/mcp.ts'
import type { Connect } from '../../mcp/server/upstream.ts'
import type { Door } from '../../exchange.ts'
import { openGateway, type Gateway } from '../../open.ts'
import { serve, type Served } from '../../serve.ts'
import { startDecisionLog, type DecisionLog } from '../../telemetry/decision-log.ts'
import { openLineFile, openLineStream } from '../../telemetry/line-sink.ts'
import { createMeter } from '../../telemetry/meter.ts'
import { createMetrics, type Metrics } from '../../telemetry/metrics.ts'
import { startTracer, type Tracer } from '../../telemetry/tracer.ts'
import { startWebhooks, type Webhooks } from '../../webhook/webhooks.ts'
import { VERSION } from '../program/version.ts'
import { readIfThere } from '../program/connect.ts'
import { onInterrupt } from '../program/interrupt.ts'
import { collectorHeaders } from './collector-headers.ts'
import { modelAddresses } from './model-addresses.ts'
import { serverAddresses } from '../mcp/server-addresses.ts'

/** A gateway that accepts calls. */
export interface RunningGateway {
  readonly gateway: Gateway
  readonly url: string
  /** Finishes running requests, signs the last checkpoint and closes the ledger. */
  readonly close: () => Promise<void>
}

/** Returns the configuration with another port. */
export function withPort(config: Config, port: number | undefined): Config {
  return port === undefined ? config : { ...config, listen: { ...config.listen, port } }
}

interface Life {
  /** Runs after the ledger is open and before calls are accepted. */
  readonly prepare?: (gateway: Gateway) => Promise<void>
  /** Runs when calls are accepted. If it fails, the gateway is closed again. */
  readonly opened?: (running: RunningGateway) => Promise<void>
  /** Another program started the gateway and uses its local socket. Then any port is fine, but the socket is required. */
  readonly background?: boolean
  /** Runs when a signal ends the gateway. If it is set, SIGTERM is an orderly end with exit code 0. */
  readonly stopping?: () => void
}

/** Opens a gateway and its doors. From the start, a signal closes it in order. */
export async function runGateway(config: Config, log: Log, life: Life = {}): Promise<RunningGateway> {
  // Report missing secrets before anything is opened.
  const servers = serverAddresses(config)
  const models = modelAddresses(config)
  const headers = collectorHeaders(config)
  const metrics = createMetrics()
  const tracer = tracerOf(config, headers, log, metrics)
  const decisions = await decisionLogOf(config, log, metrics)
  const meter = createMeter(metrics, tracer, decisions)
  const gateway = await openGateway(config, await openKeyring(config), log, { meter })
  // Closed in reverse order, also if opening fails half way.
  const ends: (() => Promise<unknown>)[] = [
    () => tracer?.stop() ?? Promise.resolve(),
    () => decisions?.stop() ?? Promise.resolve(),
    () => gateway.close(),
  ]
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= inTurn(ends.reverse()))
  const forget = onInterrupt(async (signal) => {
    life.stopping?.()
    await close()
    return signal === 'SIGTERM' && life.stopping ? 0 : undefined
  })
  const end = async (): Promise<void> => {
    await close()
    forget()
  }
  const unbound = boundMemory()
  ends.push(() => Promise.resolve().then(unbound))
  try {
    await life.prepare?.(gateway)
    const links = linksOf(gateway)
    const webhooks = await webhooksOf(gateway, log, links)
    ends.push(() => webhooks.stop())
    const { kernel, watch } = gateway
    const { wait, names } = config.mcp
    const connect = connectFor(gateway, log)
    const mcp = createMcp({ kernel, log, servers, names, connect, wait, watch, metrics })
    ends.push(() => mcp.close())
    // All doors share one budget, so that using several doors gives a principal nothing extra.
    const budget = createBudget(config.limits.reading)
    const shared = { log, budget, metrics, ...(links && { links }) }
    const doors = doorsOf(gateway, mcp, models, shared)
    const api = { ...shared, failedStarts: () => mcp.failedStarts() }
    const served = await openDoor(gateway, doors, api, life.background === true)
    ends.push(() => served.close())
    const local = await openSocket(gateway, mcp, log, life.background === true, budget)
    if (local) ends.push(() => local.close())
    const { data } = config
    const alert = ({ agent, why }: HookProof): void => webhooks.hookSilent(agent, why)
    const hooks = watchHooks({ data, view: gateway.view, log, alert })
    ends.push(() => hooks.stop())
    // Not awaited: a server may have to be installed first.
    void mcp.meet()
    const running = { gateway, url: served.url, close: end }
    await life.opened?.(running)
    return running
  } catch (fault) {
    await end()
    throw fault
  }
}

/** Connects to servers. A browser server gets a guarded browser for each of its processes. */
function connectFor({ config, kernel }: Gateway, log: Log): Connect {
  return createConnect({
    log,
    async startBrowser(adapter, owner) {
      const { startGuarded } = await import('../../browser/door/guard.ts')
      return startGuarded({ kernel, log, settings: config.browser, adapter, ...owner })
    },
  })
}

/** Runs each in order, even if the previous one failed. */
async function inTurn(ends: readonly (() => Promise<unknown>)[]): Promise<void> {
  const [end, ...rest] = ends
  try {
    await end?.()
  } finally {
    if (rest.length > 0) await inTurn(rest)
  }
}

function tracerOf(
  { telemetry }: Config,
  headers: Readonly<Record<string, string>>,
  log: Log,
  metrics: Metrics,
): Tracer | undefined {
  const count: Metrics['spans'] = (outcome, spans) => metrics.spans(outcome, spans)
  return telemetry && startTracer({ endpoint: telemetry.endpoint, headers, version: VERSION, log, count })
}

/** @throws GatewayError `CONFIG_INVALID` if the file cannot be opened: a gateway without its log does not start. */
async function decisionLogOf(
  { decisionLog: place }: Config,
  log: Log,
  metrics: Metrics,
): Promise<DecisionLog | undefined> {
  if (place === undefined) return undefined
  const sink = place === '-' ? openLineStream(process.stdout) : await openLineFile(place)
  return startDecisionLog({ sink, log, count: (outcome, lines) => metrics.logged(outcome, lines) })
}

function linksOf({ config, kernel }: Gateway): ConsoleLinks | undefined {
  return config.console && createLinks(config.console.url, () => kernel.host.now())
}

function webhooksOf(
  { config, kernel, view, watch }: Gateway,
  log: Log,
  links: ConsoleLinks | undefined,
): Promise<Webhooks> {
  const linkTo = links && { linkTo: (id: string, until: number): string => links.linkTo(id, until) }
  return startWebhooks({ kernel, view, watch, hooks: config.webhooks, env: process.env, log, ...linkTo })
}

function doorsOf(
  { config, kernel, tokens, size, watch }: Gateway,
  mcp: Mcp,
  upstreams: ReturnType<typeof modelAddresses>,
  shared: SharedByDoors,
): readonly Door[] {
  const { body, wait } = config.llm
  const llm = { kernel, tokens, upstreams, body, wait, watch, size, ...shared }
  return [createHttpDoor({ mcp, tokens, ...shared }), createLlmDoor(llm)]
}

interface SharedByDoors {
  readonly log: Log
  readonly budget: Budget
  readonly metrics: Metrics
  readonly links?: ConsoleLinks
}

type SharedWithApi = SharedByDoors & Pick<Mcp, 'failedStarts'>

async function openDoor(
  gateway: Gateway,
  doors: readonly Door[],
  shared: SharedWithApi,
  background: boolean,
): Promise<Served> {
  const { listen } = gateway.config
  try {
    return await serveAt(listen.port, gateway, doors, shared)
  } catch (fault) {
    if (!(fault instanceof GatewayError) || fault.code !== 'LISTEN_REFUSED') throw fault
    if (background && isTaken(fault)) {
      shared.log('warn', 'the port is in use; using another port for this run', { port: listen.port })
      return serveAt(0, gateway, doors, shared)
    }
    throw new GatewayError('LISTEN_REFUSED', fault.message, {
      cause: fault,
      hints: [...fault.hints, 'for this run only, use another port with `--port N`; 0 picks a free port'],
    })
  }
}

function isTaken({ cause }: GatewayError): boolean {
  // Sound: the member is tested before use.
  return cause instanceof Error && (cause as NodeJS.ErrnoException).code === 'EADDRINUSE'
}

function serveAt(
  port: number,
  { config, kernel, view, tokens, signIn, ...gateway }: Gateway,
  doors: readonly Door[],
  shared: SharedWithApi,
): Promise<Served> {
  const { listen, hosts, cors, limits } = config
  return serve(
    {
      kernel,
      view,
      tokens,
      ...(signIn && { signIn }),
      checkpoint: () => gateway.checkpoint(),
      watch: (listener) => gateway.watch(listener),
      policyFile: () => readIfThere(config.policy),
      version: VERSION,
      limits: { body: limits.body },
      ...shared,
    },
    { ...listen, port, hosts, cors, connections: limits.connections, operators: config.data },
    doors,
  )
}

/** Opens the local socket. A gateway whose agents use HTTP works without it. */
async function openSocket(
  { config, tokens }: Gateway,
  mcp: Mcp,
  log: Log,
  background: boolean,
  budget: Budget,
): Promise<LocalDoor | undefined> {
  try {
    return await openLocal(config.data, { mcp, tokens, tenant: config.tenant, log, budget })
  } catch (fault) {
    if (background || !(fault instanceof GatewayError)) throw fault
    log('warn', '`tollgate mcp` cannot reach this gateway', { because: fault.message })
    return undefined
  }
}

const CHECK_INTERVAL_MS = 500

/**
 * Waits until the ledger is poisoned, logs why, closes the gateway and returns the exit code. A service manager then restarts it:
 * only a new start can check the ledger file.
 */
export async function untilPoisoned({ gateway, close }: RunningGateway, log: Log): Promise<number> {
  const { ledger } = gateway.kernel
  while (ledger.poisoned === undefined) await sleep(CHECK_INTERVAL_MS)
  const { cause } = ledger
  const because = cause instanceof Error ? cause.message : undefined
  const remedy = cause instanceof GatewayError && cause.hints.length > 0 ? { remedy: cause.hints } : {}
  log('error', ledger.poisoned, { because, ...remedy })
  // If closing fails, the end of the process releases the rest.
  await close().catch(() => undefined)
  return 1
}
