// What a tool's answer holds, and which parts of it may be handed on.

import type { Json } from '@tollgate/evidence'
import type { Policy } from '../../policy/parse/parse.ts'
import { remembersData } from '../../policy/uses.ts'
import type { Inspection } from '../../road/inspect.ts'
import { sortedLabels } from '../../text/labels.ts'
import { rewrite } from '../../text/walk.ts'
import { readTexts, type ReadText } from '../texts.ts'
import { codesOf } from '../threat/finding.ts'
import { seenIn, type Span, isHard } from './seen-values.ts'

/** What the policy has an answer looked through for. */
export interface Inspecting {
  readonly policy: Policy
  /** Labels that the tool's answers carry by declaration. */
  readonly returns: readonly string[]
}

/** Inspects an answer. Where the policy has no use for what is in it, it is handed on as it is. */
export function inspect(content: Json, { policy, returns }: Inspecting): Inspection {
  if (!remembersData(policy)) return { labels: [], findings: [], heard: [], delivery: 'full', content }
  const texts = readTexts(content, 'skip')
  const heard = texts.flatMap((text) => seenIn(text, returns))
  const labels = sortedLabels([...returns, ...heard.flatMap((each) => each.labels)])
  const findings = codesOf(texts.flatMap((text) => text.findings))
  return { labels, findings, heard, ...deliver(content, texts, { policy, returns }) }
}

type Delivered = Pick<Inspection, 'delivery' | 'content'>

const WITHHELD: Delivered = { delivery: 'withheld', content: undefined }

function deliver(content: Json, texts: readonly ReadText[], { policy, returns }: Inspecting): Delivered {
  const byLabel = policy.gates.taint?.results
  // A label by declaration says nothing of where in the answer: it can only be held back as a whole.
  if (returns.some((label) => byLabel?.has(label))) return WITHHELD
  // Where there was too much to list, what is to be cut may stand behind it.
  if (cutsAnything(policy) && texts.some(({ cut }) => cut)) return WITHHELD
  const all = texts.map((text) => cutsIn(text, policy))
  if (all.some((cuts) => cuts.some(({ action }) => action === 'withhold'))) return WITHHELD
  if (all.every((cuts) => cuts.length === 0)) return { delivery: 'full', content }
  let next = 0
  return { delivery: 'redacted', content: rewrite(content, (text) => without(text, all[next++] ?? [])) }
}

function cutsAnything({ gates: { threat, taint } }: Policy): boolean {
  const byThreat = Object.values(threat?.results ?? {}).some((action) => action !== 'label')
  return byThreat || (taint !== undefined && taint.results.size > 0)
}

/** A part of a text that is not handed on, and why. */
interface Cut extends Span {
  readonly why: string
  readonly action: 'redact' | 'withhold'
}

function cutsIn({ findings, marks }: ReadText, { gates: { threat, taint } }: Policy): readonly Cut[] {
  const cuts: Cut[] = []
  for (const { class: kind, code, severity, start, end } of findings) {
    // A secret is a class of data, not an attack: its label says what becomes of it.
    const action = kind === 'secret' ? 'label' : (threat?.results[severity] ?? 'label')
    if (action !== 'label') cuts.push({ start, end, why: code, action })
  }
  const flagged = taint?.results.get('flagged')
  if (flagged) {
    for (const { start, end } of findings.filter(isHard))
      cuts.push({ start, end, why: 'flagged', action: flagged })
  }
  for (const { label, start, end } of marks) {
    const action = taint?.results.get(label)
    if (action) cuts.push({ start, end, why: label, action })
  }
  return cuts.sort((a, b) => a.start - b.start || b.end - a.end)
}

/** A text without some of its parts; each, or those that overlap, leaves a note of why. */
function without(text: string, cuts: readonly Cut[]): string {
  let kept = ''
  let from = 0
  for (const { start, end, why } of cuts) {
    if (end <= from) continue
    if (start >= from) kept += `${text.slice(from, start)}[removed by Tollgate: ${why}]`
    from = end
  }
  return kept + text.slice(from)
}
