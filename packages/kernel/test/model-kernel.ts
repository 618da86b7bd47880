// The kernel's side of the comparison: a store without signatures, and real policies, calls and rungs made from a world's data.

import { sha256Hex, type ChainHead, type Decision, type EffectClass } from '@tollgate/evidence'
import type { ToolCall } from '../src/call.ts'
import { parseHostPattern, type HostPattern } from '../src/destinations/pattern.ts'
import type { Gate, Objection } from '../src/gates/gate.ts'
import { LADDER } from '../src/guardian.ts'
import type { Kernel } from '../src/kernel.ts'
import type { Values } from '../src/policy/condition.ts'
import { glob } from '../src/policy/glob.ts'
import type { Policy, Rule, ToolDeclaration } from '../src/policy/parse.ts'
import { ONE } from '../src/risk.ts'
import { axesOf } from '../src/signals.ts'
import type { Batch, Store } from '../src/store.ts'
import { BIT } from '../src/words.ts'
import { WORDS } from './model-world.ts'
import type { CallSpec, ModelCall, ModelPolicy, ModelRule } from './model-world.ts'

/** A store that keeps everything and signs nothing. */
export interface PlainStore extends Store {
  /** The newest decision. */
  readonly decision: Decision | undefined
  lose(name: string): void
}

/** A store that begins with these receipts. */
export function createPlainStore(founding: Batch): PlainStore {
  const records = new Map<string, string>()
  const anchors = new Map<string, Uint8Array>()
  let head: ChainHead | undefined
  let decision: Decision | undefined
  const write = (batch: Batch): Promise<void> => {
    if (batch.after !== head?.id) throw new Error('the batch does not follow the newest receipt')
    for (const { encoded, anchors: names } of batch.entries) {
      const { receipt, id, payload } = encoded
      head = { id, seq: receipt.seq, lamport_clock: receipt.lamport_clock, time: receipt.time }
      if (receipt.kind === 'decision') decision = receipt
      for (const name of names) anchors.set(name, payload)
    }
    for (const [name, text] of batch.records) {
      if (text === undefined) records.delete(name)
      else records.set(name, text)
    }
    return Promise.resolve()
  }
  void write(founding)
  return {
    get decision() {
      return decision
    },
    lose: (name) => void records.delete(name),
    head: () => Promise.resolve(head),
    write,
    load: (names) =>
      Promise.resolve(names.map((name) => ({ record: records.get(name), anchor: anchors.get(name) }))),
    list(prefix, of) {
      const names = of === 'records' ? records.keys() : anchors.keys()
      return Promise.resolve([...names].filter((name) => name.startsWith(prefix)).sort())
    },
  }
}

/** What the arguments hold, for the fakes below to look at. */
interface Args {
  readonly form: CallSpec['form']
  readonly answers: CallSpec['answers']
}

function argsIn(value: unknown): Args {
  // Sound: both made by `argsOf`.
  return (Array.isArray(value) ? value[0] : value) as Args
}

