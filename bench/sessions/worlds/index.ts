// All worlds. A role is in one set only.

import type { World } from '../world.ts'
import { CALIBRATION_WORLDS } from './calibration.ts'
import { HELD_OUT_WORLDS } from './held-out.ts'
import { VALIDATION_WORLDS } from './validation.ts'

/** Every world. */
export const WORLDS: readonly World[] = [...CALIBRATION_WORLDS, ...VALIDATION_WORLDS, ...HELD_OUT_WORLDS]

/** The world of a role. */
export function worldByRole(role: string): World {
  const world = WORLDS.find((each) => each.role === role)
  if (!world) throw new Error(`there is no world for the role ${role}`)
  return world
}
