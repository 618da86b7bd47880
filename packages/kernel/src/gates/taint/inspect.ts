// Inspects the result of a tool and decides whether it is forwarded, redacted or withheld.

import type { Json } from '@tollgate/evidence'
import { readHttpUrl } from '../../destinations/url.ts'
import type { Policy } from '../../policy/parse/parse.ts'
import { remembersData } from '../../policy/uses.ts'
import type { Inspection } from '../../road/inspect.ts'
import { pageLabel, sortedLabels } from '../../text/labels.ts'
import { rewrite } from '../../text/walk.ts'
import { readTexts, type ReadText } from '../texts.ts'
import { codesOf } from '../threat/finding.ts'
import { seenIn, type LabelledSpan, isHard } from './seen-values.ts'

/** The settings for the inspection of a result. */
export interface Inspecting {
  readonly policy: Policy
  /** The labels that the policy declares for the tool's results. */
  readonly returns: readonly string[]
  /** The URL of the page that a browser call read. */
  readonly page?: string | undefined
}

/** Inspects a result. If the policy does not need the inspection, the result is forwarded unchanged. */
export function inspect(content: Json, { policy, returns: declared, page }: Inspecting): Inspection {
  const place = page === undefined ? undefined : readHttpUrl(page)
  const returns = place ? [...declared, pageLabel(place)] : declared
  if (!remembersData(policy)) return { labels: [], findings: [], heard: [], delivery: 'full', content }
  const texts = readTexts(content, 'skip')
  const seen = texts.flatMap((text) => seenIn(text, returns))
  const labels = sortedLabels([...returns, ...seen.flatMap((each) => each.labels)])
  const findings = codesOf(texts.flatMap((text) => text.findings))
  return { labels, findings, heard: seen, ...deliver(content, texts, { policy, returns }) }
}

type Delivered = Pick<Inspection, 'delivery' | 'content'>

const WITHHELD: Delivered = { delivery: 'withheld', content: undefined }

function deliver(content: Json, texts: readonly ReadText[], { policy, returns }: Inspecting): Delivered {
  const byLabel = policy.gates.taint?.results
  // A declared label has no position in the result, so the whole result is withheld.
  if (returns.some((label) => byLabel?.has(label))) return WITHHELD
  // If a list was cut, the text may contain more parts to redact. The rest of a long text is redacted.
  if (cutsAnything(policy) && texts.some(({ cut, rest }) => cut && rest === undefined)) return WITHHELD
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

/** A part of a text that is not forwarded, and the reason. */
interface Cut extends LabelledSpan {
  readonly why: string
  readonly action: 'redact' | 'withhold'
}

// A secret or an instruction that begins in the scanned part can end in the unscanned rest.
const MARGIN = 4096

function cutsIn({ text, findings, marks, rest }: ReadText, policy: Policy): readonly Cut[] {
  const { threat, taint } = policy.gates
  const cuts: Cut[] = []
  if (rest !== undefined && cutsAnything(policy)) {
    cuts.push({ start: wholeAt(text, rest - MARGIN), end: text.length, why: 'TOO_LONG', action: 'redact' })
  }
  for (const { class: kind, code, severity, start, end } of findings) {
    // A secret is data, not an attack: the settings for its label apply.
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

/** A position that does not divide a character. */
function wholeAt(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at
}

/** A text with some parts replaced by a note with the reason. Overlapping parts get one note. */
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
