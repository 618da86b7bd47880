// Bit rot: changes one byte of a stopped ledger file. Either the content is unchanged or fsck finds it, and opening is at
// worst refused.

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { createTree, leafHash, parseCheckpoint, sha256Hex, toHex } from '@tollgate/evidence'
import { KernelError } from '@tollgate/kernel'
import { GatewayError } from '../../src/error.ts'
import { fsckLedger } from '../../src/open.ts'
import { readySite, settle } from './kill.ts'
import { ask, report, type Site } from '../gateway-rig.ts'

/** A stopped ledger and its content. */
export interface Specimen {
  readonly site: Site
  readonly bytes: Uint8Array
  readonly content: ReadonlyMap<string, string>
  readonly leaves: readonly Uint8Array[]
}

/** The result of one changed byte. */
export interface Rot {
  readonly offset: number
  /** Tables (or `schema`) whose content changed although fsck finds nothing. */
  readonly hidden: readonly string[]
  readonly found: boolean
  /** Other violations: an error without a code, a signature on wrong content. */
  readonly violations: readonly string[]
}

/** A ledger with `calls` calls: of several sessions, some reported, one open, and a token. */
export async function createSpecimen(calls: number): Promise<Specimen> {
  const site = await readySite()
  const gateway = await site.open()
  await gateway.tokens.issue({ role: 'agent', tenant: 'default', principal: 'agent:a' }, 'user:test')
  const asked = await Promise.all(
    Array.from({ length: calls }, (_, i) => ask(gateway, 'notes/read', { i }, `s${i % 3}`)),
  )
  await Promise.all(asked.slice(1).map(({ decided }) => report(gateway, decided.receipt ?? '')))
  const leaves = (await gateway.view.envelopes(0, 1000)).map((envelope) => leafHash(envelope))
  await gateway.close()
  settle(site)
  const file = fileOf(site)
  const bytes = readFileSync(file)
  return { site, bytes, content: contentOf(file) ?? new Map<string, string>(), leaves }
}

function fileOf({ config }: Site): string {
  return join(config.data, 'ledger.sqlite')
}

/** The content of a file, by table; undefined if it cannot be read completely. */
function contentOf(file: string): Map<string, string> | undefined {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const schema = db.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid').all()
    const content = new Map([['schema', digest(schema)]])
    for (const { type, name } of schema) {
      if (type === 'table')
        content.set(String(name), digest(db.prepare(`SELECT * FROM "${String(name)}"`).all()))
    }
    return content
  } catch {
    // Damage that prevents reading must be reported by fsck.
    return undefined
  } finally {
    db.close()
  }
}

function digest(rows: readonly unknown[]): string {
  const shown = (_: string, value: unknown): unknown => (value instanceof Uint8Array ? toHex(value) : value)
  return sha256Hex(JSON.stringify(rows, shown))
}

/** Changes one byte, checks what is found and, with `open`, whether it can be opened. */
export async function rot(specimen: Specimen, offset: number, change: number, open: boolean): Promise<Rot> {
  const { site, bytes, content } = specimen
  const changed = Uint8Array.from(bytes)
  changed[offset] = (changed[offset] ?? 0) ^ change
  put(site, changed)
  const violations: string[] = []
  const found = await isFound(site, violations)
  const now = contentOf(fileOf(site))
  const hidden = found
    ? []
    : [...content].filter(([table, said]) => now?.get(table) !== said).map(([table]) => table)
  if (open || !found) {
    put(site, changed)
    await checkOpening(specimen, violations)
  }
  return { offset, hidden, found, violations: violations.map((violation) => `byte ${offset}: ${violation}`) }
}

function put(site: Site, bytes: Uint8Array): void {
  for (const end of ['', '-wal', '-shm']) rmSync(fileOf(site) + end, { force: true })
  writeFileSync(fileOf(site), bytes)
}

async function isFound({ config }: Site, violations: string[]): Promise<boolean> {
  try {
    return !(await fsckLedger({ ...config, headGuard: undefined }, () => undefined)).ok
  } catch (cause) {
    if (!(cause instanceof GatewayError)) violations.push(`fsck throws what has no code: ${String(cause)}`)
    return true
  }
}

/** Opening is refused with a code, or only correct content and later additions are signed. */
async function checkOpening({ site, leaves }: Specimen, violations: string[]): Promise<void> {
  // The head guard would refuse content that an earlier byte accepted.
  rmSync(site.config.headGuard ?? '', { recursive: true, force: true })
  try {
    const gateway = await site.open()
    await ask(gateway)
    const { size, root } = parseCheckpoint(await gateway.checkpoint())
    const newer = await gateway.view.envelopes(leaves.length, size)
    await gateway.close()
    const tree = createTree()
    for (const leaf of [...leaves, ...newer.map((envelope) => leafHash(envelope))]) tree.append(leaf)
    if (tree.size !== size || toHex(tree.root()) !== toHex(root))
      violations.push('it signs what is not the truth')
  } catch (cause) {
    const coded = cause instanceof GatewayError || cause instanceof KernelError
    if (!coded) violations.push(`opening throws what has no code: ${String(cause)}`)
  }
}
