// `tollgate policy diff`: which decisions change from one policy to another. Made for CI: what becomes looser fails, unless it
// was accepted by name.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parsePolicy, type Policy } from '@tollgate/kernel/policy'
import { CONFIG_FILE, readConfig } from '../../config/config.ts'
import { LOOSENING, missingIn, staleIn } from '../../workbench/compare.ts'
import {
  compareCases,
  compareGenerated,
  compareRecorded,
  createFindings,
  type Findings,
} from '../../workbench/diff.ts'
import { usualCalls } from '../../workbench/generate/calls.ts'
import type { Draft } from '../../workbench/generate/draft.ts'
import { askingThatDiffers, sectionsThatDiffer, standingsThatDiffer } from '../../workbench/settings.ts'
import type { GatewayOptions } from '../commands.ts'
import { dataOf } from '../program/connect.ts'
import { policyIn } from './policy-file.ts'
import { seedsBeside } from './diff-cases.ts'
import { diffText, explainCommand, type Diff, type Side, type TriedCalls } from './diff-text.ts'
import { CommandError, UsageError, type Terminal } from '../program/terminal.ts'

interface DiffOptions extends GatewayOptions {
  readonly accept?: readonly string[]
  readonly acceptFile?: string
  readonly generated?: number
  readonly recorded?: boolean
  readonly cases?: boolean
  readonly trace?: string
  readonly values?: boolean
  readonly all?: boolean
}

/** Compares two policies; 1 if a call would pass that did not, or nobody can tell, and nobody has accepted that by name. */
export async function runDiff(
  terminal: Terminal,
  options: DiffOptions,
  first = '',
  second?: string,
): Promise<number> {
  const accepted = acceptedBy(options)
  const [a, b] =
    second === undefined ? [await inForce(options), fromFile(first)] : [fromFile(first), fromFile(second)]
  const findings = createFindings(a.policy, b.policy)
  const seeds = options.cases === false ? [] : seedsBeside(terminal, [a, b])
  compareCases(a.policy, b.policy, seeds, findings)
  const tried: TriedCalls = {
    recorded: await replayed(terminal, options, a.policy, b.policy, findings),
    cases: seeds.length,
    generated: generated(terminal, options, a.policy, b.policy, findings, seeds),
  }
  if (tried.generated === 0 && tried.recorded.calls === 0 && tried.cases === 0) {
    throw new CommandError(
      'no call was tried, so that nothing is known',
      'give `--generated` a larger number',
    )
  }
  return tell(terminal, options, { ...resultOf(a, b, findings, accepted), tried })
}

function resultOf(
  a: Side,
  b: Side,
  { comparison, witness }: ReturnType<typeof createFindings>,
  accepted: ReadonlySet<string>,
): Omit<Diff, 'tried'> {
  const groups = comparison.groups(accepted)
  const untried = witness.untried().map((each) => ({ ...each, accepted: accepted.has(each.name) }))
  const all = [...groups, ...untried.map(({ name }) => ({ needs: [name] }))]
  return {
    a,
    b,
    groups,
    untried,
    missing: missingIn(all, accepted),
    stale: staleIn(all, accepted),
    standings: standingsThatDiffer(a.policy, b.policy),
    sections: sectionsThatDiffer(a.policy, b.policy),
    asking: askingThatDiffers(a.policy, b.policy),
  }
}

function tell(terminal: Terminal, options: DiffOptions, diff: Diff): number {
  const { all = false } = options
  terminal.data(shownAsData(diff, all), () => diffText(diff, all, terminal.paint))
  const { calls, skipped } = diff.tried.recorded
  terminal.say(
    `tried ${counted(diff.tried.generated, 'made-up call')}, ${counted(diff.tried.cases, 'call')} from cases and ${counted(calls, 'recorded call')}`,
  )
  for (const [why, count] of skipped)
    terminal.warn(`${counted(count, 'recorded call')} could not be tried: ${why}`)
  for (const name of diff.stale) {
    terminal.warn(`\`${name}\` is accepted, and nothing needs it`, 'take it off the list')
  }
  if (diff.missing.length === 0) return 0
  if (diff.groups.some(({ accepted }) => !accepted))
    terminal.say('calls would pass that did not, and that is not accepted')
  if (diff.untried.some(({ accepted }) => !accepted))
    terminal.say('there are changes that no tried call shows, and they are not accepted')
  terminal.line(`  to accept it: ${diff.missing.map((name) => `--accept ${name}`).join(' ')}`)
  const why = explainCommand(diff)
  if (why !== undefined) terminal.line(`  to see why:   ${why}`)
  return 1
}

function counted(count: number, what: string): string {
  return `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`
}

