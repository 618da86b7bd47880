// Runs the sessions of a set through the kernel and prints what came of them:
//   npx tsx bench/sessions/run.ts [--split calibration|validation|held-out] [--family NAME] [--evasion NAME|all|none] [--json OUT] [--tiny]

import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { someOf } from '../measure.ts'
import { EVASION_NAMES, type Evasion } from './evasions.ts'
import { freeze } from './freeze.ts'
import { sessionsOf } from './generate.ts'
import { measureEvasion, measureRows, measureTime, type Effort, type Evaded } from './measure.ts'
import { reportOf, textOf } from './report.ts'
import { FAMILIES, SPLITS } from './session.ts'

process.exitCode = await main()

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      split: { type: 'string', default: 'calibration' },
      family: { type: 'string' },
      evasion: { type: 'string', default: 'all' },
      json: { type: 'string' },
      rows: { type: 'string', default: 'all' },
      sample: { type: 'string', default: '10' },
      searched: { type: 'string', default: '2' },
      queries: { type: 'string', default: '200' },
      freeze: { type: 'boolean', default: false },
      tiny: { type: 'boolean', default: false },
    },
  })
  if (values.freeze) {
    freeze()
    return 0
  }
  const split = SPLITS.find((each) => each === values.split)
  const family = values.family === undefined ? undefined : FAMILIES.find((each) => each === values.family)
  const evasions = chosen(values.evasion)
  if (!split) return complain(`--split is one of ${SPLITS.join(', ')}`)
  if (values.family !== undefined && !family) return complain(`--family is one of ${FAMILIES.join(', ')}`)
  if (!['all', 'none'].includes(values.rows)) return complain('--rows is all or none')
  if (!evasions) return complain(`--evasion is all, none, or one of ${EVASION_NAMES.join(', ')}`)
  const effort: Effort = {
    sample: Number(values.sample),
    searched: Number(values.searched),
    queries: Number(values.queries),
  }
  if (!Object.values(effort).every((count: number) => Number.isInteger(count) && count >= 0)) {
    return complain('--sample, --searched and --queries are whole numbers')
  }
  const chosenOnes = sessionsOf(split).filter((each) => family === undefined || each.family === family)
  const sessions = someOf(chosenOnes, ({ family, label }) => `${family} ${label}`)
  const measured = values.rows === 'none' ? [] : await measureRows(sessions, say)
  const evaded = new Map<Evasion, readonly Evaded[]>()
  for (const name of evasions) evaded.set(name, await measureEvasion(sessions, name, effort, say))
  const report = reportOf(split, measured, evaded, await measureTime(sessions))
  console.log(textOf(report))
  if (values.json !== undefined) {
    writeFileSync(
      values.json,
      `${JSON.stringify({ ...report, sessions: measured.map(({ session, outcomes }) => ({ id: session.id, family: session.family, label: session.label, drift: session.drift, turns: session.turns.length, outcomes })) }, null, 1)}\n`,
    )
  }
  return 0
}

function chosen(name: string): readonly Evasion[] | undefined {
  if (name === 'all') return EVASION_NAMES
  if (name === 'none') return []
  const found = EVASION_NAMES.find((each) => each === name)
  return found && [found]
}

function say(line: string): void {
  process.stderr.write(`sessions: ${line}\n`)
}

function complain(text: string): number {
  process.stderr.write(`${text}\n`)
  return 2
}
