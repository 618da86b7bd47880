// Writes docs/reasons.md, docs/findings.md, docs/http.md, docs/metrics.md, docs/llm-*.md, docs/policy.schema.json and
// docs/compatibility.md from tables, and
// the generated parts of docs/coding-agents.md, docs/gates.md, docs/formats.md, docs/verification.md and
// docs/browser-guard.md. With --check, only compares.

import { readFile, writeFile } from 'node:fs/promises'
import { FINDINGS, STAGES, type Severity } from '../packages/evidence/src/findings.ts'
import { adviceOf, REASONS, VERDICTS } from '../packages/evidence/src/reasons.ts'
import { httpReference } from '../packages/gateway/src/api/reference.ts'
import { metricsReference } from '../packages/gateway/src/telemetry/reference.ts'
import { policySchemaText } from '../packages/gateway/src/workbench/policy-schema.ts'
import { THREAT_CODES } from '../packages/kernel/src/gates/threat/finding.ts'
import { agentFiles, agentLimits } from './agent-tables.ts'
import { compatibilityPage } from './compat/page.ts'
import { llmPages } from './llm-pages.ts'
import { FINDING_CODES } from '../packages/sentinel/src/codes.ts'

const NOTICE = '<!-- Made by `npm run docs` from the source. Do not edit. -->'

const ABOUT_VERDICT = {
  ALLOW: 'The call may run. Its decision is in the ledger before it runs.',
  DENY: 'The call does not run.',
  ESCALATE: 'The call needs the approval of a person.',
}

function reasons(): string {
  const sections = VERDICTS.map((verdict) => {
    const rows = Object.entries(REASONS).filter(([, reason]) => reason.verdict === verdict)
    const table = rows.map(([code, reason]) => `| \`${code}\` | ${reason.sentence} | ${adviceOf(reason)} |`)
    return [
      `## ${verdict}`,
      '',
      ABOUT_VERDICT[verdict],
      '',
      '| code | meaning | what to do |',
      '|---|---|---|',
      ...table,
    ].join('\n')
  })
  return [
    '# Reason codes',
    '',
    NOTICE,
    '',
    'Every decision has exactly one of these codes.',
    '',
    sections.join('\n\n'),
    '',
  ].join('\n')
}

/** The level of a report with such a finding. */
const LEVELS: Readonly<Record<Severity, string>> = { malformed: 'malformed', false: 'failed' }

function findings(): string {
  const sections = STAGES.map((stage) => {
    const rows = Object.entries(FINDINGS).filter(([, rule]) => rule.stage === stage)
    const table = rows.map(
      ([code, { severity, sentence }]) => `| \`${code}\` | ${LEVELS[severity]} | ${sentence} |`,
    )
    return [`## ${stage}`, '', '| code | level | meaning |', '|---|---|---|', ...table].join('\n')
  })
  const lead =
    'A verification reports these findings, in this order. The level `malformed` means that the file cannot be read as a pack: the exit code is 2. The level `failed` means that a check failed: the exit code is 1. A failed check is not always a forgery: some packs only lack what your trust file asks for.'
  return ['# Findings', '', NOTICE, '', lead, '', sections.join('\n\n'), ''].join('\n')
}

function threatCodes(): string {
  const codes = Object.entries(THREAT_CODES)
  return table(
    ['code', 'class', 'meaning'],
    codes.map(([code, { class: kind, about }]) => [`\`${code}\``, kind, about]),
  )
}

function sentinelCodes(): string {
  const codes = Object.entries(FINDING_CODES)
  return table(
    ['code', 'kind', 'meaning'],
    codes.map(([code, { kind, about }]) => [`\`${code}\``, kind, about]),
  )
}

