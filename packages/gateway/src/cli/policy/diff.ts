// `tollgate policy diff`: shows which decisions change between two policies. Made for CI: a looser decision fails unless it is
// accepted by name.

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
import { askingThatDiffers, sectionsThatDiffer, statusChanges } from '../../workbench/settings.ts'
import type { GatewayOptions } from '../commands.ts'
import { configHere, dataOf } from '../program/connect.ts'
import { policyIn } from './policy-file.ts'
import { seedsBeside } from './diff-cases.ts'
import { diffText, explainCommand, type Diff, type Side, type TriedCalls } from './diff-text.ts'
import { nameOf } from './policy-status.ts'
import { counted } from '../program/table.ts'
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

/** Compares two policies. Returns 1 if a change is looser, or unclear, and not accepted by name. */
export async function runDiff(
  terminal: Terminal,
  options: DiffOptions,
  first?: string,
  second?: string,
): Promise<number> {
  const accepted = acceptedBy(options)
  const file = first ?? (await configHere(options, 'the policy file', 'give the file')).policy
  const [a, b] =
    second === undefined ? [await inForce(options), fromFile(file)] : [fromFile(file), fromFile(second)]
  if (second === undefined) terminal.say(`in force is ${nameOf(a.policy)}; compared with \`${file}\``)
  const findings = createFindings(a.policy, b.policy)
  const seeds = options.cases === false ? [] : seedsBeside(terminal, [a, b])
  compareCases(a.policy, b.policy, seeds, findings)
  const tried: TriedCalls = {
    recorded: await replayed(terminal, options, a.policy, b.policy, findings),
    cases: seeds.length,
    generated: generated(terminal, options, a.policy, b.policy, findings, seeds),
  }
  if (tried.generated === 0 && tried.recorded.calls === 0 && tried.cases === 0) {
    throw new CommandError('no calls to compare', 'increase `--generated`')
  }
  return print(terminal, options, { ...resultOf(a, b, findings, accepted), tried })
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
    standings: statusChanges(a.policy, b.policy),
    sections: sectionsThatDiffer(a.policy, b.policy),
    asking: askingThatDiffers(a.policy, b.policy),
  }
}

