// `tollgate serve`: runs the gateway in production. Creates no files. Logs JSON lines to standard error.

import process from 'node:process'
import { readConfig } from '../../config/config.ts'
import { createLog } from '../../log.ts'
import { observeNotice } from '../policy/observe.ts'
import { observedIn } from './status.ts'
import type { DataOptions } from '../commands.ts'
import { dataOf } from '../program/connect.ts'
import { runGateway, untilPoisoned, withPort } from './run-gateway.ts'
import { allowsAnything, pendingNotice, policyStatus } from '../policy/policy-status.ts'
import type { Terminal } from '../program/terminal.ts'

interface ServeOptions extends DataOptions {
  readonly port?: number
}

/** Serves until a signal arrives. */
export async function runServe(terminal: Terminal, options: ServeOptions): Promise<number> {
  const config = withPort(readConfig(dataOf(options)), options.port)
  const log = createLog(config.log, (line) => void process.stderr.write(line))
  const running = await runGateway(config, log, {
    async opened({ gateway, url }) {
      const status = await policyStatus(gateway.view, config)
      const { active } = status
      const notice = pendingNotice(status)
      if (notice) log('warn', notice[0], { remedy: notice[1] })
      const observed = observeNotice(await observedIn(gateway.view, Date.now()))
      if (observed) log('warn', observed[0], { remedy: observed[1] ?? '' })
      if (!active || !allowsAnything(active)) log('warn', 'the policy in force allows nothing')
      log('info', 'the gateway is open', { url, ledger: config.ledger, data: config.data, pid: process.pid })
      if (terminal.json) terminal.row({ url }, () => url)
    },
    stopping: () => log('info', 'stopping; running requests may finish'),
  })
  return untilPoisoned(running, log)
}
