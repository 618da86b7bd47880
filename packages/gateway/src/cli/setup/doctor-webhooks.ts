// The `tollgate doctor` check of `webhooks`. It sends nothing, because people would read it.

import process from 'node:process'
import type { Config } from '../../config/config.ts'
import type { WebhookTarget } from '../../config/webhooks.ts'
import { GatewayError } from '../../error.ts'
import { receiverOf } from '../../webhook/receiver.ts'
import type { DoctorFinding } from './doctor-checks.ts'

const about = 'webhooks'
const ELSEWHERE = 'ignore this if it is set in the environment of the gateway, but not in this shell'

/** Checks that each receiver has an address and a secret, and shows its events. */
export function checkWebhooks({ webhooks }: Config): Promise<readonly DoctorFinding[]> {
  return Promise.resolve(webhooks.map(findingOf))
}

function findingOf(target: WebhookTarget): DoctorFinding {
  try {
    const { host, secret, format } = receiverOf(target, process.env)
    const how = `${format}, ${secret ? 'signed' : 'not signed'}`
    return { level: 'ok', about, found: `${host} (${how}): ${target.events.join(', ')}` }
  } catch (fault) {
    if (!(fault instanceof GatewayError)) throw fault
    return { level: 'warn', about, found: fault.message, remedy: [...fault.hints, ELSEWHERE] }
  }
}
