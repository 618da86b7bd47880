// The scope a run's session is opened with: none, the one that its prompt proposes, or the one an ideal host would give.

import type { Scope } from '@tollgate/kernel/detection'
import type { Policy } from '@tollgate/kernel/policy'
import { proposeScope, type ProposedTool } from '@tollgate/kernel/workbench'
import type { Tools } from './harm.ts'
import type { Run } from './runs.ts'

/** Where scopes come from. */
export const SCOPES = ['none', 'proposed', 'ideal'] as const
export type ScopeKind = (typeof SCOPES)[number]

/** The scope of a run; undefined for none. */
export type ScopeOf = (run: Run) => Scope | undefined

/** How scopes of a kind are made for these runs. */
export function scopesOf(kind: ScopeKind, runs: readonly Run[], policy: Policy, tools: Tools): ScopeOf {
  if (kind === 'none') return () => undefined
  if (kind === 'proposed') return proposed(runs, policy)
  return ideal(runs, tools)
}

/** From the prompt alone, and the tools there are. */
function proposed(runs: readonly Run[], policy: Policy): ScopeOf {
  const names = new Map<string, Set<string>>()
  for (const { steps } of runs) {
    for (const { tool, args } of steps) {
      const known = names.get(tool) ?? new Set()
      for (const name of Object.keys(args)) known.add(name)
      names.set(tool, known)
    }
  }
  const tools = [...names].map(([name, args]): ProposedTool => ({
    name,
    effect: policy.tools.find((each) => each.name.matches(name))?.effect ?? 'admin',
    arguments: [...args],
  }))
  return ({ prompt }) => proposeScope(prompt, tools)
}

/** What runs of the same task without any attack do that solve it. */
function ideal(runs: readonly Run[], tools: Tools): ScopeOf {
  const scopes = new Map<string, { readonly tools: Set<string>; readonly sinks: Set<string> }>()
  for (const run of runs) {
    if (!(run.label === 'benign' || run.label === 'direct') || !run.solved) continue
    const own = scopes.get(taskOf(run)) ?? { tools: new Set(), sinks: new Set() }
    scopes.set(taskOf(run), own)
    for (const step of run.steps.filter((each) => tools.acts(each))) {
      own.tools.add(step.tool)
      for (const name of tools.sinks(step).keys())
        for (const value of textsIn(step.args[name])) own.sinks.add(value)
    }
  }
  return (run) => {
    const own = scopes.get(taskOf(run))
    // Nobody has solved it: an ideal host knows no more than that.
    if (!own) return undefined
    const plain = [...own.tools].filter((name) => !name.includes('*')).sort()
    return { tools: plain.slice(0, 256), sinks: [...own.sinks].sort().slice(0, 1024), by: 'host' }
  }
}

function taskOf({ suite, userTask }: Run): string {
  return `${suite}\n${userTask}`
}

const LONGEST = 200

function textsIn(value: unknown): readonly string[] {
  const all = Array.isArray(value) ? (value as readonly unknown[]) : [value]
  return all.filter(
    (each) => typeof each === 'string' && each.length > 0 && each.length <= LONGEST,
  ) as string[]
}
