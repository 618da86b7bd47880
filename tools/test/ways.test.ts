// One call in each way through the built product, instrumented. Needs the build. `UPDATE_WAYS=1` writes what was measured into
// ARCHITECTURE.md instead of holding it against it.

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { instrument } from '../ways/instrument.ts'
import { waysIn, withWays, wayLine } from '../ways/document.ts'
import { measureWays } from '../ways/measure.ts'
import { WAYS, type WayName } from '../ways/run.ts'
import { wayIn, type Step, type Way } from '../ways/trace.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const DOCUMENT = `${root}ARCHITECTURE.md`

describe('ARCHITECTURE.md', () => {
  let ways: ReadonlyMap<WayName, Way>

  beforeAll(async () => {
    ways = await measureWays(root)
    if (process.env.UPDATE_WAYS !== '1') return
    const lines = new Map([...ways].map(([name, { rooms }]) => [name, wayLine(rooms)]))
    writeFileSync(DOCUMENT, withWays(readFileSync(DOCUMENT, 'utf8'), lines))
  })

  it.each(WAYS)('has the rooms of a call by %s in the order in which it enters them', (name) => {
    const measured = wayLine(ways.get(name)?.rooms ?? [])
    expect(measured, 'run `UPDATE_WAYS=1 npx vitest run tools/test/ways.test.ts` if this is meant').toBe(
      waysIn(readFileSync(DOCUMENT, 'utf8')).get(name),
    )
  })

  it('is right that every way takes the one road, past the gates and the policy, to the store', () => {
    for (const { rooms } of ways.values()) {
      expect(rooms).toEqual(expect.arrayContaining(['road', 'gates', 'policy', 'ledger', 'store']))
    }
  })
})

const DOOR = 'packages/gateway/src/api/node.ts'
const ROAD = 'packages/kernel/src/road/enforce.ts'

/** Steps of thread `1`, one nanosecond after another. */
function steps(...details: readonly string[]): readonly Step[] {
  return details.map((detail, at) => ({
    time: BigInt(at),
    thread: '1',
    what: detail.startsWith('packages/') ? 'enter' : detail === 'response' ? 'sent' : 'parse',
    detail,
  }))
}

describe('a way', () => {
  it('has each room once, and at its end the one that answers', () => {
    const way = wayIn(steps(DOOR, ROAD, DOOR, ROAD, DOOR, 'response'), { from: 0n, to: 9n })
    expect(way).toMatchObject({ rooms: ['api', 'road', 'api'], hops: 4, files: 2, threads: 1 })
  })

  it('ends with its answer, and begins with its request', () => {
    const way = wayIn(steps(ROAD, DOOR, 'parseJson', 'response', ROAD, 'parseJson'), { from: 1n, to: 9n })
    expect(way).toMatchObject({ rooms: ['api'], hops: 0, parses: { parseJson: 1 } })
  })
})

describe('an instrumented file', () => {
  it('says for each function that it is entered, and is otherwise the same', () => {
    const text = 'function a() { return b(() => ({ c: 1 })) }\nclass D { get e() { return 2 } }\n'
    expect(instrument('x.ts', text).replace(/^import .*?;/, '')).toBe(
      'function a() {__enter("x.ts"); return b(() => (__enter("x.ts"),({ c: 1 }))) }\n' +
        'class D { get e() {__enter("x.ts"); return 2 } }\n',
    )
  })

  it('also says what a parser is given', () => {
    expect(instrument('x.ts', 'function parseJson(text) {}')).toContain(
      '__parse("parseJson", arguments[0]);}',
    )
  })
})
