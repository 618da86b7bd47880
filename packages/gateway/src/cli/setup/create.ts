// Creates a data directory. Each step runs only if its file is missing, and is reported.

import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { policyOf } from '@tollgate/kernel'
import { activatePolicy } from '@tollgate/kernel/admin'
import { parsePolicy } from '@tollgate/kernel/policy'
import { CONFIG_FILE, DEFAULT_PORT, defaultConfigText, readConfig, type Config } from '../../config/config.ts'
import { DEFAULT_SCHEMA, DEFAULT_WRITER } from '../../config/database.ts'
import { makeDirectory, requireUsable } from '../../directory.ts'
import { GatewayError } from '../../error.ts'
import { createKey, keysIn, listKeyFiles, openKeyring, type Keyring } from '../../keyring.ts'
import { hasLedger, LEDGERS, ledgerPlace } from '../../ledger-store.ts'
import { databaseSettings, foundLedger, type Gateway } from '../../open.ts'
import { placed } from '../policy/policy-file.ts'
import { localUser } from '../program/connect.ts'
import { STARTER_CASES, STARTER_POLICY } from './starter.ts'
import { UsageError } from '../program/terminal.ts'

/** A file or directory that was created. */
export interface Made {
  readonly what: string
  readonly where: string
}

interface CreateOptions {
  readonly port?: number
  readonly commit?: 'plain' | 'salted'
  /** The environment variable with the URL of the database, for a ledger in PostgreSQL. */
  readonly urlEnv?: string
  readonly passphrase?: string
}

const PARTS = [CONFIG_FILE, 'policy.yaml', 'keys']

/** Refuses a directory that contains a part of a gateway. @throws GatewayError `DATA_EXISTS`. */
export function refuseExisting(data: string): void {
  const ledger = LEDGERS.filter((name) => existsSync(join(data, name)))
  const found = [...PARTS.filter((name) => existsSync(join(data, name))), ...ledger]
  if (found.length === 0) return
  const whole = ledger.length > 0 && found.length > PARTS.length
  throw new GatewayError('DATA_EXISTS', `\`${data}\` already contains a gateway (${found.join(', ')})`, {
    hints: whole
      ? ['start it with `tollgate up` or `tollgate serve`', 'or create another with `--data DIR`']
      : ['it is incomplete: `tollgate up` creates the missing files', 'or create another with `--data DIR`'],
  })
}

/** Creates the missing parts of a data directory, including the ledger. Calls `made` for each part. */
export async function createData(
  directory: string,
  options: CreateOptions,
  made: (each: Made) => void,
): Promise<Config> {
  const data = resolve(directory)
  const file = (name: string): string => join(data, name)
  const isNew = !hasLedger(data)
  // Before anything is created: a database that cannot be used must leave nothing behind.
  if (options.urlEnv !== undefined) await requireDatabase(options.urlEnv)
  if (prepareDirectory(data)) made({ what: 'data directory', where: data })
  if (!existsSync(file(CONFIG_FILE))) {
    refuseOrphan(data, isNew)
    writeNew(file(CONFIG_FILE), configText(options))
    made({ what: 'gateway configuration', where: file(CONFIG_FILE) })
  }
  const config = readConfig(data)
  if (!existsSync(config.policy) && isNew) {
    writeNew(config.policy, STARTER_POLICY)
    made({ what: 'policy', where: config.policy })
    createCases(config.policy, made)
  }
  if (isNew) await createLedger(config, options.passphrase, made)
  return config
}

/** @throws GatewayError if the database cannot be reached, or cannot keep a ledger. */
async function requireDatabase(urlEnv: string): Promise<void> {
  await databaseSettings({ database: { urlEnv, schema: DEFAULT_SCHEMA, writer: DEFAULT_WRITER } })
}

/** Creates the test cases of a new policy. Existing cases stay unchanged. */
function createCases(policy: string, made: (each: Made) => void): void {
  if (!policy.endsWith('.yaml')) return
  const file = policy.replace(/\.yaml$/, '.test.yaml')
  if (existsSync(file)) return
  writeNew(file, STARTER_CASES)
  made({ what: 'policy test cases', where: file })
}

async function createLedger(
  config: Config,
  passphrase: string | undefined,
  made: (each: Made) => void,
): Promise<void> {
  const file = ledgerPlace(config)
  await databaseSettings(config)
  try {
    await foundLedger(config, () => {
      if (hasLedger(config.data)) throw new MadeMeanwhile()
      return createKeys(config, passphrase, made)
    })
  } catch (fault) {
    if (fault instanceof MadeMeanwhile) return
    throw fault
  }
  made({ what: `ledger ${config.ledger}`, where: file })
}

