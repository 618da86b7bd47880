// Prints the reading of a page, for people and as JSON.

import { FINDING_CODES, observationOf, type Finding, type PageReading } from '@tollgate/sentinel'
import { shown } from '../program/table.ts'
import type { Colors } from '../program/terminal.ts'

/** The line of JSON for a page. The text of the page is only in it if that is asked for. */
export function lineOf(page: string, reading: PageReading, withText: boolean): object {
  const { mode, url, risk, findings, dom_hash, visual_text_hash, projection } = reading
  return {
    page,
    mode,
    url,
    risk,
    findings,
    dom_hash,
    visual_text_hash,
    sentinel_findings: observationOf(reading).sentinel_findings,
    ...(withText && { projection }),
  }
}

const MARKS = { risk: '✗', unknown: '?', hidden: '·' } as const

/** The report on a page. */
export function reportOf(
  page: string,
  reading: PageReading,
  { maxRisk, text }: { readonly maxRisk: number; readonly text?: boolean },
  paint: Colors,
): string {
  const { mode, risk, findings, projection } = reading
  const color = risk > maxRisk ? paint.red : risk > 0 ? paint.yellow : paint.green
  const weaker = mode === 'static' ? ', from HTML alone (weaker)' : ''
  const lines = [`${paint.bold(shown(page))}: ${color(`risk ${risk}`)} of 100${weaker}`]
  for (const each of findings) lines.push(...linesOf(each, paint))
  if (findings.length === 0) lines.push('  nothing hidden, nothing that directs an agent')
  if (text === true) lines.push(...projection.split('\n').map((line) => paint.dim(`  | ${shown(line)}`)))
  return `${lines.join('\n')}\n`
}

function linesOf({ code, count, risk, places }: Finding, paint: Colors): readonly string[] {
  const { kind, about } = FINDING_CODES[code]
  const mark = kind === 'risk' ? paint.red(MARKS[kind]) : MARKS[kind]
  const head = `  ${mark} ${code} ×${count}${risk > 0 ? `, risk ${risk}` : ''}: ${about}`
  const [first] = places
  if (kind === 'hidden' || !first) return [head]
  return [
    head,
    ...places.map(
      ({ path, box }) =>
        `      ${shown(path)}${box ? ` at ${box.x},${box.y} (${box.width}×${box.height})` : ''}`,
    ),
  ]
}
