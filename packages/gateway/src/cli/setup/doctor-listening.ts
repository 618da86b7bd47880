// The `tollgate doctor` check of the address that the gateway listens on.

import { connect } from 'node:net'
import type { Config } from '../../config/config.ts'
import { isRunning } from '../../open.ts'
import { urlOf } from '../program/over-http.ts'
import type { DoctorFinding } from './doctor-checks.ts'

const about = 'listening'

/** Checks that tokens are safe on the way, and that no other program has the port. Sends nothing. */
export async function checkListening(config: Config): Promise<readonly DoctorFinding[]> {
  const { host, port, tls } = config.listen
  const found = `${host}:${port}, ${tls ? 'with TLS' : 'without TLS'}`
  const local = host === 'localhost' || host === '::1' || host.startsWith('127.')
  if (!local && !tls) {
    const remedy = ['set `listen.tls` in tollgate.yaml, or listen on 127.0.0.1: every call carries a token']
    return [{ level: 'fail', about, found, remedy }]
  }
  const [running, answered] = await Promise.all([isRunning(config), isAnswered(config)])
  // Port 0 means any free port, so there is nothing to compare.
  if (port === 0 || running === answered) return [{ level: 'ok', about, found }]
  return [{ level: 'warn', about, ...(running ? elsewhere(found) : taken(found)) }]
}

function elsewhere(found: string): Pick<DoctorFinding, 'found' | 'remedy'> {
  return {
    found: `${found}; the gateway runs, and does not answer there`,
    remedy: ['if it was started with `--port`, set TOLLGATE_URL to the address that it printed'],
  }
}

function taken(found: string): Pick<DoctorFinding, 'found' | 'remedy'> {
  return {
    found: `${found}; another program uses this port`,
    remedy: ['stop that program, set `listen.port` in tollgate.yaml, or run `tollgate up --port 0`'],
  }
}

const TIMEOUT_MS = 1000

/** Whether a program accepts connections at the configured address. */
function isAnswered(config: Config): Promise<boolean> {
  const { hostname } = new URL(urlOf(config))
  const { port } = config.listen
  return new Promise((resolve) => {
    const socket = connect({ host: hostname.replaceAll(/[[\]]/g, ''), port, timeout: TIMEOUT_MS })
    const end = (is: boolean): void => {
      socket.destroy()
      resolve(is)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
    socket.once('timeout', () => end(false))
  })
}