/** Another process created the ledger in the meantime. */
class MadeMeanwhile extends Error {}

async function createKeys(
  config: Config,
  passphrase: string | undefined,
  made: (each: Made) => void,
): Promise<Keyring> {
  refuseLost(config.data)
  for (const role of ['ledger', 'writer'] as const) {
    const { file } = await createKey(config.data, role, passphrase)
    made({ what: `${role} key, which signs ${role === 'ledger' ? 'checkpoints' : 'receipts'}`, where: file })
  }
  return openKeyring(config)
}

/** Refuses keys without their ledger: a new ledger with the same key would be a second history. */
function refuseLost(data: string): void {
  if (!existsSync(keysIn(data)) || listKeyFiles(keysIn(data)).length === 0) return
  throw new GatewayError('DATA_MISSING', `\`${data}\` has keys but no ledger`, {
    hints: [
      'restore `ledger.sqlite` from your backup: a new ledger with the same key would be a second history',
      `if an interrupted \`tollgate init\` left them, remove \`${keysIn(data)}\` and try again`,
    ],
  })
}

/** Creates the directory, or makes an empty one private. Returns whether it changed anything. */
function prepareDirectory(data: string): boolean {
  if (makeDirectory(data)) return true
  requireUsable(data)
  const loose = process.platform !== 'win32' && (statSync(data).mode & 0o077) !== 0
  if (!loose || readdirSync(data).length > 0) return false
  chmodSync(data, 0o700)
  return true
}

/** Refuses a ledger without its configuration: receipts contain the name of the ledger, and a new configuration has another one. */
function refuseOrphan(data: string, isNew: boolean): void {
  if (isNew) return
  throw new GatewayError('DATA_MISSING', `\`${data}\` has a ledger but no \`${CONFIG_FILE}\``, {
    hints: [`restore \`${CONFIG_FILE}\` from your backup: it contains the name of the ledger`],
  })
}

function writeNew(file: string, text: string): void {
  writeFileSync(file, text, { flag: 'wx', mode: 0o600, flush: true })
}

function configText({ port = DEFAULT_PORT, commit = 'plain', urlEnv }: CreateOptions): string {
  const database = urlEnv === undefined ? {} : { urlEnv }
  return defaultConfigText({ ledger: ledgerName(), port, commit, ...database })
}

function ledgerName(): string {
  const host =
    hostname()
      .split('.')[0]
      ?.toLowerCase()
      .replaceAll(/[^a-z0-9-]/g, '')
      .slice(0, 40) ?? ''
  return `tollgate.local/${host === '' ? 'host' : host}-${randomBytes(4).toString('hex')}`
}

/** Activates the policy file if the ledger has no policy yet. Returns the name of the policy it activated. */
export async function activateFirst(
  { kernel, config }: Gateway,
  text: string | undefined,
): Promise<string | undefined> {
  if (text === undefined || policyOf(kernel, config.tenant).text !== '') return undefined
  const parsed = parsePolicy(text)
  if (!parsed.ok) {
    const file = config.policy
    throw new GatewayError('CONFIG_INVALID', `\`${file}\` has mistakes, and no policy is in force`, {
      hints: placed(file, parsed.mistakes),
    })
  }
  await activatePolicy(kernel, parsed.policy, `local:${localUser()}`, config.tenant)
  return parsed.policy.name
}

/** Whether an admin token exists that outlives this run. */
export function hasAdmin({ tokens }: Gateway): boolean {
  return tokens.list().some(({ role, run }) => role === 'admin' && !run)
}

/** Issues the first admin token if there is none. It is shown once. */
export async function firstAdmin(gateway: Gateway): Promise<string | undefined> {
  if (hasAdmin(gateway)) return undefined
  const { tokens, config } = gateway
  const request = { role: 'admin', tenant: config.tenant, principal: `user:${localUser()}` } as const
  return (await tokens.issue(request, `local:${localUser()}`)).token
}

/** Returns the passphrase for new key files, if one is wanted. */
export function newPassphrase(wanted: boolean): string | undefined {
  const { TOLLGATE_KEY_PASSPHRASE: given = '' } = process.env
  if (!wanted) return undefined
  if (given !== '') return given
  throw new UsageError(
    '`--passphrase` reads the passphrase from the environment, and it is not set',
    'set TOLLGATE_KEY_PASSPHRASE',
  )
}
