import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { readySite } from './kill.ts'
import { runLoad, tell } from './rig.ts'
import { noStrace } from './syscalls.ts'
import { newFolder } from '../gateway-rig.ts'

const reason = noStrace()
if (reason !== undefined) tell('SKIPPED: counting syncs', { [reason]: 'because' })

const CALLS = 'trace=fsync,fdatasync,rename,renameat,renameat2,writev'

/** Every sync, rename and journal line, in order. */
function underTrace(log: string): readonly string[] {
  return ['strace', '-f', '-y', '-qq', '--seccomp-bpf', '-s', '200', '-o', log, '-e', CALLS]
}

function linesOf(log: string): readonly string[] {
  return readFileSync(log, 'utf8').split('\n')
}

const isSync = (line: string): boolean => / f(?:data)?sync\(\d+<.*\.sqlite-wal>/.test(line)

/** How often a plain SQLite file is synced for this many commits, with these settings. */
function syncsOfPlain(synchronous: string, commits: number): number {
  const folder = newFolder()
  const log = join(folder, 'trace')
  const program = `
    import { DatabaseSync } from '@photostructure/sqlite'
    const db = new DatabaseSync(${JSON.stringify(join(folder, 'plain.sqlite'))})
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; CREATE TABLE t (a)')
    for (let i = 0; i < ${commits}; i++) db.exec('INSERT INTO t VALUES (1)')
    process.kill(process.pid, 'SIGKILL')`
  const args = [...underTrace(log), process.execPath, '--input-type=module', '-e', program]
  // Run from here, so that the driver is found.
  spawnSync('strace', args.slice(1), { cwd: import.meta.dirname })
  return linesOf(log).filter(isSync).length
}

describe.skipIf(reason !== undefined)('a commit', () => {
  it('is always synced before its contents are acknowledged', async () => {
    const site = await readySite()
    const log = join(newFolder(), 'trace')
    const { lines, code } = await runLoad(site, { mode: 'steps', count: 20, under: underTrace(log) })
    expect(code).toBe(0)
    const commits = Number(lines.find(([what]) => what === 'B')?.[1])
    const known = new Set<string>()
    let [synced, early] = [0, 0]
    for (const line of linesOf(log)) {
      if (isSync(line)) synced++
      // A running tool implies that its decision is durable, like an acknowledgement.
      const id = /journal>, .*"\[\\"[DA]\\",\\"([0-9a-f]{64})/.exec(line)?.[1]
      if (id === undefined || known.has(id)) continue
      known.add(id)
      if (known.size > synced) early++
    }
    expect(early).toBe(0)
    // Sequential calls share no batch: each decision and each effect is one commit.
    expect(known.size).toBe(commits)
    expect(commits).toBeGreaterThanOrEqual(30)
    expect(synced).toBeGreaterThanOrEqual(commits)
    tell('syncs', { commits, syncs: synced, acknowledged: known.size })
  }, 60_000)

  it('of a plain file shows its durability by the number of syncs', () => {
    const [full, normal, off] = ['FULL', 'NORMAL', 'OFF'].map((mode) => syncsOfPlain(mode, 20))
    expect(full).toBeGreaterThanOrEqual(20)
    expect(normal).toBeLessThan(5)
    expect(off).toBe(0)
    tell('syncs of 20 plain commits', { FULL: full, NORMAL: normal, OFF: off })
  }, 60_000)

  it('is followed by a head that is synced before it is renamed in the head guard', async () => {
    const site = await readySite()
    const log = join(newFolder(), 'trace')
    await runLoad(site, { mode: 'steps', count: 2, under: underTrace(log) })
    const lines = linesOf(log).filter((line) => line.includes('.head'))
    const renamed = lines.filter((line) => line.includes(' rename'))
    const synced = lines.filter((line) => / f(?:data)?sync\(/.test(line))
    expect(renamed.length).toBeGreaterThan(0)
    expect(synced.length).toBeGreaterThanOrEqual(renamed.length)
  }, 60_000)
})
