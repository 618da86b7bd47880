// What commands do for real, compared with their facts. `TOLLGATE_SEED` repeats one run.

import { expect, it } from 'vitest'
import { fuzz, whyNot } from './fuzz/fuzz.ts'

const seed = Number(process.env.TOLLGATE_SEED ?? Date.now() % 1_000_000)
const commands = Number(process.env.TOLLGATE_COMMANDS ?? 4000)
const reason = whyNot()
if (reason !== undefined) console.warn(`\nNOT RUN: commands are not compared with what they do: ${reason}\n`)

it.skipIf(reason !== undefined)(
  `${commands} random commands do nothing that their facts do not say (seed ${seed})`,
  () => {
    const { holes, flagged } = fuzz(seed, commands)
    expect(holes).toEqual([])
    // Otherwise the comparison would say nothing.
    expect(flagged).toBeLessThan(commands * 0.8)
  },
)
