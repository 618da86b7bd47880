// All templates. Which set one belongs to follows from its role.

import type { Template } from '../weave.ts'
import { CALIBRATION_DATA } from './calibration-data.ts'
import { CALIBRATION_DEEDS } from './calibration-deeds.ts'
import { CALIBRATION_HANDS } from './calibration-hands.ts'
import { CALIBRATION_MEMORY } from './calibration-memory.ts'
import { CALIBRATION_RIGHTS } from './calibration-rights.ts'
import { HELD_OUT_DATA } from './held-out-data.ts'
import { HELD_OUT_DEEDS } from './held-out-deeds.ts'
import { HELD_OUT_MEMORY } from './held-out-memory.ts'
import { HELD_OUT_RIGHTS } from './held-out-rights.ts'
import { HELD_OUT_HONEST } from './held-out-honest.ts'
import { HONEST } from './honest.ts'
import { VALIDATION_DATA } from './validation-data.ts'
import { VALIDATION_DEEDS } from './validation-deeds.ts'

/** Every template. */
export const TEMPLATES: readonly Template[] = [
  ...CALIBRATION_DATA,
  ...CALIBRATION_HANDS,
  ...CALIBRATION_RIGHTS,
  ...CALIBRATION_DEEDS,
  ...CALIBRATION_MEMORY,
  ...VALIDATION_DATA,
  ...VALIDATION_DEEDS,
  ...HELD_OUT_DATA,
  ...HELD_OUT_RIGHTS,
  ...HELD_OUT_DEEDS,
  ...HELD_OUT_MEMORY,
  ...HONEST,
  ...HELD_OUT_HONEST,
]
