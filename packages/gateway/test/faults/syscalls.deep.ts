import { beforeAll, describe, expect, it } from 'vitest'
import { tell } from './rig.ts'
import {
  countCalls,
  createTemplate,
  noStrace,
  spread,
  sweep,
  UNTIL_MOVED,
  wrongIn,
  type FileOf,
  type Point,
  type Template,
} from './syscalls.ts'

const reason = noStrace()
if (reason !== undefined) tell('SKIPPED: every fault in system calls', { [reason]: 'because' })

const FAULTS = [
  'error=EIO',
  'error=EMFILE',
  'error=EACCES',
  'error=ENOSPC',
  'error=EDQUOT',
  'error=EINTR',
  'error=EROFS',
  'signal=KILL',
]
const CALLS: readonly (readonly [string, FileOf])[] = [
  ['pwrite64', 'log'],
  ['fsync', 'log'],
  ['pread64', 'log'],
  ['pwrite64', 'memory'],
  ['ftruncate', 'memory'],
  ['openat', 'memory'],
  ['openat', 'log'],
  ['openat', 'file'],
  ['pread64', 'file'],
]

async function everyPoint(template: Template, call: string, on: FileOf, most: number): Promise<Point[]> {
  const count = await countCalls(template, call, on)
  return FAULTS.flatMap((fault) => spread(count, most).map((nth) => ({ call, on, fault, nth })))
}

describe.skipIf(reason !== undefined)('every failing system call', () => {
  let template: Template
  beforeAll(async () => {
    template = await createTemplate(60, { count: 4 })
  })

  it.each(CALLS)('%s on the %s', async (call, on) => {
    const points = await everyPoint(template, call, on, 120)
    const findings = await sweep(`every ${call} on the ${on}`, template, points)
    expect(findings.flatMap((finding) => wrongIn(finding))).toEqual([])
  })

  it.each([
    ['pwrite64', 'file'],
    ['fsync', 'file'],
    ['ftruncate', 'file'],
  ] as const)('%s on the %s while SQLite moves its log', async (call, on) => {
    const long = { ...template, steps: UNTIL_MOVED }
    const points = await everyPoint(long, call, on, 20)
    const findings = await sweep(`every ${call} on the ${on}, moving the log`, long, points)
    expect(findings.flatMap((finding) => wrongIn(finding))).toEqual([])
  })

  it('a sync of the directory', async () => {
    const points = FAULTS.map((fault) => ({ call: 'fsync', on: 'directory', fault, nth: 1 }) as const)
    const findings = await sweep('every fault in syncing the directory', template, points)
    expect(findings.map(({ outcome }) => outcome)).not.toContain('unreached')
    expect(findings.flatMap((finding) => wrongIn(finding))).toEqual([])
  })

  it('a sync while a checkpoint is stored', async () => {
    const slow = { ...template, steps: { count: 4, pause: 500 } }
    const points = await everyPoint(slow, 'fsync', 'log', 12)
    const findings = await sweep('every sync around a kept checkpoint', slow, points)
    expect(findings.flatMap((finding) => wrongIn(finding))).toEqual([])
  })

  it('a sync that takes longer than a minute', async () => {
    const point = { call: 'fsync', on: 'log', fault: 'delay_exit=63000000', nth: 3 } as const
    const [finding] = await sweep('a disk that hangs', template, [point])
    expect(finding?.violations).toEqual([])
    expect(finding).toMatchObject({ outcome: 'denied', after: 0 })
    expect(finding?.reason).toMatch(/did not respond for 60 seconds/)
  })
})