function argsOf({ form, answers, n, word, hosts }: CallSpec): unknown {
  const args = {
    form,
    answers,
    n,
    note: word,
    ...(hosts.length > 0 && { to: hosts.map((host) => `x@${host}`) }),
  }
  return form === 'no object' ? [args] : args
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

/** The kernel's policy. Its text says nothing: conditions and schemas are told by the arguments how to answer. */
export function policyOf(policy: ModelPolicy, number: number): Policy {
  const text = `model policy ${number}`
  const { allow, ask, deny } = policy.egress
  return {
    name: text,
    text,
    hash: sha256Hex(text),
    context: policy.context,
    principals: [],
    tools: policy.tools.map(toolOf),
    rules: policy.rules.map(ruleOf),
    gates: {
      egress: { allow: allow.map(patternOf), ask: ask.map(patternOf), deny: deny.map(patternOf) },
      sessionRisk: policy.risk,
      browser: { domains: [patternOf('ok.test')], maxSentinelRisk: 70, observation: 'any' },
      rates: policy.rates.map(({ tools, calls, period }) => ({
        name: tools,
        tools: glob(tools),
        calls,
        period,
      })),
    },
  }
}

function toolOf({ name, effect, schema, offline, browser }: ModelPolicy['tools'][number]): ToolDeclaration {
  const check = (value: unknown): { at: string; problem: string } | undefined => {
    const { form } = argsIn(value)
    if (form === 'breaks the check') throw new Error('the check breaks')
    return form === 'misfits' ? { at: '', problem: 'does not fit' } : undefined
  }
  return {
    name: glob(name),
    effect,
    sinks: [],
    destinations: offline ? 'none' : ['to'],
    salted: false,
    browser,
    schema: schema ? { check } : undefined,
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
  expires,
}: ModelRule): Rule {
  const test = (values: Values): boolean => {
    if (!when || 'risk' in when) return Math.round(Number(values.risk) * ONE) >= (when?.risk ?? 0)
    const answer = argsIn(values.args).answers[when.answer]
    if (typeof answer !== 'boolean') throw new Error('the condition fails')
    return answer
  }
  return {
    id,
    line: 1,
    action,
    tools: tools.map(glob),
    principals: principals.map(glob),
    sessions: sessions.map(glob),
    doors,
    when: when && { source: 'generated', uses: new Set(['risk' in when ? 'risk' : 'args']), test },
    because: undefined,
    approvers,
    expires,
  }
}

const HASH = sha256Hex('a page')

/** The call as the kernel gets it. */
export function toolCallOf(spec: CallSpec, approval: string | undefined): ToolCall {
  const { tenant, principal, claimed, session_id, delegation_session_id, door, assurance, tool, page } = spec
  const garbled = spec.form === 'unreadable' && tool !== '(unreadable)'
  return {
    caller: { tenant, principal },
    door,
    assurance,
    tool: tool === '(unreadable)' ? 7 : tool,
    ...(garbled ? { raw: '{"a":1,"a":2}' } : { args: argsOf(spec) }),
    principal: claimed,
    session_id,
    delegation_session_id,
    context: spec.context,
    browser: page && {
      observation: {
        url: page.host === undefined ? 'no url' : `https://${page.host}/`,
        dom_hash: HASH,
        visual_text_hash: HASH,
        sentinel_findings: [],
        ...(page.risk !== undefined && { sentinel_risk: page.risk }),
      },
      side_effect: page.acts,
      ...(page.planned && { planner_ref: 'plan-1' }),
    },
    approval,
  }
}

/** What the model is told: facts that the kernel has to find out for itself, and the axes, from the kernel's own table. */
export function modelCallOf(spec: CallSpec, approval: number | undefined): ModelCall {
  const garbled = spec.form === 'unreadable' && spec.tool !== '(unreadable)'
  const topics: readonly (keyof typeof BIT)[] = garbled ? [] : WORDS[spec.word]
  const bits = topics.reduce((sum, topic) => sum | BIT[topic], 0)
  return {
    tenant: spec.tenant,
    principal: spec.principal,
    door: spec.door,
    assurance: spec.assurance,
    tool: spec.tool,
    form: spec.form,
    claimed: spec.claimed,
    session: spec.session_id ?? spec.delegation_session_id ?? spec.principal ?? '(nobody)',
    args: JSON.stringify(argsOf(spec)),
    hosts: garbled ? [] : spec.hosts,
    pages: spec.page ? [spec.page.host ?? 'no url'] : [],
    acts: spec.page?.acts,
    answers: spec.answers,
    context: spec.context,
    approval,
    replaced: spec.replaced,
    page: (effect, browser, declared) => pageSays(spec, effect, browser === true, declared),
    sensitive: topics.includes('credentials') || topics.includes('personal'),
    axes: (facts) => axesOf(bits, facts),
  }
}

function pageSays(
  { door, page }: CallSpec,
  effect: EffectClass,
  browser: boolean,
  declared: readonly string[],
): Objection | undefined {
  const deny = (
    what: 'INVALID_URL' | 'DOMAIN_DENY' | 'SENTINEL_DENY' | 'PLANNER_REF_REQUIRED',
  ): Objection => ({
    verdict: 'DENY',
    reason: `COGNITIVE_FIREWALL_${what}`,
  })
  if (!page && door !== 'browser' && !browser) return undefined
  if (page?.host === undefined) return deny('INVALID_URL')
  if ([page.host, ...declared].some((host) => host !== 'ok.test')) return deny('DOMAIN_DENY')
  if (effect === 'read' && !page.acts) return undefined
  if (page.risk === undefined || page.risk > 70) return deny('SENTINEL_DENY')
  return page.planned ? undefined : deny('PLANNER_REF_REQUIRED')
}

/**
 * The kernel with some rungs replaced; everything else is the same kernel's. Its first rung also says the score of risk
 * that it sees, to the last digit: a receipt has only four places of it.
 */
export function withReplaced(
  kernel: Kernel,
  replaced: CallSpec['replaced'],
  see: (score: number) => void,
): Kernel {
  const ladder = LADDER.map((rung): Rungs[number] => {
    const said = replaced[rung.name]
    if (said === undefined) return rung.name === 'freeze' ? seeing(rung, see) : rung
    const check = (): Objection => {
      if (said === 'throws') throw new Error('the rung breaks')
      return said
    }
    return { ...rung, check }
  })
  return { ...kernel, ladder }
}

type Rungs = typeof LADDER

function seeing(rung: Gate, see: (score: number) => void): Gate {
  return {
    ...rung,
    check(intent, snapshot) {
      see(snapshot.assessment().score)
      return rung.check(intent, snapshot)
    },
  }
}