/** A table in the style of the formatter. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, i) => Math.max(...[head, ...rows].map((row) => row[i]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

const EXAMPLES = ['examples/policies/eu-transfer.yaml', 'examples/policies/card-data.yaml'] as const

async function exampleParts(): Promise<Record<string, string>> {
  const parts: Record<string, string> = {}
  for (const path of EXAMPLES) parts[path] = `\`\`\`yaml\n${await readFile(path, 'utf8')}\`\`\``
  return parts
}

/** Lists of codes, one line each, in a block that tests read. */
function codeLists(name: string, lists: readonly (readonly [string, readonly string[]])[]): string {
  const lines = lists
    .filter(([, codes]) => codes.length > 0)
    .map(([of, codes]) => `${of}: ${codes.join(' ')}`)
  return ['```example ' + name, ...lines, '```'].join('\n')
}

function codesByVerdict(): string {
  const codesOf = (verdict: string): string[] =>
    Object.entries(REASONS).flatMap(([code, reason]) => (reason.verdict === verdict ? [code] : []))
  return codeLists(
    'reasons',
    VERDICTS.map((verdict) => [verdict, codesOf(verdict)]),
  )
}

function codesByStage(): string {
  const codesOf = (stage: string, severity: string): string[] =>
    Object.entries(FINDINGS).flatMap(([code, rule]) =>
      rule.stage === stage && rule.severity === severity ? [code] : [],
    )
  return codeLists(
    'stages',
    STAGES.flatMap((stage) =>
      (['malformed', 'false'] as const).map((severity): [string, string[]] => [
        `${stage}, ${severity}`,
        codesOf(stage, severity),
      ]),
    ),
  )
}

/** A page with its current parts. @throws Error if a part has no place on the page. */
async function pageWith(path: string, parts: Readonly<Record<string, string>>): Promise<string> {
  let page = await readFile(path, 'utf8')
  for (const [name, text] of Object.entries(parts)) page = withPart(path, page, name, text)
  return page
}

/** Replaces the text between the markers of a name. */
function withPart(path: string, page: string, name: string, text: string): string {
  const [begin, end] = [
    `<!-- begin ${name}: made by \`npm run docs\`, do not edit -->`,
    `<!-- end ${name} -->`,
  ]
  const [start, stop] = [page.indexOf(begin), page.indexOf(end)]
  if (start < 0 || stop < start) throw new Error(`${path} has no place for ${name}`)
  return `${page.slice(0, start + begin.length)}\n\n${text}\n\n${page.slice(stop)}`
}

const DOCUMENTS = {
  'docs/coding-agents.md': await pageWith('docs/coding-agents.md', {
    files: table(...agentFiles()),
    limits: table(...agentLimits()),
  }),
  'docs/reasons.md': reasons(),
  'docs/findings.md': findings(),
  'docs/http.md': httpReference(),
  'docs/metrics.md': metricsReference(NOTICE, table),
  ...llmPages(NOTICE, table),
  'docs/compatibility.md': compatibilityPage(NOTICE, table),
  'docs/policy.schema.json': policySchemaText(),
  'docs/gates.md': await pageWith('docs/gates.md', {
    'threat-codes': threatCodes(),
    ...(await exampleParts()),
  }),
  'docs/formats.md': await pageWith('docs/formats.md', { 'reason-codes': codesByVerdict() }),
  'docs/browser-guard.md': await pageWith('docs/browser-guard.md', { 'sentinel-codes': sentinelCodes() }),
  'docs/verification.md': await pageWith('docs/verification.md', { 'finding-codes': codesByStage() }),
}

async function stale(path: string, text: string): Promise<boolean> {
  return (await readFile(path, 'utf8').catch(() => '')) !== text
}

async function main(check: boolean): Promise<number> {
  let differing = 0
  for (const [path, text] of Object.entries(DOCUMENTS)) {
    if (!(await stale(path, text))) continue
    differing++
    if (check) process.stderr.write(`${path} is not what the source says; run \`npm run docs\`\n`)
    else await writeFile(path, text)
  }
  return check && differing > 0 ? 1 : 0
}

process.exitCode = await main(process.argv.includes('--check'))