function shownAsData(diff: Diff, all: boolean): object {
  const { a, b, tried, groups, untried, missing, stale, standings, sections, asking } = diff
  const side = ({ file, policy: { name, hash } }: Side): object => ({ file: file ?? null, name, hash })
  const same = groups.filter(({ change }) => change === 'same verdict')
  const { calls, skipped } = tried.recorded
  return {
    ok: missing.length === 0,
    a: side(a),
    b: side(b),
    tried: {
      generated: tried.generated,
      cases: tried.cases,
      recorded: calls,
      skipped: Object.fromEntries(skipped),
    },
    loosened: groups.filter(({ change }) => LOOSENING.includes(change)).length,
    groups: all ? groups : groups.filter(({ change }) => change !== 'same verdict'),
    same_verdict: {
      groups: same.length,
      calls: same.reduce((sum, each) => sum + each.recorded + each.cases + each.generated, 0),
    },
    untried,
    missing,
    stale,
    standings,
    sections,
    asking,
  }
}

const NAME = /^(?:rung:[a-z-]{1,40}|(?:(?:gone|untried|settings):)?[A-Za-z0-9][A-Za-z0-9._-]{0,99})$/
const MOST_ACCEPTED = 10_000

/** The names that were accepted. What is no name would accept nothing, and nobody would see it. */
function acceptedBy({ accept = [], acceptFile }: DiffOptions): ReadonlySet<string> {
  const lines = acceptFile === undefined ? [] : readFileSync(acceptFile, 'utf8').split('\n')
  const listed = lines
    .map((line, i) => ({
      name: line.replace(/(?:^|\s)#.*$/, '').trim(),
      at: `${acceptFile ?? ''}:${i + 1}:1: `,
    }))
    .filter(({ name }) => name !== '')
  const all = [...accept.map((name) => ({ name, at: '' })), ...listed]
  if (all.length > MOST_ACCEPTED) throw new UsageError(`more than ${MOST_ACCEPTED} names are accepted`)
  for (const { name, at } of all) {
    if (NAME.test(name)) continue
    throw new UsageError(
      `${at}that is no name to accept; write the id of a rule, \`rung:egress\` for a rung that no longer objects, or another name that the report gives`,
    )
  }
  return new Set(all.map(({ name }) => name))
}

/** The policy of a file. @throws with every mistake, if it is none. */
function fromFile(file: string): Side {
  return { file, policy: policyIn(file) }
}

/** The policy that is in force: on the data directory, or of the gateway that is asked. */
async function inForce(options: DiffOptions): Promise<Side> {
  const [{ withConnection }, { ask }, { policyStanding }] = await Promise.all([
    import('../program/connect.ts'),
    import('../program/ask.ts'),
    import('./standing.ts'),
  ])
  return withConnection(options, 'read', async (connection) => {
    const { local } = connection
    const policy = local
      ? (await policyStanding(local.view, local.config)).active
      : policyOfText((await ask<{ readonly text: string }>(connection, '/v1/policy')).text)
    if (policy) return { file: undefined, policy }
    throw new CommandError(
      'there is no policy in force to compare with',
      'give two files: `tollgate policy diff OLD NEW`',
    )
  })
}

function policyOfText(text: string): Policy | undefined {
  const parsed = parsePolicy(text)
  return parsed.ok ? parsed.policy : undefined
}

/** Milliseconds for made-up calls, unless a number of them is wanted. */
const PATIENCE = 60_000

function generated(
  terminal: Terminal,
  { generated: wanted }: DiffOptions,
  a: Policy,
  b: Policy,
  findings: Findings,
  seeds: readonly Draft[],
): number {
  const most = wanted ?? usualCalls(a, b)
  const progress = terminal.progress('made-up calls')
  let done = 0
  const began = performance.now()
  for (done of most === 0 ? [] : compareGenerated(a, b, most, findings, seeds)) {
    progress.show(done, most)
    if (wanted !== undefined || performance.now() - began < PATIENCE) continue
    terminal.warn(
      'these policies take very long to decide; not everything was tried',
      `give \`--generated ${most}\` to wait for all of it`,
    )
    break
  }
  progress.clear()
  return done
}

const NOTHING: TriedCalls['recorded'] = { calls: 0, skipped: new Map() }

/** Decides the recorded history again, if there is one here. */
async function replayed(
  terminal: Terminal,
  options: DiffOptions,
  a: Policy,
  b: Policy,
  findings: Findings,
): Promise<TriedCalls['recorded']> {
  if (options.recorded === false) return NOTHING
  if (!hasHistory(options)) {
    terminal.say('there is no data directory here, so that no recorded calls are tried')
    return NOTHING
  }
  const { HOW_TO_KEEP, withTrace } = await import('./trace-source.ts')
  return withTrace(terminal, options, async ({ pages, texts }) => {
    const recorded = compareRecorded({ a, b, texts, values: options.values === true }, findings)
    for await (const page of pages) for (const entry of page) recorded.take(entry)
    if (recorded.calls === 0) terminal.warn('no recorded call could be tried', ...HOW_TO_KEEP)
    return recorded
  })
}

/** A data directory that was named must be there; the usual one may be missing, as it is where CI runs. */
function hasHistory(options: DiffOptions): boolean {
  if (options.trace !== undefined) return true
  if (options.data !== undefined) readConfig(options.data)
  return existsSync(join(dataOf(options), CONFIG_FILE))
}
