// One or two faults of every kind; `syscalls.deep.ts` has all of them.

import { beforeAll, describe, expect, it } from 'vitest'
import { tell } from './rig.ts'
import {
  countCalls,
  createTemplate,
  noStrace,
  spread,
  strikeIn,
  sweep,
  UNTIL_MOVED,
  wrongIn,
  type FileOf,
  type Point,
  type Template,
} from './syscalls.ts'

const reason = noStrace()
if (reason !== undefined) tell('SKIPPED: faults in system calls', { [reason]: 'because' })

/** Points of one call on one file: each fault at its own positions. */
function points(call: string, on: FileOf, faults: Readonly<Record<string, readonly number[]>>): Point[] {
  return Object.entries(faults).flatMap(([fault, nths]) => nths.map((nth) => ({ call, on, fault, nth })))
}

describe('a fault in a trace', () => {
  const [journal, shm, folder] = ['9</t/journal>', '8</t/data/ledger.sqlite-shm>', '7</t/data>']
  const failed = (thread: number, call: string): string => `${thread} ${call}(6</t/x>) = -1 EIO (INJECTED)`
  const lock = (thread: number, type: string): string =>
    `${thread} fcntl(${shm}, F_SETLK, {l_type=${type}, l_whence=SEEK_SET, l_start=120, l_len=1}) = 0`
  const said = `10 writev(${journal}, [{iov_base="[\\"A\\",\\"5ec9e5"..., iov_len=70}], 2) = 71`
  const [reader, writer] = [11, 12]
  // The reader recovers the log, the writer opens; then one batch.
  const before = [lock(reader, 'F_WRLCK'), lock(reader, 'F_UNLCK'), `${writer} fsync(${folder}) = 0`]
  const batch = [lock(writer, 'F_WRLCK'), lock(writer, 'F_UNLCK'), said]

  it.each([
    ['a write', [failed(writer, 'pwrite64'), said], 'pwrite64', 1, 1, true],
    ['a sync', [...batch, failed(writer, 'fsync'), said, ...batch], 'fsync', 2, 2, true],
    ['a read of another thread', [failed(reader, 'pread64'), ...batch], 'pread64', 1, 0, false],
    ['a read of the writer, after its commit', [failed(writer, 'pread64'), said], 'pread64', 1, 0, true],
    [
      'a read of the writer, before a commit',
      [failed(writer, 'pread64'), said, ...batch],
      'pread64',
      2,
      1,
      true,
    ],
    [
      'a read of the writer, in a commit',
      [lock(writer, 'F_WRLCK'), failed(writer, 'pread64'), lock(writer, 'F_UNLCK'), said],
      'pread64',
      1,
      1,
      true,
    ],
    [
      'reads of both',
      [failed(reader, 'pread64'), said, failed(writer, 'pread64'), ...batch],
      'pread64',
      2,
      1,
      true,
    ],
  ] as const)('%s', (_, trace, call, followed, after, isWriter) => {
    expect(strikeIn([...before, ...trace], call)).toEqual({ followed, after, writer: isWriter })
  })

  it('is undefined if there was none', () => {
    expect(strikeIn([...before, ...batch], 'pread64')).toBeUndefined()
  })
})

describe.skipIf(reason !== undefined)('a failing system call', () => {
  let template: Template
  beforeAll(async () => {
    template = await createTemplate(60, { count: 3 })
  })

  it('loses no acknowledged receipt, fails all later calls, and is reported', async () => {
    const writes = await countCalls(template, 'pwrite64', 'log')
    const syncs = await countCalls(template, 'fsync', 'log')
    const findings = await sweep('faults in writes, syncs and opening', template, [
      ...points('pwrite64', 'log', {
        'error=EIO': spread(writes, 2),
        'error=ENOSPC': [Math.floor(writes / 2)],
        'error=EINTR': [3],
        'signal=KILL': [Math.floor(writes / 3)],
      }),
      ...points('fsync', 'log', {
        'error=EIO': spread(syncs, 2),
        'signal=KILL': [Math.floor(syncs / 2)],
      }),
      ...points('openat', 'file', { 'error=EACCES': [1] }),
      ...points('ftruncate', 'memory', { 'error=ENOSPC': [1] }),
      ...points('pwrite64', 'memory', { 'error=EIO': [1] }),
      // The later one is a read of a gateway that is open, or almost, in any of its threads.
      ...points('pread64', 'log', { 'error=EIO': [1, 66] }),
      ...points('pread64', 'file', { 'error=EIO': [1] }),
    ])
    expect(findings.flatMap((finding) => wrongIn(finding))).toEqual([])
    const reached = findings.filter(({ outcome }) => outcome !== 'unreached')
    expect(reached.length).toBeGreaterThanOrEqual(10)
    for (const outcome of ['refused', 'denied', 'killed', 'survived']) {
      expect(reached.map((finding) => finding.outcome)).toContain(outcome)
    }
  }, 600_000)

  it('in a directory sync fails everything: the log itself may be lost', async () => {
    const findings = await sweep('faults in syncing the directory', template, [
      ...points('fsync', 'directory', { 'error=EIO': [1] }),
    ])
    expect(findings.map(({ outcome }) => outcome)).not.toContain('unreached')
    expect(findings.flatMap((finding) => wrongIn(finding))).toEqual([])
  }, 600_000)

  it('while SQLite moves its log into the file fails everything', async () => {
    const findings = await sweep('faults in moving the log', { ...template, steps: UNTIL_MOVED }, [
      ...points('pwrite64', 'file', { 'error=EIO': [20] }),
      ...points('fsync', 'file', { 'error=EIO': [1] }),
    ])
    expect(findings.map(({ outcome }) => outcome)).not.toContain('unreached')
    expect(findings.flatMap((finding) => wrongIn(finding))).toEqual([])
  }, 600_000)
})
