// Writes decisions and effects of model and kernel as comparable lines.

import type { Authorization } from '../../src/road/enforce.ts'
import type { ModelEffect } from './model-effects.ts'
import type { PlainStore } from './model-store.ts'
import type { CallSpec } from './model-world.ts'
import type { ModelDecision } from './model.ts'

/** The parts of the line of a decision. */
export const LEGEND =
  '(verdict, reason, rung, rule, risk, window, seq, request; labels, findings, compliance, trust, elevation, scope, asks)'

function lineOf(parts: readonly (string | number | undefined)[]): string {
  return parts.map((part) => String(part ?? '-')).join(' ')
}

const listed = (names: readonly string[] = []): string => names.join(',') || '-'

/** The line of a decision of the model. */
export function modelLine(decision: ModelDecision): string {
  const { verdict, reason, rung, rule, score, window, seq, request, found, asks } = decision
  const places = score === undefined ? undefined : String(Math.floor(score / 100)).padStart(5, '0')
  const decimal = places?.replace(/(?=.{4}$)/, '.')
  const { labels, findings, compliance, trust, raised, scoped, widened } = found ?? {}
  const elevation = raised && `${raised.tier} ${new Date(raised.until).toISOString()}`
  const asked = listed(verdict === 'ESCALATE' ? asks : [])
  const more = [
    listed(labels),
    listed(findings),
    listed(compliance),
    trust,
    elevation,
    scopeWord(scoped, widened),
    asked,
  ]
  return lineOf([verdict, reason, rung, rule?.id, decimal, window, seq, request, ...more])
}

/** The line of a decision of the kernel, from its answer and its receipt. `request` is the number in the model. */
export function kernelLine(
  { decided, permit }: Authorization,
  assurance: CallSpec['assurance'],
  { decision }: PlainStore,
  request: number | undefined,
): string {
  const { verdict, reason, rung, rule, receipt } = decided
  // An advised call gets no permit, because the gateway does not run its tool.
  if ((verdict === 'ALLOW' && assurance === 'enforced') !== (permit !== undefined))
    return 'a permit without an ALLOW, or an ALLOW without a permit'
  const empty = [
    undefined,
    undefined,
    undefined,
    request,
    '-',
    '-',
    '-',
    undefined,
    undefined,
    scopeWord(false, false),
    '-',
  ]
  if (receipt === undefined) return lineOf([verdict, reason, rung, rule, ...empty])
  const written = lineOf([decision?.verdict, decision?.reason_code, decision?.rung, decision?.rule])
  if (written !== lineOf([verdict, reason, rung, rule]))
    return `answered ${verdict} ${reason}, recorded ${written}`
  const { trajectory_risk_score: score, risk_accumulation_window: window, session } = decision ?? {}
  const { labels, findings, compliance, trust, elevation, asks, scope_hash, next_scope_hash } = decision ?? {}
  const scope = scopeWord(scope_hash !== undefined, next_scope_hash !== undefined)
  const raised = elevation && `${elevation.tier} ${elevation.until}`
  const more = [listed(labels), listed(findings), listed(compliance), trust, raised, scope, listed(asks)]
  return lineOf([written, score, window, session?.seq, request, ...more])
}

function scopeWord(scoped = false, widened = false): string {
  return `${scoped ? 'scoped' : 'free'}${widened ? ' widened' : ''}`
}

/** The line of an effect in the model. */
export function effectLine({ status, late, delivery, labels, findings, trust }: ModelEffect): string {
  return lineOf([status, String(late), delivery, listed(labels), listed(findings), trust])
}

/** The line of the newest effect of the kernel. */
export function kernelEffectLine({ effect }: PlainStore): string {
  const { status, late = false, delivery, labels, findings, trust } = effect ?? {}
  return lineOf([status, String(late), delivery, listed(labels), listed(findings), trust])
}

/** The observations in a decision, for the coverage. */
export function seenIn({ verdict, reason, rung, found, asks = [] }: ModelDecision): readonly string[] {
  const { labels = [], findings = [], compliance = [], trust, raised, broken = [], widened } = found ?? {}
  const asked = found?.asked === true
  return [
    `reason ${reason}`,
    `rung ${rung}`,
    ...(reason === 'STATE_MISMATCH' ? broken.map((kind) => `broken ${kind}`) : []),
    ...asks.filter((each) => each.startsWith('taint ')).map((each) => `about ${each.split(' ').at(-1)}`),
    ...(labels.length > 0 ? ['labels'] : []),
    ...(findings.length > 0 ? ['findings'] : []),
    ...(compliance.length > 0 ? ['compliance'] : []),
    ...(trust === undefined ? [] : ['trust']),
    ...(raised ? ['elevation'] : []),
    ...(widened === true ? ['widened'] : []),
    ...(asked ? [`question ${verdict}`] : []),
    ...(found?.agreed === true ? ['agreed sink'] : []),
  ]
}
