// `tollgate keys`: the keys that sign, on the machine of the gateway.

import process from 'node:process'
import { importPublicKey, parseReceipt, type KeyChange } from '@tollgate/evidence'
import { readConfig, type Config } from '../../config/config.ts'
import {
  createKey,
  keyPassphrase,
  keysIn,
  listKeyFiles,
  openKeyring,
  removeKey,
  type KeyRole,
} from '../../keyring.ts'
import { isRunning, openView } from '../../open.ts'
import type { Rotation } from '../../rotate.ts'
import type { LedgerView } from '../../view.ts'
import type { DataOptions } from '../commands.ts'
import { dataOf } from '../program/connect.ts'
import { table } from '../program/table.ts'
import { CommandError, type Terminal } from '../program/terminal.ts'

/** How a key stands by the ledger. */
type KeyStanding = 'in service' | 'retired' | 'unknown to the ledger'

/** Lists the key files, and how the ledger sees them. Needs no passphrase. */
export async function runList(terminal: Terminal, options: DataOptions): Promise<number> {
  const config = readConfig(dataOf(options))
  const opened = await openView(config)
  try {
    const known = await keysOnLedger(opened.view)
    const keys = listKeyFiles(keysIn(config.data)).map(({ role, id, file }) => ({
      role,
      id: [...known.keys()].find((each) => each.startsWith(id)) ?? id,
      standing: standingOf(known, id),
      file,
    }))
    terminal.data({ keys }, () =>
      table(
        ['ROLE', 'ID', 'STANDING', 'FILE'],
        keys.map(({ role, id, standing, file }) => [role, id.slice(0, 16), standing, file]),
      ),
    )
    return 0
  } finally {
    await opened.close()
  }
}

/** Every key that the ledger ever knew, by its id, and whether it is in service. */
export async function keysOnLedger(view: LedgerView): Promise<ReadonlyMap<string, boolean>> {
  const known = new Map<string, boolean>()
  for (const index of await view.indexesOf(['genesis', 'key'])) {
    const [envelope] = await view.envelopes(index, index + 1)
    const receipt = envelope && parseReceipt(envelope).receipt
    // Sound: only these two kinds were asked for, and both name a public key.
    const {
      kind,
      op,
      public_key: key,
    } = receipt as KeyChange | (Omit<KeyChange, 'kind' | 'op'> & { kind: 'genesis'; op?: never })
    known.set(importPublicKey(key).id, kind === 'genesis' || op === 'add')
  }
  return known
}

/** How the ledger sees the key whose id begins so. */
export function standingOf(known: ReadonlyMap<string, boolean>, id: string): KeyStanding {
  const [, active] = [...known].find(([each]) => each.startsWith(id)) ?? []
  return active === undefined ? 'unknown to the ledger' : active ? 'in service' : 'retired'
}

interface RotateOptions extends DataOptions {
  readonly ledger?: boolean
}

/** Replaces a key. */
export async function runRotate(terminal: Terminal, options: RotateOptions): Promise<number> {
  const config = readConfig(dataOf(options))
  if (await isRunning(config)) {
    throw new CommandError(
      `a gateway runs on \`${config.data}\``,
      'stop it, rotate the key, and start it again',
    )
  }
  const role = options.ledger === true ? 'ledger' : 'writer'
  const { added, retired } = await rotate(config, role)
  terminal.data({ role, added, retired }, added)
  terminal.say(`the ${role} key ${added.slice(0, 8)} is in service, and ${retired.slice(0, 8)} is retired`)
  if (role === 'ledger') terminal.say('hand out the trust file anew: `tollgate keys trust`')
  return 0
}

async function rotate(config: Config, role: KeyRole): Promise<Rotation> {
  const { rotateKey } = await import('../../rotate.ts')
  const keyring = await openKeyring(config)
  const fresh = await createKey(config.data, role, await keyPassphrase(config))
  let rotation
  try {
    rotation = await rotateKey(config, keyring, fresh)
  } catch (fault) {
    // A key that the ledger does not know is good for nothing; one that it may know is kept.
    if (!(await mayBeOnLedger(config, fresh.publicKey.id))) removeKey(fresh)
    throw fault
  }
  // It signs nothing any more. A crash before this leaves a file that `tollgate keys list` calls retired.
  const old = keyring.keys.find(({ publicKey }) => publicKey.id === rotation.retired)
  if (old) removeKey(old)
  return rotation
}

async function mayBeOnLedger(config: Config, id: string): Promise<boolean> {
  try {
    const opened = await openView(config)
    return (await keysOnLedger(opened.view).finally(() => opened.close())).has(id)
  } catch {
    return true
  }
}

/** Makes the key that encrypts kept calls, if it is missing. */
export async function runSeal(terminal: Terminal, options: DataOptions): Promise<number> {
  const config = readConfig(dataOf(options))
  const { createSealKey, readSealKey } = await import('../../seal-key.ts')
  const made = createSealKey(config)
  // One that cannot be used is told as such.
  readSealKey(config)
  const { keyFile } = config.keep
  terminal.data({ file: keyFile, made }, keyFile)
  terminal.say(
    made ? 'made a new key; back it up apart from the data' : 'the key is there; nothing was changed',
  )
  return 0
}

/** Prints the trust file. */
export async function runTrust(terminal: Terminal, options: DataOptions): Promise<number> {
  const opened = await openView(readConfig(dataOf(options)))
  try {
    // It is JSON by itself.
    const trust = await opened.trust()
    process.stdout.write(trust)
    if (process.stdout.isTTY)
      terminal.say('give it to auditors by another way than the packs: it is what makes them believable')
    return 0
  } finally {
    await opened.close()
  }
}
