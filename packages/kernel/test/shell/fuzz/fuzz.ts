// Random commands, run for real, and compared with their facts.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readCommand } from '../../../src/shell/command.ts'
import { Random } from '../../model/model-random.ts'
import { missingIn } from './compare.ts'
import { createGenerator, installed } from './generate.ts'
import { deedsOf, scratchIn } from './trace.ts'

export { whyNot } from './trace.ts'

/** The result of a run. */
export interface Fuzzed {
  /** Commands that did something that their facts do not say. */
  readonly holes: readonly string[]
  /** The number of commands whose facts say that they are not complete. */
  readonly flagged: number
}

/** Runs random commands. The same seed makes the same commands on the same machine. */
export function fuzz(seed: number, count: number): Fuzzed {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-shell-'))
  try {
    chmodSync(folder, 0o755)
    const scratch = scratchIn(folder)
    const next = createGenerator(new Random(seed), installed())
    const holes: string[] = []
    let flagged = 0
    for (let i = 0; i < count; i++) {
      const command = next()
      const facts = readCommand(command, { cwd: scratch.cwd, home: scratch.home })
      const isFlagged =
        facts.unknown.length + facts.unknown_programs.length + facts.runs_other_code.length > 0
      if (isFlagged) flagged++
      const missing = isFlagged ? [] : missingIn(facts, deedsOf(command, scratch), scratch)
      if (missing.length > 0)
        holes.push(`${command}\n   ${missing.join('\n   ')}`.replaceAll(scratch.cwd, ''))
    }
    return { holes, flagged }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
