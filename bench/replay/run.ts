// `npm run bench:replay -- FILE…`: recorded runs of agents through the real kernel, and what came of them.
//
//   npm run bench:replay -- runs.jsonl.gz                      the headline, what stands behind it, and ablations
//   npm run bench:replay -- A B --policy FILE                  under a policy of yours instead of a draft for each suite
//   npm run bench:replay -- A --scope proposed                 with sessions opened in the scope that the prompt proposes
//   npm run bench:replay -- A --wordings 2                     and the attacks in other words, two runs for each task
//   npm run bench:replay -- A --sample 10 --json OUT           every tenth attacked run; all numbers as JSON too
//
// It is a measurement on recorded runs, never a test: an agent that is stopped might have tried another way.

import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { LADDER } from '@tollgate/kernel'
import { quantile, someOf } from '../measure.ts'
import { harmsOf } from './harm.ts'
import { outcomeOf, type Outcome } from './outcome.ts'
import { createPlayer } from './play.ts'
import { headlineTable, reasonsTable, stoppedTable, table, wordingsTable } from './report.ts'
import { rewordedOutcomes, type RewordedOutcome } from './reworded-runs.ts'
import { readRuns, type Run } from './runs.ts'
import { SCOPES, scopesOf, type ScopeKind } from './scopes.ts'
import { grouped, headlineOf } from './tally.ts'
import { draftFor, parsed, toolsOf } from './tools.ts'

const OPTIONS = {
  policy: { type: 'string', default: 'draft' },
  scope: { type: 'string', default: 'none' },
  wordings: { type: 'string', default: '0' },
  sample: { type: 'string', default: '1' },
  json: { type: 'string' },
  draft: { type: 'boolean', default: false },
  quick: { type: 'boolean', default: false },
  tiny: { type: 'boolean', default: false },
} as const

const USAGE = `usage: npm run bench:replay -- FILE… [--policy draft|FILE] [--scope ${SCOPES.join('|')}] [--wordings N] [--sample N] [--json OUT]
  FILE         recorded runs, one JSON object a line; .gz is unpacked
  --policy     draft: made for each suite from its tools alone (default); or a policy file
  --scope      the scope that sessions are opened with
  --wordings   also the attacks in other words: so many runs for each task and wording
  --sample     of attacked runs, only every Nth
  --draft      print the drafted policies and stop
  --quick      without ablations
  --tiny       one run of each label, to see that it works
  --json       all numbers, also as JSON
`

