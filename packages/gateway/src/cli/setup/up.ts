// `tollgate up`: a gateway for evaluation and policy authoring. Creates missing files, then serves until Ctrl-C.

import process from 'node:process'
import { policyOf } from '@tollgate/kernel'
import { activatePolicy } from '@tollgate/kernel/admin'
import { parsePolicy } from '@tollgate/kernel/policy'
import { defaultData } from '../../config/config.ts'
import { createLog } from '../../log.ts'
import type { Gateway } from '../../open.ts'
import { seedsBeside } from '../policy/diff-cases.ts'
import { placed } from '../policy/policy-file.ts'
import type { DataOptions } from '../commands.ts'
import { dataOf, localUser, readIfThere } from '../program/connect.ts'
import { fitted } from '../program/fit.ts'
import { startWords } from '../program/launcher.ts'
import { urlOf } from '../program/over-http.ts'
import { activateFirst, createData } from './create.ts'
import { runGateway, untilPoisoned, withPort, type RunningGateway } from './run-gateway.ts'
import { pendingNotice, policyStatus } from '../policy/policy-status.ts'
import { loginFor, placeOf } from '../program/logins.ts'
import { word } from '../program/table.ts'
import type { Terminal } from '../program/terminal.ts'
import { observeNotice } from '../policy/observe.ts'
import { firstToken } from './offer-login.ts'
import { findSamples, SAMPLE_PRINCIPAL, type Samples } from './samples.ts'
import { observedIn } from './status.ts'
import { welcome } from './welcome.ts'

interface UpOptions extends DataOptions {
  readonly port?: number
  readonly watch?: boolean
  readonly background?: boolean
}

/** Starts a gateway, prints how to use it, and serves until a signal arrives. */
export async function runUp(terminal: Terminal, options: UpOptions): Promise<number> {
  const created = await createData(dataOf(options), {}, ({ what, where }) =>
    terminal.say(`created ${what}: \`${where}\``),
  )
  const config = withPort(created, options.port)
  const log = createLog(config.log === 'debug' ? 'debug' : 'warn', (line) => void process.stderr.write(line))
  const background = options.background === true
  let endWatch = (): void => undefined
  const running = await runGateway(config, log, {
    background,
    async prepare(gateway) {
      const policy = await activateFirst(gateway, readIfThere(config.policy))
      if (policy !== undefined) terminal.say(`activated policy \`${policy}\``)
    },
    async opened(running) {
      if (background) terminal.say(`gateway listening on ${running.url}, process ${process.pid}`)
      else await announce(terminal, running, urlOf(created))
      await warnObserved(terminal, running.gateway)
      if (options.watch === true) endWatch = watchPolicy(terminal, running.gateway)
      else await warnPending(terminal, running.gateway)
    },
    stopping() {
      endWatch()
      terminal.say('stopping; every answered call is recorded in the ledger')
    },
  })
  return untilPoisoned(running, log)
}

/** Prints how to use the gateway. Creates tokens only now: a token that is shown once must not be lost in a failed start. */
async function announce(terminal: Terminal, { gateway, url }: RunningGateway, usual: string): Promise<void> {
  const { data } = gateway.config
  const first = await firstToken(terminal, gateway)
  const admin = first.kind === 'shown' ? first.token : undefined
  if (terminal.json) {
    const agent = await agentToken(gateway, SAMPLE_PRINCIPAL)
    terminal.row({ url, data, agent_token: agent, admin_token: admin ?? null }, () => '')
    return
  }
  const samples = await samplesOf(terminal, gateway)
  const lines = welcome({
    url,
    agent: await agentToken(gateway, samples.principal),
    samples,
    words: startWords(),
    data: data === defaultData() ? '' : ` --data ${word(data)}`,
    directory: data === defaultData() ? undefined : data,
    admin: admin === undefined ? undefined : { token: admin, of: `user:${localUser()}` },
    elsewhere: url !== usual,
    hasLogin: loginFor(placeOf({ data })) !== undefined,
  })
  terminal.say(`gateway listening on ${url}; data directory \`${data}\``)
  // Commands to paste are indented and stay whole.
  const fit = (line: string): string => fitted(line, 0, process.stderr.columns)
  for (const line of lines) terminal.line(line.startsWith(' ') ? line : fit(line))
  terminal.say('press Ctrl-C to stop')
}

/** The samples come from the test cases of the policy file, as far as they still hold. */
function samplesOf(terminal: Terminal, { kernel, config }: Gateway): Promise<Samples> {
  const { tenant, policy: file } = config
  const cases = seedsBeside(terminal, [{ file, policy: policyOf(kernel, tenant) }])
  return findSamples(kernel, tenant, cases)
}

async function agentToken({ tokens, config }: Gateway, principal: string): Promise<string> {
  const request = { role: 'agent', tenant: config.tenant, principal, run: true } as const
  return (await tokens.issue(request, `local:${localUser()}`)).token
}

/** Observe mode survives a restart, so a start has to show it. */
async function warnObserved(terminal: Terminal, { view }: Gateway): Promise<void> {
  const notice = observeNotice(await observedIn(view, Date.now()))
  if (notice) terminal.warn(...notice)
}

async function warnPending(terminal: Terminal, { view, config }: Gateway): Promise<void> {
  const notice = pendingNotice(await policyStatus(view, config))
  if (notice) terminal.warn(...notice)
}

const CHECK_INTERVAL_MS = 500

/** Activates the policy file on every change, until the returned function is called. A file with mistakes changes nothing. */
function watchPolicy(terminal: Terminal, gateway: Gateway): () => void {
  const { policy: file } = gateway.config
  terminal.warn(`every change of \`${file}\` is activated immediately: use this for policy authoring only`)
  // Compares the text instead of using file events: editors replace files, and an early event can be missed.
  let seen: string | undefined | null = null
  let reported = ''
  const look = async (): Promise<void> => {
    try {
      const text = readIfThere(file)
      if (text === seen) return
      seen = text
      reported = ''
      await activateChanged(terminal, gateway, text)
    } catch (fault) {
      const why = fault instanceof Error ? fault.message : 'unknown fault'
      // A file that stays unreadable causes one warning, not one per check.
      if (why !== reported) terminal.warn(`the changed policy could not be activated: ${why}`)
      reported = why
    }
  }
  void look()
  const timer = setInterval(() => void look(), CHECK_INTERVAL_MS)
  return () => clearInterval(timer)
}

async function activateChanged(
  terminal: Terminal,
  { kernel, config }: Gateway,
  text: string | undefined,
): Promise<void> {
  if (text === undefined) {
    terminal.warn('the policy file is missing; the last policy stays in force')
    return
  }
  const parsed = parsePolicy(text)
  if (!parsed.ok) {
    const places = placed(config.policy, parsed.mistakes)
    terminal.warn('the changed policy has mistakes; the last good one stays in force', ...places)
    return
  }
  if (parsed.policy.hash === policyOf(kernel, config.tenant).hash) return
  await activatePolicy(kernel, parsed.policy, `local:${localUser()}`, config.tenant)
  terminal.say(`POLICY CHANGED: \`${parsed.policy.name}\` (${parsed.policy.hash.slice(0, 8)}) is in force`)
}
