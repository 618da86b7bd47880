// The steps of the model that check the data of a call: taint, threat, compliance.

import type { EffectClass } from '@tollgate/evidence'
import { fits } from './model-glob.ts'
import { remembers, sorted } from './model-taint.ts'
import type { Found } from './model-texts.ts'
import { ask, deny, worst, type StepResult } from './model-results.ts'
import type { State } from './model.ts'

/** Effect classes that can send data without naming a hostname. */
const SENDS_DATA: readonly EffectClass[] = ['send', 'pay', 'execute', 'admin']

export function askTaint({
  policy: { taint },
  call,
  flow,
  hosts,
  targets,
  acts,
}: State): StepResult | undefined {
  if (!taint) return undefined
  // Data that would be redacted in a result is not forwarded in a question.
  const held = call.texts.flatMap(({ facts: { labels, passage } }) => [
    ...labels,
    ...(passage ? ['flagged'] : []),
  ])
  if (call.author !== undefined && held.some((label) => taint.results[label] !== undefined)) {
    return deny('TAINTED_DATA_EGRESS_DENY')
  }
  const leaves = targets.some((host) => !taint.internal.includes(host))
  const carried = (labels: readonly string[]): readonly string[] =>
    leaves ? flow.labels.filter((label) => labels.includes(label)) : []
  const { untrusted, ordered, flagged } = taint.provenance
  const rules = [
    ['flagged', flagged],
    ['ordered', acts ? ordered : 'allow'],
    ['output', untrusted],
    ['spelled', flagged === 'allow' ? 'allow' : 'ask'],
  ] as const
  const doubted = acts || hosts.length > 0 ? rules.filter(([kind]) => flow.from[kind]) : []
  if (carried(taint.deny).length > 0) return deny('TAINTED_DATA_EGRESS_DENY')
  if (doubted.some(([, rule]) => rule === 'deny')) return deny('UNTRUSTED_VALUE_DENY')
  const asking = doubted.flatMap(([kind, rule]) => (rule === 'ask' ? [kind] : []))
  const about = [...carried(taint.ask), ...asking.slice(0, 1)]
  return about.length > 0 ? ask('TAINT_APPROVAL_REQUIRED', about.join(' ')) : undefined
}

const WORSE = { low: 'medium', medium: 'high', high: 'high' } as const

export function askThreat({ policy: { threat }, call, data, acts, hosts }: State): StepResult | undefined {
  if (!threat) return undefined
  const relays = (values: readonly string[]): boolean =>
    values.some((value) => (data?.values.get(value)?.origin ?? 'said') !== 'said')
  const inArguments = call.texts.flatMap(({ facts: { findings, values } }) =>
    findings.map((each) => {
      const severity = relays(values) ? WORSE[each.severity] : each.severity
      const cut = call.author !== undefined && threat.results[severity] !== 'label'
      return objection(each, cut ? 'deny' : threat.arguments[severity])
    }),
  )
  const untrusted = acts || hosts.length > 0 ? call.sources.filter(({ said }) => !said) : []
  const inSources = untrusted.flatMap(({ facts }) =>
    facts.findings.map((each) => objection(each, threat.sources[each.severity])),
  )
  const words = [...inArguments, ...inSources].filter((word) => word !== undefined)
  const about = sorted(words.flatMap((word) => word.about ?? [])).join(' ')
  const first = worst(words)
  return first?.verdict === 'ESCALATE' ? { ...first, about } : first
}
function objection({ class: kind, code }: Found, action: 'label' | 'ask' | 'deny'): StepResult | undefined {
  if (kind === 'secret' || action === 'label') return undefined
  if (action === 'ask') return ask('THREAT_APPROVAL_REQUIRED', code)
  if (kind === 'command') return deny('COMMAND_ATTACK_DETECTED')
  return deny(kind === 'obfuscation' ? 'UNICODE_OBFUSCATION_DETECTED' : 'PROMPT_INJECTION_DETECTED')
}

const STRENGTH = ['deny', 'ask', 'allow'] as const

/** The compliance rules that apply, strictest first. */
export function appliedRules(state: State): readonly { id: string; then: 'allow' | 'ask' | 'deny' }[] {
  const { call, effect, flow, targets, policy } = state
  const { jurisdictions = {}, rules = [] } = policy.compliance ?? {}
  const lies = (host: string, places: readonly string[]): boolean =>
    places.some((place) => jurisdictions[place]?.includes(host))
  const applied = rules.filter(
    ({ tools, effects, labels, inside, outside }) =>
      fits(tools, call.tool) &&
      (effects.length === 0 || effects.includes(effect)) &&
      (labels.length === 0 || labels.some((label) => flow.labels.includes(label))) &&
      (inside.length === 0 || targets.some((host) => lies(host, inside))) &&
      (outside.length === 0 || targets.some((host) => !lies(host, outside))),
  )
  return STRENGTH.flatMap((then) => applied.filter((rule) => rule.then === then))
}
export function askCompliance(state: State): StepResult | undefined {
  const rules = appliedRules(state)
  if (rules[0]?.then === 'deny') return deny('COMPLIANCE_VIOLATION')
  const asking = rules.flatMap(({ id, then }) => (then === 'ask' ? [id] : []))
  return asking.length > 0 ? ask('COMPLIANCE_APPROVAL_REQUIRED', asking.join(' ')) : undefined
}

/** The hostnames that the data may go to. A call that can send data has a destination even if it names none. */
export function targetsOf(
  hosts: readonly string[],
  isSaid: boolean,
  offline: boolean,
  effect: EffectClass,
): readonly string[] {
  return isSaid || offline || !SENDS_DATA.includes(effect) ? hosts : [...hosts, '(anywhere)']
}

/** The findings in the call, if the policy uses them. */
export function findingsIn({ call, policy }: State): readonly Found[] {
  return [
    ...(remembers(policy) ? call.texts.map(({ facts }) => facts) : []),
    ...(remembers(policy) ? call.sources.flatMap(({ said, facts }) => (said ? [] : [facts])) : []),
  ].flatMap(({ findings }) => findings)
}
