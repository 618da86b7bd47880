// Writes the rows of the compat tests to `compat/rows.json` after a run. A file of tests keeps its earlier rows unless all of its tests
// ran and passed.

import type { Reporter, TestCase, TestModule } from 'vitest/node'
import { mergeRows, readRows, writeRows, type AllRows, type FileRows } from './rows.ts'

/** Writes the rows. */
export class RowsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const complete = modules.filter((module) => module.ok() && testsOf(module).every(hasPassed))
    const today = new Date().toISOString().slice(0, 10)
    const seen: AllRows = Object.fromEntries(
      complete.map((module) => [module.relativeModuleId, rowsOf(module, today)]),
    )
    if (complete.length > 0) writeRows({ ...readRows(), ...seen })
    for (const module of modules.filter((each) => !complete.includes(each))) {
      console.log(
        `!! ${module.relativeModuleId} keeps its earlier rows in compat/rows.json: not all of its tests ran and passed`,
      )
    }
  }
}

function testsOf(module: TestModule): readonly TestCase[] {
  return [...module.children.allTests()]
}

function hasPassed(test: TestCase): boolean {
  return test.result().state === 'passed'
}

function rowsOf(module: TestModule, date: string): FileRows {
  const metas = testsOf(module).map((test) => test.meta())
  const reasons = new Set(metas.flatMap(({ compatReason }) => compatReason ?? []))
  const rows = mergeRows(metas.flatMap(({ compatRows = [] }) => compatRows))
  return { date, rows, reasons: [...reasons].sort() }
}
