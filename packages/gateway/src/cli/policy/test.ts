// `tollgate policy test`: runs the test cases of policies, and reports failures and uncovered rules.

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
import { inForceSentence, statusOn } from './policy-status.ts'
import { again } from './test-watch.ts'
import { shown, table, word } from '../program/table.ts'
import { UsageError, type Terminal } from '../program/terminal.ts'

interface TestOptions extends DataOptions {
  readonly only?: string
  readonly minCoverage?: number
  readonly junit?: string
  readonly watch?: boolean
}

interface Tested {
  readonly files: readonly FileReport[]
  readonly policies: readonly PolicyReport[]
}

/** Runs the cases. Returns 1 if one fails. @throws UsageError (exit code 2) if there are none. */
export async function runTest(
  terminal: Terminal,
  options: TestOptions,
  ...paths: readonly string[]
): Promise<number> {
  if (options.only !== undefined && options.minCoverage !== undefined) {
    throw new UsageError('`--min-coverage` needs all cases', 'remove `--only` or `--min-coverage`')
  }
  const given = paths.length > 0 ? paths : [directoryOf(options)]
  const run = async (): Promise<number> => {
    const tested = await test(options, given)
    if (options.junit !== undefined) writeFileSync(options.junit, junitOf(tested.files))
    const exit = print(terminal, options, tested)
    if (paths.length === 0) await sayInForce(terminal, options)
    return exit
  }
  return options.watch === true ? again(terminal, given, run) : run()
}

/** Returns the directory of the configured policy; the current directory if there is none. */
function directoryOf(options: TestOptions): string {
  try {
    const file = readConfig(dataOf(options)).policy
    if (existsSync(file)) return dirname(file)
  } catch (fault) {
    // A data directory that is named explicitly must be usable.
    if (options.data !== undefined) throw fault
  }
  return '.'
}

/** Says which policy is in force: the cases test the policy file, which can be another one. */
async function sayInForce(terminal: Terminal, options: TestOptions): Promise<void> {
  try {
    terminal.say(inForceSentence(await statusOn(readConfig(dataOf(options)))))
  } catch {
    // Cases run without a gateway, too.
  }
}

async function test(options: TestOptions, paths: readonly string[]): Promise<Tested> {
  const found = findCaseFiles(paths)
  if (found.length === 0) {
    throw new UsageError(
      `no case file found in ${paths.map((path) => `\`${path}\``).join(', ')}`,
      'write cases next to the policy: `policy.test.yaml` for `policy.yaml`; `tollgate policy schema --cases` prints their schema',
    )
  }
  const reached = new Map<string, { readonly policy: Policy; readonly outcomes: CaseOutcome[] }>()
  const files: FileReport[] = []
  for (const file of found) files.push(await testFile(file, options.only, reached))
  if (
    options.only !== undefined &&
    files.every(({ results, mistakes }) => results.length + mistakes.length === 0)
  ) {
    throw new UsageError(`no case has \`${options.only}\` in its name`, 'remove `--only` to run all cases')
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

function print(terminal: Terminal, options: TestOptions, { files, policies }: Tested): number {
  const style = styleOf(terminal)
  const results = files.flatMap((file) => file.results)
  const failed = results.filter(({ failure }) => failure).length
  const broken = files.filter(({ mistakes }) => mistakes.length > 0).length
  const low = policies.filter(({ coverage }) => coverage.percent < (options.minCoverage ?? 0))
  const ok = files.every(passes) && low.length === 0
  const sections = (): string =>
    [
      ...files
        .filter(({ results, mistakes }) => results.length + mistakes.length > 0)
        .map((file) => fileText(file, style)),
      // Coverage of a part of the cases means nothing.
      ...(options.only === undefined ? policies.map((policy) => coverageText(policy, style)) : []),
    ].join('\n\n')
  // With `--watch`, the output has many results.
  if (options.watch === true) terminal.row({ ok, files, policies }, sections)
  else terminal.data({ ok, files, policies }, sections)
  for (const { policy, coverage } of low) {
    terminal.say(
      `\`${policy}\`: cases cover ${coverage.percent} % of the rules; ${options.minCoverage ?? 0} % are required`,
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

function styleOf({ paint }: Terminal): ReportStyle {
  return { good: paint.green, bad: paint.red, dim: paint.dim, shown, table, explain }
}

// Longer commands are not useful to paste.
const MAX_COMMAND = 600

function explain(policy: string, call: CaseCall, at: number): string {
  const { tool, args, raw, principal, door } = call
  const start = ['tollgate policy explain', '--policy', word(policy), '--tool', word(tool)]
  const who = ['--principal', word(principal), '--door', door, '--at', new Date(at).toISOString()]
  const command = [...start, ...who, '--args', word(raw ?? JSON.stringify(args))].join(' ')
  return command.length <= MAX_COMMAND ? command : [...start, ...who, '--args-file …'].join(' ')
}
