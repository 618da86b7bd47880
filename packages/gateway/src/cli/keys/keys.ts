// `tollgate keys`: manages the key files of the gateway.

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
import { dataOf, ledgerIn, sayPlace } from '../program/connect.ts'
import { placeOf } from '../program/logins.ts'
import { shown, table } from '../program/table.ts'
import { unlockToken } from '../program/unlock.ts'
import { CommandError, type Terminal } from '../program/terminal.ts'

type KeyStatus = 'in service' | 'retired' | 'unknown to the ledger'

/** Reads the configuration, and names its ledger. */
function configOf(options: DataOptions): Config {
  const config = readConfig(dataOf(options))
  sayPlace(options, ledgerIn(config.data))
  return config
}

/** Lists the key files and their status. Needs no passphrase. */
export async function runList(terminal: Terminal, options: DataOptions): Promise<number> {
  const config = configOf(options)
  const opened = await openView(config)
  try {
    const known = await keysOnLedger(opened.view)
    const keys = listKeyFiles(keysIn(config.data)).map(({ role, id, file }) => ({
      role,
      id: [...known.keys()].find((each) => each.startsWith(id)) ?? id,
      standing: keyStatus(known, id),
      file,
    }))
    terminal.data({ keys }, () =>
      table(
        ['ROLE', 'ID', 'STATUS', 'FILE'],
        keys.map(({ role, id, standing, file }) => [role, id.slice(0, 16), standing, file]),
      ),
    )
    return 0
  } finally {
    await opened.close()
  }
}

/** Returns every key in the ledger by id, and whether it is in service. */
export async function keysOnLedger(view: LedgerView): Promise<ReadonlyMap<string, boolean>> {
  const known = new Map<string, boolean>()
  for (const index of await view.indexesOf(['genesis', 'key'])) {
    const [envelope] = await view.envelopes(index, index + 1)
    const receipt = envelope && parseReceipt(envelope).receipt
    // Sound: only these two kinds are read, and both contain a public key.
    const {
      kind,
      op,
      public_key: key,
    } = receipt as KeyChange | (Omit<KeyChange, 'kind' | 'op'> & { kind: 'genesis'; op?: never })
    known.set(importPublicKey(key).id, kind === 'genesis' || op === 'add')
  }
  return known
}

/** Returns the status of the key whose id starts with `id`. */
export function keyStatus(known: ReadonlyMap<string, boolean>, id: string): KeyStatus {
  const [, active] = [...known].find(([each]) => each.startsWith(id)) ?? []
  return active === undefined ? 'unknown to the ledger' : active ? 'in service' : 'retired'
}

interface RotateOptions extends DataOptions {
  readonly ledger?: boolean
}

/** Replaces a key. */
export async function runRotate(terminal: Terminal, options: RotateOptions): Promise<number> {
  const config = configOf(options)
  if (await isRunning(config)) {
    throw new CommandError(
      `a gateway runs on \`${config.data}\``,
      'stop it, rotate the key, then start it again',
    )
  }
  await unlockToken(placeOf({ data: config.data }))
  const role = options.ledger === true ? 'ledger' : 'writer'
  const { added, retired, file } = await rotate(config, role)
  terminal.data({ role, added, retired }, added)
  terminal.say(`${role} key ${added.slice(0, 8)} is in service; ${retired.slice(0, 8)} is retired`)
  if (role === 'ledger') terminal.say('send auditors the new trust file: `tollgate keys trust`')
  if (file !== undefined) {
    terminal.say(`older backups need the retired key: keep \`${shown(file)}\`, or delete it with the backups`)
  }
  return 0
}

async function rotate(config: Config, role: KeyRole): Promise<Rotation & { readonly file?: string }> {
  const { rotateKey } = await import('../../rotate.ts')
  const keyring = await openKeyring(config)
  const fresh = await createKey(config.data, role, await keyPassphrase(config))
  let rotation
  try {
    rotation = await rotateKey(config, keyring, fresh)
  } catch (fault) {
    // Remove the new key only if the ledger certainly does not contain it.
    if (!(await mayBeOnLedger(config, fresh.publicKey.id))) removeKey(fresh)
    throw fault
  }
  // The old key file stays: a backup made before the rotation has that key in service, and opens only with it.
  const old = keyring.keys.find(({ publicKey }) => publicKey.id === rotation.retired)
  return { ...rotation, ...(old && { file: old.file }) }
}

async function mayBeOnLedger(config: Config, id: string): Promise<boolean> {
  try {
    const opened = await openView(config)
    return (await keysOnLedger(opened.view).finally(() => opened.close())).has(id)
  } catch {
    return true
  }
}

/** Creates the key that encrypts kept calls, if it is missing. */
export async function runSeal(terminal: Terminal, options: DataOptions): Promise<number> {
  const config = configOf(options)
  const { createSealKey, readSealKey } = await import('../../seal-key.ts')
  const created = createSealKey(config)
  // Throws if the key is not usable.
  readSealKey(config)
  const { keyFile } = config.keep
  terminal.data({ file: keyFile, made: created }, keyFile)
  terminal.say(
    created
      ? 'created a new key; back it up separately from the data'
      : 'the key exists; nothing was changed',
  )
  return 0
}

/** Prints the trust file. */
export async function runTrust(terminal: Terminal, options: DataOptions): Promise<number> {
  const opened = await openView(configOf(options))
  try {
    const trust = await opened.trust()
    process.stdout.write(trust)
    if (process.stdout.isTTY) terminal.say('send it to auditors separately from the packs')
    return 0
  } finally {
    await opened.close()
  }
}
