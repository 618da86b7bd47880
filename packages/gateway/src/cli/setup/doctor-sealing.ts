// The check of `tollgate doctor` on the key that encrypts kept calls.

import type { Config } from '../../config/config.ts'
import { GatewayError } from '../../error.ts'
import { readSealKey } from '../../seal-key.ts'
import { SEALING } from '../../sealing.ts'
import type { LedgerView } from '../../view.ts'
import type { DoctorFinding } from './doctor-checks.ts'

/** Whether the key is there, private, and the one that the ledger was last sealed with. */
export async function checkSealing(view: LedgerView, config: Config): Promise<readonly DoctorFinding[]> {
  const about = 'kept calls'
  const { keyFile } = config.keep
  const known = await view.record(SEALING)
  try {
    const { id } = readSealKey(config)
    if (known === undefined || id === known)
      return [{ level: 'ok', about, found: `encrypted with \`${keyFile}\`` }]
    const remedy = [
      'put the old key back from your backup, or go on: what it has sealed is then not readable',
    ]
    return [
      {
        level: 'warn',
        about,
        found: `\`${keyFile}\` is another key than the ledger was sealed with`,
        remedy,
      },
    ]
  } catch (fault) {
    if (!(fault instanceof GatewayError)) throw fault
    if (known === undefined && fault.message.includes('is missing')) {
      return [{ level: 'ok', about, found: `\`${keyFile}\` is made when the gateway starts` }]
    }
    return [{ level: 'fail', about, found: fault.message, remedy: fault.hints }]
  }
}
