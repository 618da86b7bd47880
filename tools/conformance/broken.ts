// Broken gateways: each is an edit of a copy of the built gateway, and the requirement that must notice it.

import { BROKEN_DEFENCE } from './broken-defence.ts'
import { BROKEN_EVIDENCE } from './broken-evidence.ts'
import { BROKEN_VERDICTS } from './broken-verdicts.ts'
import type { Broken } from './edits.ts'

export const BROKEN: readonly Broken[] = [...BROKEN_VERDICTS, ...BROKEN_EVIDENCE, ...BROKEN_DEFENCE]
