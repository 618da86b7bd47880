// The `tollgate doctor` check of the key that encrypts kept calls.

import type { Config } from '../../config/config.ts'
import { GatewayError } from '../../error.ts'
import { readSealKey } from '../../seal-key.ts'
import { SEALING } from '../../sealing.ts'
import type { LedgerView } from '../../view.ts'
import type { DoctorFinding } from './doctor-checks.ts'

/** Checks that the key exists, is private, and is the one that the ledger was last sealed with. */
export async function checkSealing(view: LedgerView, config: Config): Promise<readonly DoctorFinding[]> {
  const about = 'kept calls'
  const { keyFile } = config.keep
  const known = await view.record(SEALING)
  try {
    const { id } = readSealKey(config)
    if (known === undefined || id === known)
      return [{ level: 'ok', about, found: `encrypted with \`${keyFile}\`` }]
    const remedy = ['restore the old key from your backup; without it, calls kept before are unreadable']
    return [
      {
        level: 'warn',
        about,
        found: `\`${keyFile}\` is not the key that the ledger was last sealed with`,
        remedy,
      },
    ]
  } catch (fault) {
    if (!(fault instanceof GatewayError)) throw fault
    if (known === undefined && fault.message.includes('is missing')) {
      return [{ level: 'ok', about, found: `\`${keyFile}\` will be created when the gateway starts` }]
    }
    return [{ level: 'fail', about, found: fault.message, remedy: fault.hints }]
  }
}
