// Two tables of commands with their facts and verdicts. The second was labelled before the reader saw it.

import { describe, expect, it } from 'vitest'
import { readTable, wrongLines } from './corpus.ts'

describe.each(['commands-tuned.txt', 'commands-held.txt'])('%s', (name) => {
  const lines = readTable(name)

  it('has different commands', () => {
    expect(new Set(lines.map(({ command }) => command)).size).toBe(lines.length)
  })

  it('is right', async () => {
    expect(await wrongLines(lines)).toEqual([])
  })
})

it('the tables have at least 400 commands, at least 160 of which are allowed', () => {
  const all = ['commands-tuned.txt', 'commands-held.txt'].flatMap(readTable)
  expect(all.length).toBeGreaterThanOrEqual(400)
  expect(all.filter(({ verdict }) => verdict === 'allow').length).toBeGreaterThanOrEqual(160)
})
