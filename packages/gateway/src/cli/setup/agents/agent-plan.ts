// Plans all changes that make one agent ask the gateway.

import { join } from 'node:path'
import { invalidHook } from './claude-schema.ts'
import { entryMark } from './hook-script.ts'
import { hooksIn } from './codex-trust.ts'
import type { Agent } from './agents.ts'
import type { SetupScope } from './names.ts'
import { isInPlace, planHookFile, readText, type PlannedChange } from './plan.ts'
import type { Surroundings } from '../clients/clients.ts'
import { masksIn } from '../clients/masks.ts'
import { trustEdits } from '../clients/toml-trust.ts'
import { readTomlTree } from '../clients/toml-tree.ts'
import { CommandError } from '../../program/terminal.ts'
import { edited } from '../../program/unified-diff.ts'

/** A warning with its hints. */
type Note = readonly [sentence: string, ...hints: string[]]

/** The changes for one agent in one scope. */
export interface AgentPlan {
  /** The file with the hooks. */
  readonly file: string
  /** The file of ours that it names. */
  readonly entry: string
  readonly files: readonly PlannedChange[]
  /** Warnings to show before the question. */
  readonly notes: readonly Note[]
  /** Steps that only the user can take. */
  readonly todo: readonly Note[]
}

/** Plans the changes. Undefined if the agent has no such scope. @throws CommandError if a file cannot be changed safely. */
export async function planFor(
  agent: Agent,
  scope: SetupScope,
  at: Surroundings,
  entry: string,
): Promise<AgentPlan | undefined> {
  const wanted = agent.hookFile(at, scope, entry)
  if (!wanted) return undefined
  const planned = planHookFile(wanted)
  const files = planned ? [planned] : []
  const plan: AgentPlan = { file: wanted.file, entry, files, notes: [], todo: [] }
  const after = planned ? Buffer.from(planned.change.after).toString('utf8') : (readText(wanted.file) ?? '')
  if (agent.id === 'claude-code') requireValid(wanted.file, after)
  if (!isInPlace(after, wanted)) throw new CommandError(`\`${wanted.file}\` would not contain the hooks`)
  return agent.id === 'codex' && scope !== 'managed' ? withTrust(plan, after, scope, at, agent) : plan
}

function requireValid(file: string, text: string): void {
  let settings: unknown
  try {
    settings = JSON.parse(text)
  } catch {
    throw new CommandError(
      `\`${file}\` is not plain JSON, so Claude Code ignores all of it`,
      'remove its comments and trailing commas, then run this again',
    )
  }
  const place = invalidHook(settings)
  if (place === undefined) return
  throw new CommandError(
    `\`${file}\` has an invalid value at \`${place}\`, so Claude Code ignores the whole file`,
    'correct it, then run this again',
  )
}

/** The step that only the user can take. */
export const BY_HAND: Note = [
  'Codex runs no hook that you have not trusted',
  'open Codex, type `/hooks`, and trust the hooks of Tollgate; after each change of them, do it again',
]

/** Adds the trust for each of our hooks. Without an installed Codex, only the user can give it. */
async function withTrust(
  plan: AgentPlan,
  text: string,
  scope: SetupScope,
  at: Surroundings,
  { events }: Agent,
): Promise<AgentPlan> {
  const listed = await hooksIn(text, plan.file)
  if (!listed) {
    const note: Note = ['found no Codex that answers', 'install `@openai/codex`, or trust the hooks by hand']
    return { ...plan, notes: [note], todo: [BY_HAND] }
  }
  const ours = listed.filter(({ command }) => command.includes(entryMark(plan.entry)))
  if (ours.length !== events.length) {
    throw new CommandError(
      `Codex would load ${ours.length} of ${events.length} hooks from \`${plan.file}\``,
      'correct its other hooks, then run this again; `codex` prints the mistake when it starts',
    )
  }
  const change = planTrust(join(codexHome(at), 'config.toml'), ours)
  if (!change) return plan
  const todo: readonly Note[] = change === 'by-hand' ? [BY_HAND] : []
  const project: Note = [
    'Codex loads hooks of a project only if it trusts the project',
    'confirm its question when it starts',
  ]
  return {
    ...plan,
    files: change === 'by-hand' ? plan.files : [...plan.files, change],
    todo: scope === 'project' ? [...todo, project] : todo,
  }
}

/** The folder of Codex. */
export function codexHome({ env, home }: Surroundings): string {
  const { CODEX_HOME: given = '' } = env
  return given === '' ? join(home, '.codex') : given
}

function planTrust(
  file: string,
  hooks: readonly { readonly key: string; readonly hash: string }[],
): PlannedChange | 'by-hand' | undefined {
  const text = readText(file)
  try {
    const edits = trustEdits(text ?? '', hooks)
    if (!edits) return 'by-hand'
    if (edits.length === 0) return undefined
    const before = text === undefined ? undefined : Buffer.from(text)
    const places = hooks.map(({ key }) => ['trust', key])
    const after = Buffer.from(edited(text ?? '', edits))
    const masks = text === undefined ? [] : masksIn(readTomlTree(text))
    return { change: { file, before, after, places, mode: 0o600 }, text: text ?? '', edits, masks }
  } catch {
    // Its form is unusual. The user can trust the hooks in Codex itself.
    return 'by-hand'
  }
}
