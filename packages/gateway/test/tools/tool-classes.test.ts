// Measures the guessed effect classes with real tools of public servers. Only the numbers of docs/policy.md say how the guesses do
// with unseen tools: each part there was labelled first and measured once. Since then, the rows of all parts were read.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { EffectClass, JsonObject } from '@tollgate/evidence'
import { describe, expect, test } from 'vitest'
import { guess } from '../../src/tools/effect.ts'

interface Row {
  readonly server: string
  readonly tool: string
  readonly description: string
  readonly arguments: readonly string[]
  /** The values of arguments that have a list of values. */
  readonly choices?: Readonly<Record<string, readonly string[]>>
  readonly annotations?: JsonObject
  readonly effect: EffectClass
}

function rowsOf(file: string): readonly Row[] {
  return (
    readFileSync(new URL(file, import.meta.url), 'utf8')
      .trim()
      .split('\n')
      // Sound: the tables are ours, and a row of another form would fail the measurement.
      .map((line) => JSON.parse(line) as Row)
  )
}

const rows = rowsOf('tool-classes.jsonl')
// With whole descriptions, as listed by the servers.
const listed = rowsOf('listed-tool-classes.jsonl')
// A random sample of packages.
const sampled = rowsOf('sampled-tool-classes.jsonl')
const fresh = rowsOf('fresh-tool-classes.jsonl')

/** Whether the words were also chosen with a server's tools. */
function isTuning({ server }: Row): boolean {
  return (createHash('sha256').update(server).digest()[0] ?? 0) % 2 === 0
}

function guessed({ server, tool, description, annotations, choices, arguments: names }: Row): EffectClass {
  const properties = Object.fromEntries(
    names.map((name): [string, JsonObject] => [name, choices?.[name] ? { enum: [...choices[name]] } : {}]),
  )
  const inputSchema = { type: 'object', properties }
  return guess(tool, { name: tool, description, inputSchema, ...(annotations && { annotations }) }, server)
    .effect
}

/** The share of right classes in percent, and how many tools that act were taken for reads. */
function measured(part: readonly Row[]): { readonly right: number; readonly milder: number } {
  const right = part.filter((row) => guessed(row) === row.effect).length
  const milder = part.filter((row) => row.effect !== 'read' && guessed(row) === 'read').length
  return { right: (100 * right) / part.length, milder }
}

// Only numbers are compared, so that a failure prints no row of a part that was measured last.
describe('the effect classes of real tools are right, and hardly any tool that acts is called a read', () => {
  const parts: readonly (readonly [number, string, number, number, readonly Row[]])[] = [
    [95.5, 'the 865 tools of the first table', 865, 0, rows],
    [93, 'the 502 listed tools', 502, 0, listed],
    [95, 'the 272 sampled tools that the words were chosen with', 272, 0, sampled.filter(isTuning)],
    [76, 'the 225 sampled tools that were measured', 225, 2, sampled.filter((row) => !isTuning(row))],
    [87, 'the 162 tools that were measured last', 162, 0, fresh],
  ]
  test.each(parts)('for %d percent of %s', (least, _, size, milder, part) => {
    expect(part).toHaveLength(size)
    expect(measured(part).right).toBeGreaterThanOrEqual(least)
    expect(measured(part).milder).toBeLessThanOrEqual(milder)
  })
})
