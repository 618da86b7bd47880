// Makes the kernel's policies from the data of a world.

import { sha256Hex, type SigningKey } from '@tollgate/evidence'
import { parseHostPattern, type HostPattern } from '../../src/destinations/pattern.ts'
import { parseHours, type Hours } from '../../src/gates/temporal/hours.ts'
import type { Condition, Values } from '../../src/policy/condition.ts'
import { glob } from '../../src/policy/glob.ts'
import type { Policy, Rule, ToolDeclaration } from '../../src/policy/parse/parse.ts'
import type { ComplianceSettings } from '../../src/gates/compliance/settings.ts'
import type { TaintSettings } from '../../src/gates/taint/settings.ts'
import { ONE } from '../../src/units.ts'
import type {
  ModelCompliance,
  ModelCondition,
  ModelHours,
  ModelPolicy,
  ModelRule,
  ModelTaint,
  ModelTool,
} from './model-policy.ts'
import type { CallSpec } from './model-world.ts'

/** The keys of a principal, by number. */
export type Keys = (principal: string, number: number) => SigningKey

/** The members of the arguments that the fakes below read. */
interface Args {
  readonly form: CallSpec['form']
  readonly answers: CallSpec['answers']
}

function argsIn(value: unknown): Args {
  // Sound: both made by `argsOf`.
  return (Array.isArray(value) ? value[0] : value) as Args
}

const patterns = new Map<string, HostPattern>()

function patternOf(host: string): HostPattern {
  let pattern = patterns.get(host)
  if (!pattern) {
    const parsed = parseHostPattern(host)
    if (typeof parsed === 'string') throw new Error(parsed)
    patterns.set(host, (pattern = parsed))
  }
  return pattern
}

/** The kernel's policy. Its text is a placeholder: the arguments of a call determine the results of conditions and schemas. */
export function policyOf(policy: ModelPolicy, number: number, keys: Keys): Policy {
  const text = `model policy ${number}`
  const { taint, compliance } = policy
  return {
    name: text,
    text,
    hash: sha256Hex(text),
    context: policy.context,
    principals: policy.principals.map(({ name, tier, key, delegateOnly }) => ({
      name: glob(name),
      tier,
      key: key === undefined ? undefined : keys(name, key).publicKey,
      delegateOnly,
    })),
    tools: policy.tools.map(toolOf),
    rules: policy.rules.map(ruleOf),
    approvals: { reason: 'optional' },
    providerTools: { undeclared: 'refuse' },
    uses: {
      data: (taint ?? policy.threat ?? compliance) !== undefined,
      sharedLimits: policy.limits.some(({ scope }) => scope === 'tool' || scope === 'tenant'),
    },
    gates: {
      egress: {
        allow: policy.egress.allow.map(patternOf),
        ask: policy.egress.ask.map(patternOf),
        deny: policy.egress.deny.map(patternOf),
      },
      sessionRisk: policy.risk,
      browser: {
        domains: [patternOf('ok.test')],
        maxSentinelRisk: 70,
        observation: 'any',
        plannerRef: 'given',
        findings: new Map([
          ['NOTED', 'record'],
          ['BAD', 'deny'],
        ]),
        otherFindings: 'escalate',
      },
      taint: taint && taintOf(taint),
      threat: policy.threat,
      trust: policy.trust,
      privilege: policy.privilege,
      scope: policy.scoped ? { required: true } : undefined,
      temporal: {
        limits: policy.limits.map((limit) => ({ ...limit, tools: glob(limit.tools) })),
        hours: policy.hours.map((hours) => ({
          tools: glob(hours.tools),
          name: hours.tools,
          windows: windowsOf(hours),
        })),
      },
      compliance: compliance && complianceOf(compliance),
    },
  }
}

function taintOf(taint: ModelTaint): TaintSettings {
  const results = new Map<string, 'redact' | 'withhold'>()
  for (const [label, action] of Object.entries(taint.results)) if (action) results.set(label, action)
  return { ...taint, internal: taint.internal.map(patternOf), pages: 'ask', flows: [], results }
}

function complianceOf({ jurisdictions, rules }: ModelCompliance): ComplianceSettings {
  return {
    jurisdictions: Object.entries(jurisdictions).map(([name, hosts]) => ({
      name,
      hosts: hosts.map((host): HostPattern => ({ ...patternOf(host), port: '*' })),
    })),
    rules: rules.map((rule) => ({ ...rule, tools: rule.tools.map(glob) })),
  }
}

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']

/** Writes the hours as in a policy, and parses them. */
function windowsOf({ days, from, to, offset }: ModelHours): Hours {
  const clock = (minutes: number): string =>
    `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
  const zone = `${offset < 0 ? '-' : '+'}${clock(Math.abs(offset))}`
  const read = parseHours(`${days.map((day) => DAYS[day]).join(',')} ${clock(from)}-${clock(to)} ${zone}`)
  if (typeof read === 'string') throw new Error(read)
  return read
}

function toolOf(tool: ModelTool): ToolDeclaration {
  const { name, offline, schema } = tool
  const check = (value: unknown): { at: string; problem: string } | undefined => {
    const { form } = argsIn(value)
    if (form === 'breaks the check') throw new Error('the check breaks')
    return form === 'misfits' ? { at: '', problem: 'does not fit' } : undefined
  }
  return {
    ...tool,
    name: glob(name),
    destinations: offline ? 'none' : ['to'],
    salted: false,
    pure: false,
    schema: schema ? { check } : undefined,
    factsFrom: undefined,
  }
}

function ruleOf({
  id,
  action,
  tools,
  principals,
  sessions,
  doors,
  when,
  approvers,
  answer,
  expires,
}: ModelRule): Rule {
  return {
    id,
    line: 1,
    action,
    tools: tools.map(glob),
    principals: principals.map(glob),
    sessions: sessions.map(glob),
    doors,
    when: when && conditionOf(when),
    because: undefined,
    approvers,
    answer,
    expires,
  }
}

function conditionOf(when: ModelCondition): Condition {
  const unwritten = (): never => {
    throw new Error('a generated condition was never written down')
  }
  return {
    source: 'generated',
    uses: new Set(usesOf(when)),
    names: new Set(),
    tree: unwritten,
    test: (values) => test(when, values),
    examine: unwritten,
  }
}

function usesOf(when: ModelCondition): readonly string[] {
  return Object.keys(when).map((name) => ({ answer: 'args', label: 'labels' })[name] ?? name)
}

function test(when: ModelCondition, { args, risk, labels, tier, trust }: Values): boolean {
  if ('risk' in when) return Math.round(Number(risk) * ONE) >= when.risk
  if ('tier' in when) return tier === when.tier
  if ('trust' in when) return Number(trust) >= when.trust
  if ('label' in when) return Array.isArray(labels) && labels.includes(when.label)
  const answer = argsIn(args).answers[when.answer]
  if (typeof answer !== 'boolean') throw new Error('the condition fails')
  return answer
}