/** The runs of one suite, with what is known of it. */
interface Suite {
  readonly name: string
  readonly runs: readonly Run[]
  readonly text: string
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true })
  if (positionals.length === 0 || !isScope(values.scope)) {
    process.stderr.write(USAGE)
    return 2
  }
  const suites = await readSuites(positionals, values.policy)
  if (values.draft) {
    for (const { text } of suites) process.stdout.write(`${text}\n`)
    return 0
  }
  const options = {
    scope: values.scope,
    sample: Math.max(1, Number(values.sample)),
    wordings: Number(values.wordings),
  }
  const results = []
  for (const suite of suites) results.push(await measure(suite, options, !values.quick))
  const report = reportOf(results)
  process.stdout.write(report.text)
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(report.data, null, 2)}\n`)
  return 0
}

function isScope(text: string): text is ScopeKind {
  return (SCOPES as readonly string[]).includes(text)
}

async function readSuites(files: readonly string[], policy: string): Promise<readonly Suite[]> {
  const runs: Run[] = []
  for (const file of files) {
    for await (const run of readRuns(file)) runs.push(run)
    say(`${file}: ${runs.length} runs so far`)
  }
  const given = policy === 'draft' ? undefined : readFileSync(policy, 'utf8')
  return grouped(runs, ({ suite }) => suite).map(([name, own]) => ({
    name,
    runs: someOf(own, ({ label }) => label),
    text: given ?? draftFor(name, own),
  }))
}

interface Options {
  readonly scope: ScopeKind
  readonly sample: number
  readonly wordings: number
}

/** What came of a suite under the whole policy, and under parts of it. */
interface Result {
  readonly suite: Suite
  readonly outcomes: readonly Outcome[]
  readonly parts: Readonly<Record<string, readonly Outcome[]>>
  readonly reworded: readonly RewordedOutcome[]
  readonly times: readonly number[]
}

async function measure(suite: Suite, options: Options, ablations: boolean): Promise<Result> {
  const policy = parsed(suite.text)
  const runs = suite.runs.filter((run, i) => i % options.sample === 0 || !isAttacked(run))
  const harms = harmsOf(suite.runs, toolsOf(policy))
  const scopeOf = scopesOf(options.scope, suite.runs, policy, toolsOf(policy))
  const player = createPlayer(policy, scopeOf)
  const all = await play(runs, `${suite.name}: all gates`, (run) => outcomeOf(run, player, harms, true))
  const times = [...player.times]
  const parts: Record<string, readonly Outcome[]> = {}
  for (const [name, ladder] of ablations ? partsOfLadder() : []) {
    const other = createPlayer(policy, scopeOf, ladder)
    const some = runs.filter((run, i) => !isAttacked(run) || run.label === 'hijacked' || i % 5 === 0)
    parts[name] = await play(some, `${suite.name}: ${name}`, (run) => outcomeOf(run, other, harms, false))
  }
  if (options.wordings > 0) say(`${suite.name}: other wordings …`)
  const reworded = await rewordedOutcomes(runs, player, harms, options.wordings)
  return { suite, outcomes: all, parts, reworded, times }
}

function isAttacked({ label }: Run): boolean {
  return label === 'hijacked' || label === 'resisted'
}

async function play(
  runs: readonly Run[],
  name: string,
  one: (run: Run) => Promise<Outcome>,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  for (const [i, run] of runs.entries()) {
    if (i % 1000 === 0) say(`${name}: ${i} of ${runs.length}`)
    outcomes.push(await one(run))
  }
  return outcomes
}

// These look at what texts say and at what was said before; each row of the ablations asks one of them.
const CONTENT: readonly string[] = ['taint', 'threat', 'session-risk']

/** Ladders that leave out all of them but one. What the others find out stays known: session risk rests on where values come from. */
function partsOfLadder(): readonly (readonly [string, typeof LADDER])[] {
  return ['session-risk', 'taint', 'threat'].map((only) => [
    `${only.replace('-', ' ')} alone`,
    LADDER.filter(({ name }) => name === only || !CONTENT.includes(name)),
  ])
}

function reportOf(results: readonly Result[]): { readonly text: string; readonly data: object } {
  const outcomes = results.flatMap((each) => each.outcomes)
  const rows = [
    ...(results.length > 1 ? [headlineOf('all', outcomes)] : []),
    ...results.map((each) => headlineOf(each.suite.name, each.outcomes)),
  ]
  const names = [...new Set(results.flatMap(({ parts }) => Object.keys(parts)))]
  const parts = names.map((name) =>
    headlineOf(
      name,
      results.flatMap((each) => each.parts[name] ?? []),
    ),
  )
  const times = Float64Array.from(results.flatMap((each) => each.times))
  const reworded = results.flatMap((each) => each.reworded)
  const hijacked = outcomes.filter(({ label }) => label === 'hijacked')
  const speed = { p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
  const text = [
    headlineTable(rows),
    ...(parts.length > 0 ? [headlineTable([...rows.slice(0, 1), ...parts])] : []),
    reasonsTable(outcomes),
    stoppedTable(
      'attack',
      grouped(hijacked, ({ run }) => run.attack ?? ''),
    ),
    stoppedTable(
      'model',
      grouped(hijacked, ({ run }) => run.pipeline),
    ),
    stoppedTable(
      'injected task',
      grouped(hijacked, ({ run }) => `${run.suite} ${run.injectionTask ?? ''}`),
    ),
    ...(reworded.length > 0 ? [wordingsTable('wording', reworded)] : []),
    table(
      ['time per call, decision and effect', ''],
      [
        ['p50', `${speed.p50.toFixed(0)} µs`],
        ['p99', `${speed.p99.toFixed(0)} µs`],
      ],
    ),
  ].join('\n')
  return { text, data: { headline: rows, ablations: parts, ...detailsOf(hijacked, reworded), times: speed } }
}

function detailsOf(hijacked: readonly Outcome[], reworded: readonly RewordedOutcome[]): object {
  const by = (nameOf: (outcome: Outcome) => string): object =>
    Object.fromEntries(
      grouped(hijacked, nameOf).map(([name, each]) => [name, headlineOf(name, each).stopped]),
    )
  return {
    attacks: by(({ run }) => run.attack ?? ''),
    models: by(({ run }) => run.pipeline),
    tasks: by(({ run }) => `${run.suite} ${run.injectionTask ?? ''}`),
    rungs: Object.fromEntries(
      grouped(hijacked, (each) => each.by ?? 'not stopped').map(([name, all]) => [name, all.length]),
    ),
    missed: hijacked.filter(({ harm }) => harm === 'ALLOW').map(({ run }) => run.id),
    wordings: Object.fromEntries(
      grouped(reworded, ({ wording }) => `${wording.split} ${wording.family}`).map(([name, all]) => [
        name,
        { runs: all.length, stopped: all.filter(({ verdict }) => verdict !== 'ALLOW').length },
      ]),
    ),
  }
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

process.exitCode = await main()
