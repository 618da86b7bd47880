// `npm run bench`: prints one table of measurements. A missed target does not fail.
//
//   npm run bench                       everything
//   npm run bench -- --only evidence    one area; several `--only` measure several areas
//   npm run bench -- --json FILE        also as JSON
//   npm run bench -- --tiny             minimal sizes, to check that it runs; `npm test` does this

import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { abuseRows } from './abuse.ts'
import { browserRows } from './browser.ts'
import { cliRows } from './cli.ts'
import { evidenceRows } from './evidence.ts'
import { gatewayRows } from './gateway.ts'
import { hookRows } from './hook.ts'
import { kernelRows } from './kernel.ts'
import { ladderRows } from './ladder.ts'
import { llmRows } from './llm.ts'
import { mcpRows } from './mcp.ts'
import { policyRows } from './policy.ts'
import { postgresRows } from './postgres.ts'
import { scannerRows } from './scanner.ts'
import { startRows } from './start.ts'
import type { Row } from './measure.ts'

type Measure = (say: (line: string) => void) => AsyncIterable<Row>

/** All areas. */
const AREAS: Readonly<Record<string, Measure>> = {
  evidence: evidenceRows,
  kernel: kernelRows,
  gateway: gatewayRows,
  postgres: postgresRows,
  mcp: mcpRows,
  hook: hookRows,
  ladder: ladderRows,
  llm: llmRows,
  start: startRows,
  cli: cliRows,
  policy: policyRows,
  scanner: scannerRows,
  abuse: abuseRows,
  browser: browserRows,
}

// `sized` in measure.ts reads `tiny`, because sizes are constants.
const OPTIONS = {
  only: { type: 'string', multiple: true },
  json: { type: 'string' },
  tiny: { type: 'boolean' },
} as const

async function main(): Promise<number> {
  const { values } = parseArgs({ options: OPTIONS })
  const names = values.only ?? Object.keys(AREAS)
  const unknown = names.find((name) => !Object.hasOwn(AREAS, name))
  if (unknown !== undefined) {
    process.stderr.write(`bench: no area \`${unknown}\`; there are ${Object.keys(AREAS).join(', ')}\n`)
    return 2
  }
  const rows: Row[] = []
  for (const name of names) {
    for await (const row of AREAS[name]?.(say) ?? []) rows.push(row)
  }
  process.stdout.write(table(rows))
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(rows, null, 2)}\n`)
  return 0
}

/** Progress goes to standard error, so that standard output has only the table. */
function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

function table(rows: readonly Row[]): string {
  const header = ['area', 'what', 'value', 'floor', 'ratio', 'target', '']
  const cells = rows.map((row) => [
    row.area,
    row.name,
    `${shown(row.value)} ${row.unit}`,
    row.floor === null ? '' : `${shown(row.floor)} ${row.unit}`,
    row.ratio === null ? '' : row.ratio.toFixed(2),
    row.target,
    row.pass ? 'ok' : 'MISSED',
  ])
  const widths = header.map((name, i) => Math.max(name.length, ...cells.map((line) => line[i]?.length ?? 0)))
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, i) => text.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd()
  return `${[header, ...cells].map(line).join('\n')}\n`
}

function shown(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString('en-US') : value.toFixed(1)
}

process.exitCode = await main()
