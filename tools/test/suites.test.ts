// The suites of invented tools: frozen, and of the form that the replay reads.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createPlayer } from '../../bench/replay/play.ts'
import { readRuns, type Run } from '../../bench/replay/runs.ts'
import { INVENTED } from '../../bench/replay/suites.ts'
import { draftFor, parsed } from '../../bench/replay/tools.ts'

async function runsOf(file: string): Promise<readonly Run[]> {
  const runs: Run[] = []
  for await (const run of readRuns(file)) runs.push(run)
  return runs
}

describe.each(INVENTED)('$file', ({ file, sha256 }) => {
  it('is still what was frozen', () => {
    expect(createHash('sha256').update(readFileSync(file)).digest('hex')).toBe(sha256)
  })

  it('has runs of every label, and injected texts in what the attacked ones read', async () => {
    const runs = await runsOf(file)
    const labels = runs.map(({ label }) => label)
    for (const label of ['benign', 'direct', 'hijacked', 'resisted']) {
      expect(labels.filter((each) => each === label).length).toBeGreaterThan(30)
    }
    const wrong = runs.filter(({ label, injections, steps }) => {
      const isAttacked = label === 'hijacked' || label === 'resisted'
      const isRead = injections.every((text) => steps.some(({ output = '' }) => output.includes(text)))
      return injections.length > 0 !== isAttacked || !isRead
    })
    expect(wrong.map(({ id }) => id)).toEqual([])
  })

  it('has no benign run that the draft denies', async () => {
    const runs = await runsOf(file)
    for (const suite of new Set(runs.map((run) => run.suite))) {
      const own = runs.filter((run) => run.suite === suite)
      const player = createPlayer(parsed(draftFor(suite, own)))
      const denied: string[] = []
      for (const run of own.filter(({ label }) => label === 'benign')) {
        const decided = await player.play(run)
        if (decided.some(({ verdict }) => verdict === 'DENY')) denied.push(run.id)
      }
      expect(denied).toEqual([])
    }
  })
})
