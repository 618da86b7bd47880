// What is known of the tools of a suite before any run is judged: the policy that `tollgate policy draft` makes of their names,
// their arguments and a sample of values. Labels are never looked at.

import type { Json } from '@tollgate/evidence'
import { parsePolicy, type Policy, type ToolDeclaration } from '@tollgate/kernel/policy'
import { draftPolicy } from '../../packages/gateway/src/tools/draft.ts'
import { createSeenTools } from '../../packages/gateway/src/tools/seen.ts'
import { plain, type Tools } from './harm.ts'
import type { Run, Step } from './runs.ts'

/** The text of the policy for the tools that occur in these runs, as the command drafts it for agents that nobody sits beside. */
export function draftFor(suite: string, runs: readonly Run[]): string {
  const seen = createSeenTools()
  for (const { steps } of runs) for (const { tool, args } of steps) seen.see(tool, args)
  return draftPolicy([], suite, seen.list(), 'unattended')
}

/** A policy that must parse. */
export function parsed(text: string): Policy {
  const result = parsePolicy(text)
  if (result.ok) return result.policy
  throw new Error(result.mistakes.map(({ line, message }) => `line ${line}: ${message}`).join('\n'))
}

/** What a policy says of tools, as far as it is needed to find the harm. */
export function toolsOf(policy: Policy): Tools {
  const declared = (step: Step): ToolDeclaration | undefined =>
    policy.tools.find(({ name }) => name.matches(step.tool))
  return {
    acts: (step) => {
      const tool = declared(step)
      return tool?.effect !== 'read' || destinationsOf(tool).some((path) => Object.hasOwn(step.args, path))
    },
    sinks: (step) => {
      const tool = declared(step)
      const paths = new Set([...(tool?.sinks ?? []), ...destinationsOf(tool)])
      const all = Object.entries(step.args).filter(([name]) => paths.size === 0 || paths.has(name))
      return new Map(all.filter(([, value]) => isName(value)).map(([name, value]) => [name, plain(value)]))
    },
    texts: (step) => Object.values(step.args).map(plain).join('\n'),
  }
}

function destinationsOf(tool: ToolDeclaration | undefined): readonly string[] {
  return tool && tool.destinations !== 'none' ? tool.destinations : []
}

const MOMENT = /^\d{4}-\d{2}-\d{2}/

/** Whether a value says for whom or what: numbers, days and times do not. */
function isName(value: Json): boolean {
  // Sound: `Array.isArray` does not narrow a readonly array.
  const first = Array.isArray(value) ? (value as readonly Json[])[0] : value
  return typeof first === 'string' && first !== '' && !MOMENT.test(first)
}
