// `tollgate policy test`: runs the cases beside policies, and says what failed and what no case reaches.

import { existsSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { performance } from 'node:perf_hooks'
import type { Policy } from '@tollgate/kernel/policy'
import { readConfig } from '../../config/config.ts'
import type { CaseCall } from '../../workbench/case.ts'
import { coverageOf } from '../../workbench/coverage.ts'
import { junitOf } from '../../workbench/junit.ts'
import {
  coverageText,
  fileText,
  passes,
  type FileReport,
  type ReportStyle,
  type PolicyReport,
} from '../../workbench/report.ts'
import { runCases, type CaseOutcome } from '../../workbench/run-cases.ts'
import { findCaseFiles, loadCases } from './case-files.ts'
import type { DataOptions } from '../commands.ts'
import { dataOf } from '../program/connect.ts'
import { again } from './test-watch.ts'
import { shown, table, word } from '../program/table.ts'
import { UsageError, type Terminal } from '../program/terminal.ts'

interface TestOptions extends DataOptions {
  readonly only?: string
  readonly minCoverage?: number
  readonly junit?: string
  readonly watch?: boolean
}

/** What came of all files. */
interface Tested {
  readonly files: readonly FileReport[]
  readonly policies: readonly PolicyReport[]
}

/** Runs the cases; 1 if one fails, 2 if there is none. */
export async function runTest(
  terminal: Terminal,
  options: TestOptions,
  ...paths: readonly string[]
): Promise<number> {
  if (options.only !== undefined && options.minCoverage !== undefined) {
    throw new UsageError('`--min-coverage` is about all cases', 'leave `--only` or `--min-coverage` out')
  }
  const given = paths.length > 0 ? paths : [directoryOf(options)]
  const run = async (): Promise<number> => {
    const tested = await test(options, given)
    if (options.junit !== undefined) writeFileSync(options.junit, junitOf(tested.files))
    return tell(terminal, options, tested)
  }
  return options.watch === true ? again(terminal, given, run) : run()
}

/** Where the policy of the data directory is; here, if there is no such. */
function directoryOf(options: TestOptions): string {
  try {
    const file = readConfig(dataOf(options)).policy
    if (existsSync(file)) return dirname(file)
  } catch (fault) {
    // Who names a data directory means that one.
    if (options.data !== undefined) throw fault
  }
  return '.'
}

async function test(options: TestOptions, paths: readonly string[]): Promise<Tested> {
  const found = findCaseFiles(paths)
  if (found.length === 0) {
    throw new UsageError(
      `there is no case file below ${paths.map((path) => `\`${path}\``).join(', ')}`,
      'write cases beside the policy: `policy.test.yaml` for `policy.yaml`; `tollgate policy schema --cases` has the form',
    )
  }
  const reached = new Map<string, { readonly policy: Policy; readonly outcomes: CaseOutcome[] }>()
  const files: FileReport[] = []
  for (const file of found) files.push(await testFile(file, options.only, reached))
  if (
    options.only !== undefined &&
    files.every(({ results, mistakes }) => results.length + mistakes.length === 0)
  ) {
    throw new UsageError(
      `no case has \`${options.only}\` in its name`,
      'leave `--only` out to see all of them',
    )
  }
  const policies = [...reached].map(([policy, each]) => ({
    policy,
    coverage: coverageOf(each.policy, each.outcomes),
  }))
  return { files, policies }
}

async function testFile(
  path: string,
  only: string | undefined,
  reached: Map<string, { readonly policy: Policy; readonly outcomes: CaseOutcome[] }>,
): Promise<FileReport> {
  const loaded = loadCases(path)
  if (!loaded.ok) {
    const { policyFile, mistakes } = loaded
    return { file: path, policy: policyFile, name: undefined, mistakes, results: [] }
  }
  const { policy, policyFile, file } = loaded
  const cases = file.cases.filter(({ name }) => only === undefined || name.includes(only))
  const results = await runCases(policy, cases, () => performance.now())
  const entry = reached.get(policyFile) ?? { policy, outcomes: [] }
  entry.outcomes.push(...results.flatMap(({ outcomes }) => outcomes))
  reached.set(policyFile, entry)
  return { file: path, policy: policyFile, name: policy.name, mistakes: [], results }
}

/** Prints what came of it, and answers with the exit code. */
function tell(terminal: Terminal, options: TestOptions, { files, policies }: Tested): number {
  const look = lookOf(terminal)
  const results = files.flatMap((file) => file.results)
  const failed = results.filter(({ failure }) => failure).length
  const broken = files.filter(({ mistakes }) => mistakes.length > 0).length
  const low = policies.filter(({ coverage }) => coverage.percent < (options.minCoverage ?? 0))
  const ok = files.every(passes) && low.length === 0
  const sections = (): string =>
    [
      ...files
        .filter(({ results, mistakes }) => results.length + mistakes.length > 0)
        .map((file) => fileText(file, look)),
      // Of a part of the cases it says nothing.
      ...(options.only === undefined ? policies.map((policy) => coverageText(policy, look)) : []),
    ].join('\n\n')
  // There is no end to it while it watches.
  if (options.watch === true) terminal.row({ ok, files, policies }, sections)
  else terminal.data({ ok, files, policies }, sections)
  for (const { policy, coverage } of low) {
    terminal.say(
      `\`${policy}\`: cases reach ${coverage.percent} % of the rules, and ${options.minCoverage ?? 0} % are asked for`,
    )
  }
  terminal.say(summaryOf(results.length, failed, broken))
  return ok ? 0 : 1
}

function summaryOf(cases: number, failed: number, broken: number): string {
  const files = broken === 0 ? '' : `, ${broken} ${broken === 1 ? 'file has' : 'files have'} mistakes`
  if (failed > 0) return `${failed} of ${cases} cases fail${files}`
  return `${cases === 1 ? '1 case passes' : `${cases} cases pass`}${files}`
}

function lookOf({ paint }: Terminal): ReportStyle {
  return { good: paint.green, bad: paint.red, dim: paint.dim, shown, table, explain }
}

// A command that nobody would paste is no help.
const MAX_COMMAND = 600

function explain(policy: string, call: CaseCall, at: number): string {
  const { tool, args, raw, principal, door } = call
  const start = ['tollgate policy explain', '--policy', word(policy), '--tool', word(tool)]
  const who = ['--principal', word(principal), '--door', door, '--at', new Date(at).toISOString()]
  const command = [...start, ...who, '--args', word(raw ?? JSON.stringify(args))].join(' ')
  return command.length <= MAX_COMMAND ? command : [...start, ...who, '--args-file …'].join(' ')
}
