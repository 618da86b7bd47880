// Disks that fill up: in-memory file systems of any size, and limits on file sizes.

import { spawnSync } from 'node:child_process'
import { afterEach, expect } from 'vitest'
import { createAudit, type Line } from './audit.ts'
import { readySite } from './kill.ts'
import { copySite, runLoad, unable } from './rig.ts'
import { ask, newFolder, type Site } from '../gateway-rig.ts'

/** Why no file system can be mounted here; undefined if one can. */
export function noMount(): string | undefined {
  const folder = newFolder()
  const reason = unable('mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', folder)
  if (reason === undefined) spawnSync('umount', [folder])
  return reason
}

const mounted: string[] = []
afterEach(() => {
  for (const folder of mounted.splice(0)) spawnSync('umount', ['-l', folder])
})

/** A folder on a separate disk of this many KiB. */
export function mountDisk(size: number): string {
  const folder = newFolder()
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}k`, 'none', folder])
  if (status !== 0) throw new Error(stderr.toString())
  mounted.push(folder)
  return folder
}

export function remount(folder: string, options: string): void {
  const { status, stderr } = spawnSync('mount', ['-o', `remount,${options}`, folder])
  if (status !== 0) throw new Error(stderr.toString())
}

/** Checks after a full disk: acknowledged receipts exist, the rest was denied with a reason, and a new start works. */
async function check(
  site: Site,
  lines: readonly Line[],
  code: number | string,
  reason: RegExp,
): Promise<number> {
  const audit = createAudit(site)
  expect([0, 3]).toContain(code)
  const said = lines.find(([what]) => what === 'X' || what === 'P')
  expect(String(said?.slice(1).join(' '))).toMatch(reason)
  const first = lines.findIndex(([what]) => what === 'N' || what === 'T')
  expect(
    lines.slice(first < 0 ? lines.length : first).filter(([what]) => /^[ADC]$/.test(String(what))),
  ).toEqual([])
  for (const [what, why] of lines) if (what === 'N') expect(why).toBe('LEDGER_UNAVAILABLE')
  await audit.check(lines)
  return audit.violations.length === 0 ? audit.counts.acknowledged : expect.fail(audit.violations.join('\n'))
}

/** A new start decides calls. */
export async function goesOn(site: Site): Promise<void> {
  const gateway = await site.open()
  expect((await ask(gateway)).decided).toMatchObject({ verdict: 'ALLOW' })
  await gateway.close()
}

/** Fills a disk of this many KiB, frees space and starts again. Returns the number of acknowledged receipts. */
export async function fillDisk(template: Site, size: number): Promise<number> {
  const disk = mountDisk(size)
  const site = await copySite({ ...template, config: { ...template.config, headGuard: undefined } }, disk)
  const { lines, code } = await runLoad(site, { mode: 'steps', count: 120 })
  // The shared memory of the log is a file too, and SQLite has no other message if it cannot grow.
  const acknowledged = await check(site, lines, code, /the disk is full|I\/O error/)
  remount(disk, 'size=16m')
  await goesOn(site)
  return acknowledged
}

/** Limits file sizes to this many KiB, then starts again without the limit. Returns the number of acknowledged receipts. */
export async function fillFile(limit: number): Promise<number> {
  const site = await readySite()
  // In units of 512 bytes.
  const under = ['sh', '-c', `ulimit -f ${2 * limit}; exec "$0" "$@"`]
  const { lines, code } = await runLoad(site, { mode: 'steps', count: 120, under })
  const acknowledged = await check(site, lines, code, /could not be (?:read or )?written/)
  await goesOn(site)
  return acknowledged
}