function print(terminal: Terminal, options: DiffOptions, diff: Diff): number {
  const { all = false } = options
  terminal.data(shownAsData(diff, all), () => diffText(diff, all, terminal.paint))
  const { calls, skipped } = diff.tried.recorded
  terminal.say(
    `compared ${counted(diff.tried.generated, 'generated call')}, ${counted(diff.tried.cases, 'call')} from cases and ${counted(calls, 'recorded call')}`,
  )
  for (const [why, count] of skipped)
    terminal.warn(`${counted(count, 'recorded call')} could not be compared: ${why}`)
  for (const name of diff.stale) {
    terminal.warn(`\`${name}\` is accepted but not needed`, 'remove it from the list')
  }
  if (diff.missing.length === 0) return 0
  if (diff.groups.some(({ accepted }) => !accepted))
    terminal.say('calls become allowed, and this is not accepted')
  if (diff.untried.some(({ accepted }) => !accepted))
    terminal.say('some changes are not shown by any call, and they are not accepted')
  terminal.line(`  to accept it: ${diff.missing.map((name) => `--accept ${name}`).join(' ')}`)
  const why = explainCommand(diff)
  if (why !== undefined) terminal.line(`  to see why:   ${why}`)
  return 1
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
const MAX_ACCEPTED = 10_000

/** Returns the accepted names. Refuses anything else: it would be ignored silently. */
function acceptedBy({ accept = [], acceptFile }: DiffOptions): ReadonlySet<string> {
  const lines = acceptFile === undefined ? [] : readFileSync(acceptFile, 'utf8').split('\n')
  const listed = lines
    .map((line, i) => ({
      name: line.replace(/(?:^|\s)#.*$/, '').trim(),
      at: `${acceptFile ?? ''}:${i + 1}:1: `,
    }))
    .filter(({ name }) => name !== '')
  const all = [...accept.map((name) => ({ name, at: '' })), ...listed]
  if (all.length > MAX_ACCEPTED) throw new UsageError(`more than ${MAX_ACCEPTED} accepted names`)
  for (const { name, at } of all) {
    if (NAME.test(name)) continue
    throw new UsageError(
      `${at}this is not a name to accept; give the id of a rule, \`rung:egress\` for a step that no longer objects, or another name from the report`,
    )
  }
  return new Set(all.map(({ name }) => name))
}

function fromFile(file: string): Side {
  return { file, policy: policyIn(file) }
}

async function inForce(options: DiffOptions): Promise<Side> {
  const [{ withConnection }, { ask }, { policyStatus }] = await Promise.all([
    import('../program/connect.ts'),
    import('../program/ask.ts'),
    import('./policy-status.ts'),
  ])
  return withConnection(options, 'read', async (connection) => {
    const { local } = connection
    const policy = local
      ? (await policyStatus(local.view, local.config)).active
      : policyOfText((await ask<{ readonly text: string }>(connection, '/v1/policy')).text)
    if (policy) return { file: undefined, policy }
    throw new CommandError(
      'no policy is in force to compare with',
      'give two files: `tollgate policy diff OLD NEW`',
    )
  })
}

function policyOfText(text: string): Policy | undefined {
  const parsed = parsePolicy(text)
  return parsed.ok ? parsed.policy : undefined
}

/** Time limit for generated calls in milliseconds, unless their number is given. */
const TIME_LIMIT = 60_000

function generated(
  terminal: Terminal,
  { generated: wanted }: DiffOptions,
  a: Policy,
  b: Policy,
  findings: Findings,
  seeds: readonly Draft[],
): number {
  const most = wanted ?? usualCalls(a, b)
  const progress = terminal.progress('generated calls')
  let done = 0
  const began = performance.now()
  for (done of most === 0 ? [] : compareGenerated(a, b, most, findings, seeds)) {
    progress.show(done, most)
    if (wanted !== undefined || performance.now() - began < TIME_LIMIT) continue
    terminal.warn(
      'these policies are slow to evaluate; not all generated calls were compared',
      `use \`--generated ${most}\` to compare all of them`,
    )
    break
  }
  progress.clear()
  return done
}

const NOTHING: TriedCalls['recorded'] = { calls: 0, skipped: new Map() }

/** Compares the recorded calls, if there is a history. */
async function replayed(
  terminal: Terminal,
  options: DiffOptions,
  a: Policy,
  b: Policy,
  findings: Findings,
): Promise<TriedCalls['recorded']> {
  if (options.recorded === false) return NOTHING
  const missing = historyMissing(options)
  if (missing !== undefined) {
    terminal.say(`${missing}; recorded calls are not compared`)
    return NOTHING
  }
  const { HOW_TO_KEEP, withTrace } = await import('./trace-source.ts')
  return withTrace(terminal, options, async ({ pages, texts }) => {
    const recorded = compareRecorded({ a, b, texts, values: options.values === true }, findings)
    for await (const page of pages) for (const entry of page) recorded.take(entry)
    if (recorded.calls === 0) terminal.warn('no recorded call could be compared', ...HOW_TO_KEEP)
    return recorded
  })
}

/** Says why there is no history. A named data directory must exist; the default one can be missing, as on CI machines. */
function historyMissing(options: DiffOptions): string | undefined {
  if (options.trace !== undefined) return undefined
  // The ledger of this machine can be of another gateway.
  if (options.url !== undefined) return 'no data directory is used with `--url` or TOLLGATE_URL'
  if (options.data !== undefined) readConfig(options.data)
  return existsSync(join(dataOf(options), CONFIG_FILE)) ? undefined : 'no data directory found'
}
