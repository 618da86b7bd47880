// Makes real calls and steps for the kernel, and the facts for the model, from the data of a world.

import { sha256Hex, type EffectClass } from '@tollgate/evidence'
import type { ToolCall } from '../../src/road/capture.ts'
import type { Gate, Objection } from '../../src/gates/gate.ts'
import { LADDER } from '../../src/road/guardian.ts'
import type { Kernel } from '../../src/kernel.ts'
import { axesOf, axesOfFacts } from '../../src/gates/session-risk/signals.ts'
import { BIT, type Topic } from '../../src/gates/session-risk/risk-terms.ts'
import { remembered } from './model-memory.ts'
import { factsOf, recipient } from './model-texts.ts'
import { WORDS } from './model-world.ts'
import type { CallSpec, ModelCall, Page, PlacedText } from './model-world.ts'

// Numbers contain no text to scan.
const PAD = Array<number>(4000).fill(0.1234567890123456)

/** Some calls have arguments that are too long to show to a person. */
function isLong(n: number, word: CallSpec['word']): boolean {
  return n === 2 && word === 'hello'
}

function membersOf({ form, answers, n, word, hosts, body, memo, amount }: CallSpec): Record<string, unknown> {
  return {
    form,
    answers,
    n,
    note: word,
    ...(hosts.length > 0 && { to: hosts.map((host) => recipient(host).text) }),
    ...(body && { body: factsOf(body).text }),
    ...(memo && { memo: factsOf(memo).text }),
    ...(amount !== undefined && { amount }),
    ...(isLong(n, word) && { pad: PAD }),
  }
}

function argsOf(spec: CallSpec): unknown {
  return spec.form === 'no object' ? [membersOf(spec)] : membersOf(spec)
}

const HASH = sha256Hex('a page')

/** The findings of the Sentinel on a page: to record, to escalate or to deny. */
function findingsOf({ risk }: Page, word: CallSpec['word']): readonly string[] {
  if (risk === 12) return ['NOTED']
  if (risk === 70 && word !== 'hello') return ['NOTED', 'STRANGE']
  return risk === 0 && word === 'password' ? ['BAD'] : []
}

/** The call for the kernel. */
export function toolCallOf(
  spec: CallSpec,
  approval: string | undefined,
  delegation: string | undefined,
): ToolCall {
  const { tenant, principal, claimed, session_id, delegation_session_id, door, assurance, tool, page } = spec
  const garbled = spec.form === 'unreadable' && tool !== '(unreadable)'
  return {
    caller: { tenant, principal },
    door,
    assurance,
    prompting: spec.prompting,
    ...(spec.author !== undefined && { author: spec.author }),
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
        sentinel_findings: findingsOf(page, spec.word),
        ...(page.risk !== undefined && { sentinel_risk: page.risk }),
      },
      side_effect: page.acts,
      ...(page.planned && { planner_ref: 'plan-1' }),
    },
    approval,
    delegation,
    ...(spec.sources.length > 0 && {
      sources: spec.sources.map(({ channel, text }) => ({
        source_channel: channel,
        text: factsOf(text).text,
      })),
    }),
  }
}

/** The call for the model: the facts that the kernel must find, and the axes from the kernel's table. */
export function modelCallOf(
  spec: CallSpec,
  approval: number | undefined,
  delegation: number | undefined,
): ModelCall {
  const id = spec.session_id ?? spec.delegation_session_id ?? spec.principal ?? '(nobody)'
  const garbled = spec.form === 'unreadable' && spec.tool !== '(unreadable)'
  const texts = garbled ? [] : textsOf(spec)
  const own: readonly Topic[] = garbled ? [] : WORDS[spec.word]
  const topics = [...own, ...texts.flatMap(({ facts }) => facts.topics)]
  const bits = topics.reduce((sum, topic) => sum | BIT[topic], 0)
  return {
    tenant: spec.tenant,
    principal: spec.principal,
    door: spec.door,
    assurance: spec.assurance,
    prompting: spec.prompting,
    tool: spec.tool,
    form: spec.form,
    claimed: spec.claimed,
    author: spec.author,
    session: remembered(id, spec.principal),
    id,
    args: JSON.stringify(argsOf(spec)),
    long: isLong(spec.n, spec.word),
    members: garbled ? [] : Object.keys(membersOf(spec)),
    texts,
    sources: spec.sources.map(({ channel, text }) => ({ said: channel === 'USER', facts: factsOf(text) })),
    amount: garbled ? undefined : spec.amount,
    hosts: garbled ? [] : spec.hosts,
    pages: spec.page ? [spec.page.host ?? 'no url'] : [],
    acts: spec.page?.acts,
    seen: spec.page && {
      risk: spec.page.risk,
      findings: findingsOf(spec.page, spec.word),
      planned: spec.page.planned,
    },
    answers: spec.answers,
    context: spec.context,
    approval,
    delegation,
    replaced: spec.replaced,
    page: (effect, browser, declared) => pageSays(spec, effect, browser === true, declared),
    sensitive: topics.includes('credentials') || topics.includes('personal'),
    axes: (facts, voiced, weighed) => (voiced ? axesOfFacts(bits, facts, weighed) : axesOf(bits, facts)),
  }
}

/** The texts of the arguments that contain something to find, in order. */
function textsOf({ hosts, body, memo }: CallSpec): readonly PlacedText[] {
  return [
    ...hosts.map((host) => ({ path: 'to', facts: recipient(host) })),
    ...(body ? [{ path: 'body', facts: factsOf(body) }] : []),
    ...(memo ? [{ path: 'memo', facts: factsOf(memo) }] : []),
  ]
}

function pageSays(
  { door, page, word }: CallSpec,
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
  const findings = findingsOf(page, word)
  if (findings.includes('BAD')) return deny('SENTINEL_DENY')
  if (!page.planned) return deny('PLANNER_REF_REQUIRED')
  return findings.includes('STRANGE')
    ? { verdict: 'ESCALATE', reason: 'COGNITIVE_FIREWALL_APPROVAL_REQUIRED' }
    : undefined
}

/** The kernel with some steps replaced. Its first step also reports the exact risk score, because a receipt has only four places. */
export function withReplaced(
  kernel: Kernel,
  replaced: CallSpec['replaced'],
  see: (score: number) => void,
): Kernel {
  const ladder = LADDER.map((step): Ladder[number] => {
    const said = replaced[step.name]
    if (said === undefined) return step.name === 'freeze' ? seeing(step, see) : step
    const check = (): Objection => {
      if (said === 'throws') throw new Error('the step fails')
      return said
    }
    return { ...step, check }
  })
  return { ...kernel, ladder }
}

type Ladder = typeof LADDER

function seeing(gate: Gate, see: (score: number) => void): Gate {
  return {
    ...gate,
    check(intent, snapshot) {
      see(snapshot.assessment().score)
      return gate.check(intent, snapshot)
    },
  }
}
