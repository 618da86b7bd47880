// All requirements, in the order in which they are judged.

import { ACCESS } from './access.ts'
import { APPROVALS } from './approvals.ts'
import { DEFENCE } from './defence.ts'
import { DOORS } from './doors.ts'
import { LEDGER } from './ledger.ts'
import { VERDICTS } from './verdicts.ts'
import type { Requirement } from '../requirement.ts'

export const REQUIREMENTS: readonly Requirement[] = [
  ...VERDICTS,
  ...ACCESS,
  ...LEDGER,
  ...APPROVALS,
  ...DOORS,
  ...DEFENCE,
]
