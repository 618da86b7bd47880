// `tollgate up`: a gateway to try and to author with. Makes what is missing and says so, then serves until Ctrl-C.

import process from 'node:process'
import { policyOf } from '@tollgate/kernel'
import { activatePolicy } from '@tollgate/kernel/admin'
import { parsePolicy } from '@tollgate/kernel/policy'
import { defaultData } from '../../config/config.ts'
import { createLog } from '../../log.ts'
import type { Gateway } from '../../open.ts'
import { placed } from '../policy/policy-file.ts'
import type { DataOptions } from '../commands.ts'
import { dataOf, localUser, readIfThere, urlOf } from '../program/connect.ts'
import { activateFirst, createData, firstAdmin } from './create.ts'
import { runGateway, untilGivenUp, withPort, type RunningGateway } from './run-gateway.ts'
import { pendingNotice, policyStanding } from '../policy/standing.ts'
import { word } from '../program/table.ts'
import type { Terminal } from '../program/terminal.ts'
import { welcome } from './welcome.ts'

interface UpOptions extends DataOptions {
  readonly port?: number
  readonly watch?: boolean
  readonly background?: boolean
}

/** Starts a gateway, says how to talk to it, and serves until a signal comes. */
export async function runUp(terminal: Terminal, options: UpOptions): Promise<number> {
  const created = await createData(dataOf(options), {}, ({ what, where }) =>
    terminal.say(`made ${what}: \`${where}\``),
  )
  const config = withPort(created, options.port)
  const log = createLog(config.log === 'debug' ? 'debug' : 'warn', (line) => void process.stderr.write(line))
  const background = options.background === true
  let endWatch = (): void => undefined
  const running = await runGateway(config, log, {
    background,
    async prepare(gateway) {
      const policy = await activateFirst(gateway, readIfThere(config.policy))
      if (policy !== undefined) terminal.say(`put the policy \`${policy}\` in force`)
    },
    async opened(running) {
      if (background) terminal.say(`the gateway is open at ${running.url}, as process ${process.pid}`)
      else await announce(terminal, running, urlOf(created))
      if (options.watch === true) endWatch = watchPolicy(terminal, running.gateway)
      else await tellPending(terminal, running.gateway)
    },
    stopping() {
      endWatch()
      terminal.say('stopping; everything that was answered is on the ledger')
    },
  })
  return untilGivenUp(running, log)
}

/** Says how to talk to the gateway. Tokens are made only now: one that is seen once must not be lost to a failed start. */
async function announce(terminal: Terminal, { gateway, url }: RunningGateway, usual: string): Promise<void> {
  const { data } = gateway.config
  const admin = await firstAdmin(gateway)
  const agent = await agentToken(gateway)
  if (terminal.json) {
    terminal.row({ url, data, agent_token: agent, admin_token: admin ?? null }, () => '')
    return
  }
  const lines = welcome({
    url,
    agent,
    command: commandName(),
    data: data === defaultData() ? '' : ` --data ${word(data)}`,
    directory: data === defaultData() ? undefined : data,
    admin: admin === undefined ? undefined : { token: admin, of: `user:${localUser()}` },
    elsewhere: url !== usual,
  })
  terminal.say(`the gateway is open at ${url}; its data is in \`${data}\``)
  for (const line of lines) terminal.line(line)
  terminal.say('Ctrl-C stops it')
}

/** How the command is called: `npm start` has it in the project only. */
function commandName(): string {
  const { npm_lifecycle_event: script } = process.env
  return script === undefined ? 'tollgate' : 'npx tollgate'
}

/** A token for the examples, good for this run only. */
async function agentToken({ tokens, config }: Gateway): Promise<string> {
  const request = { role: 'agent', tenant: config.tenant, principal: 'agent:demo', run: true } as const
  return (await tokens.issue(request, `local:${localUser()}`)).token
}

async function tellPending(terminal: Terminal, { view, config }: Gateway): Promise<void> {
  const { file } = await policyStanding(view, config)
  const notice = pendingNotice(file)
  if (notice) terminal.warn(...notice)
}

const LOOK_EVERY_MS = 500

/** Puts every version of the policy file in force as it is saved, until the returned function is called. A bad one changes nothing. */
function watchPolicy(terminal: Terminal, gateway: Gateway): () => void {
  const { policy: file } = gateway.config
  terminal.warn(`every change of \`${file}\` is put in force at once, by itself: this is for authoring only`)
  // The text is compared, not a notice of the system: editors replace files, and a change before the first notice would be lost.
  let seen: string | undefined | null = null
  let told = ''
  const look = async (): Promise<void> => {
    try {
      const text = readIfThere(file)
      if (text === seen) return
      seen = text
      told = ''
      await activateChanged(terminal, gateway, text)
    } catch (fault) {
      const why = fault instanceof Error ? fault.message : 'unknown fault'
      // A file that stays unreadable is one warning, not one for every look.
      if (why !== told) terminal.warn(`the changed policy could not be put in force: ${why}`)
      told = why
    }
  }
  void look()
  const timer = setInterval(() => void look(), LOOK_EVERY_MS)
  return () => clearInterval(timer)
}

async function activateChanged(
  terminal: Terminal,
  { kernel, config }: Gateway,
  text: string | undefined,
): Promise<void> {
  if (text === undefined) {
    terminal.warn('the policy file is gone; the last policy stays in force')
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
  terminal.say(
    `THE POLICY HAS CHANGED: \`${parsed.policy.name}\` (${parsed.policy.hash.slice(0, 8)}) is in force`,
  )
}
