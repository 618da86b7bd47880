// Reads and writes the private keys of a gateway: one PKCS#8 PEM file per key, readable only by this user, with or without a
// passphrase.

import { execFile } from 'node:child_process'
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
  type Stats,
} from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { importSigningKey, type PublicKey } from '@tollgate/evidence'
import type { Config } from './config/config.ts'
import { makeDirectory, syncPath } from './directory.ts'
import { GatewayError } from './error.ts'

/** A `ledger` key signs checkpoints and key changes. A `writer` key signs receipts. */
export type KeyRole = 'ledger' | 'writer'

/** A private key in memory. The code that imports the seed must overwrite it afterwards. */
export interface StoredKey {
  readonly role: KeyRole
  readonly publicKey: PublicKey
  /** 32 bytes (RFC 8032). Never log, print or copy them. */
  readonly seed: Uint8Array
  readonly file: string
}

/** The keys of a data directory, ledger keys first. */
export interface Keyring {
  readonly keys: readonly StoredKey[]
}

/** Shorter passphrases can be guessed. */
const MIN_PASSPHRASE = 12
/** Time limit in milliseconds for the command that prints the passphrase. */
const COMMAND_LIMIT = 10_000
const NAME = /^(ledger|writer)-([0-9a-f]{8})\.pem$/
const WINDOWS = process.platform === 'win32'

export function keysIn(data: string): string {
  return join(data, 'keys')
}

/**
 * Creates a key in a new file. The file is durable when this returns. Never overwrites a file.
 *
 * @throws GatewayError `KEY_UNUSABLE` if the passphrase is too short or the file cannot be written.
 */
export async function createKey(data: string, role: KeyRole, passphrase?: string): Promise<StoredKey> {
  if (passphrase !== undefined && passphrase.length < MIN_PASSPHRASE) {
    throw new GatewayError('KEY_UNUSABLE', `the passphrase is shorter than ${MIN_PASSPHRASE} characters`, {
      hints: ['use a long random one, for example from `openssl rand -base64 24`'],
    })
  }
  const { privateKey } = generateKeyPairSync('ed25519')
  const seed = seedOf(privateKey)
  const { publicKey } = await importSigningKey(seed)
  const file = join(keysIn(data), `${role}-${publicKey.id.slice(0, 8)}.pem`)
  writePrivately(file, pemOf(privateKey, passphrase))
  return { role, publicKey, seed, file }
}

function pemOf(key: KeyObject, passphrase: string | undefined): string {
  const form = { type: 'pkcs8', format: 'pem' } as const
  return key
    .export(passphrase === undefined ? form : { ...form, cipher: 'aes-256-cbc', passphrase })
    .toString()
}

/** Durably writes a new file that only this user can read. Never overwrites a file. @throws GatewayError `KEY_UNUSABLE`. */
export function writePrivately(file: string, pem: string): void {
  try {
    const folder = dirname(file)
    if (makeDirectory(folder)) syncDirectory(dirname(folder))
    const descriptor = openSync(file, 'wx', 0o600)
    try {
      writeFileSync(descriptor, pem)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    syncDirectory(folder)
  } catch (fault) {
    throw unusable(
      `the key file \`${file}\` cannot be written: ${codeOf(fault instanceof GatewayError ? fault.cause : fault)}`,
      ['check that the disk has free space and that this user can write there'],
    )
  }
}

/** Makes a new file name durable. */
function syncDirectory(path: string): void {
  // Windows cannot open a directory.
  if (!WINDOWS) syncPath(path)
}

/**
 * Reads all keys of a data directory. Asks for the passphrase once, and only if a file needs it.
 *
 * @throws GatewayError `DATA_MISSING` if there are no keys; `KEY_UNUSABLE` if other users could read them or one cannot be
 * opened.
 */
export async function openKeyring(
  config: Pick<Config, 'data' | 'passphraseCommand'>,
  env: NodeJS.ProcessEnv = process.env,
  limit: number = COMMAND_LIMIT,
): Promise<Keyring> {
  const pems = readKeyFiles(keysIn(config.data))
  const passphrase = await passphraseFor(pems, config, env, limit)
  const keys: StoredKey[] = []
  for (const { file, role, id, pem } of pems) keys.push(await openKey({ file, role, id }, pem, passphrase))
  return { keys }
}

/** The passphrase of the existing key files, to protect a new one. Undefined if they have none. @throws as `openKeyring`. */
export async function keyPassphrase(
  config: Pick<Config, 'data' | 'passphraseCommand'>,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string | undefined> {
  return passphraseFor(readKeyFiles(keysIn(config.data)), config, env, COMMAND_LIMIT)
}

/** Deletes a key file permanently. @throws GatewayError `KEY_UNUSABLE` if it cannot be removed. */
export function removeKey({ file }: StoredKey): void {
  try {
    unlinkSync(file)
    syncDirectory(dirname(file))
  } catch (fault) {
    throw unusable(`the key file \`${file}\` cannot be removed: ${codeOf(fault)}`, [
      `remove it by hand: \`rm ${file}\``,
    ])
  }
}

/** A key file, as described by its name. */
interface KeyFile {
  readonly file: string
  readonly role: KeyRole
  /** First 8 hexadecimal digits of the key id. */
  readonly id: string
}

/** Lists the key files of a directory by name, ledger keys first. Does not read them. */
export function listKeyFiles(folder: string): readonly KeyFile[] {
  return namesIn(folder)
    .filter((name) => name.endsWith('.pem'))
    .sort()
    .map((name) => {
      const file = join(folder, name)
      const [, role, id] = NAME.exec(name) ?? []
      if ((role === 'ledger' || role === 'writer') && id !== undefined) return { file, role, id }
      throw unusable(`\`${file}\` does not have the name of a key file`, [
        'key files are named `ledger-<8 hex>.pem` and `writer-<8 hex>.pem`; move other files out of the folder',
      ])
    })
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (fault) {
    if (codeOf(fault) !== 'ENOENT') throw unusable(`\`${folder}\` cannot be read: ${codeOf(fault)}`, [])
    return []
  }
}

function readKeyFiles(folder: string): readonly (KeyFile & { readonly pem: string })[] {
  const files = listKeyFiles(folder)
  if (files.length === 0) {
    throw new GatewayError('DATA_MISSING', `there are no keys in \`${folder}\``, {
      hints: ['restore the key files from your backup: without them the ledger cannot be extended'],
    })
  }
  refuseLoose(folder, lstatSync(folder), '700')
  return files.map((each) => ({ ...each, pem: readPrivately(each.file) }))
}

/**
 * Reads a file that only this user can access. Checks the opened descriptor, so the file cannot be swapped after the check.
 * @throws GatewayError `KEY_UNUSABLE`.
 */
export function readPrivately(file: string): string {
  let descriptor
  try {
    descriptor = openSync(file, constants.O_RDONLY | (WINDOWS ? 0 : constants.O_NOFOLLOW))
  } catch (fault) {
    throw unusable(`the key file \`${file}\` cannot be opened: ${codeOf(fault)}`, [
      'it must be a regular file, not a link, and belong to the user who runs the gateway',
    ])
  }
  try {
    const found = fstatSync(descriptor)
    if (!found.isFile()) throw unusable(`\`${file}\` is not a file`, ['give the path of the key file'])
    refuseLoose(file, found, '600')
    return readFileSync(descriptor, 'utf8')
  } finally {
    closeSync(descriptor)
  }
}

function refuseLoose(path: string, { mode, uid }: Stats, wanted: '600' | '700'): void {
  if (WINDOWS) return
  const own = process.getuid?.()
  if (own !== undefined && uid !== own) {
    throw unusable(`\`${path}\` belongs to another user`, [`run as that user, or \`chown ${own} ${path}\``])
  }
  if ((mode & 0o077) === 0) return
  const found = (mode & 0o777).toString(8).padStart(4, '0')
  throw unusable(`\`${path}\` is open to other users (mode ${found})`, [`run \`chmod ${wanted} ${path}\``])
}

function isEncrypted(pem: string): boolean {
  return pem.startsWith('-----BEGIN ENCRYPTED PRIVATE KEY-----')
}

async function openKey(
  { file, role, id }: KeyFile,
  pem: string,
  passphrase: string | undefined,
): Promise<StoredKey> {
  const seed = seedOf(decode(file, pem, passphrase), file)
  const { publicKey } = await importSigningKey(seed)
  if (publicKey.id.startsWith(id)) return { role, publicKey, seed, file }
  seed.fill(0)
  throw unusable(`\`${file}\` contains a different key than its name says`, [
    `its key has the id \`${publicKey.id.slice(0, 8)}…\`; restore the right file, or rename this one to match its key`,
  ])
}

function decode(file: string, pem: string, passphrase: string | undefined): KeyObject {
  try {
    return createPrivateKey({ key: pem, format: 'pem', ...(passphrase !== undefined && { passphrase }) })
  } catch {
    // The cause is omitted on purpose: it could reveal something about the passphrase.
    throw isEncrypted(pem)
      ? unusable(`the passphrase does not open \`${file}\``, [])
      : unusable(`\`${file}\` is not a private key in PKCS#8 PEM`, [
          'if the machine stopped while the key was being created, remove the file; otherwise restore it from your backup',
        ])
  }
}

/** The fixed DER prefix before the 32 bytes of an Ed25519 seed (RFC 8410), without attributes and public key. */
const PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

function seedOf(key: KeyObject, file = 'the new key'): Uint8Array {
  const isEd25519 = key.asymmetricKeyType === 'ed25519'
  const der = isEd25519 ? key.export({ type: 'pkcs8', format: 'der' }) : Buffer.alloc(0)
  if (der.length !== 48 || !der.subarray(0, 16).equals(PREFIX)) {
    throw unusable(`\`${file}\` does not contain an Ed25519 key`, ['create keys with `tollgate keys rotate`'])
  }
  const seed = Uint8Array.from(der.subarray(16))
  der.fill(0)
  return seed
}

async function passphraseFor(
  pems: readonly { readonly pem: string }[],
  { passphraseCommand: command }: Pick<Config, 'passphraseCommand'>,
  env: NodeJS.ProcessEnv,
  limit: number,
): Promise<string | undefined> {
  if (!pems.some(({ pem }) => isEncrypted(pem))) return undefined
  const { TOLLGATE_KEY_PASSPHRASE: given } = env
  if (given !== undefined && given !== '') return given
  const [program, ...args] = command ?? []
  if (program !== undefined) return runForPassphrase(program, args, { env, limit })
  throw unusable('the key files need a passphrase, and none was given', [
    'set TOLLGATE_KEY_PASSPHRASE, or `keys: { passphrase-command: […] }` in tollgate.yaml',
  ])
}

/** Runs the command that prints the passphrase. No message contains its output. */
function runForPassphrase(
  program: string,
  args: readonly string[],
  { env, limit }: { readonly env: NodeJS.ProcessEnv; readonly limit: number },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const limits = { timeout: limit, killSignal: 'SIGKILL', maxBuffer: 1 << 16 } as const
    const child = execFile(program, [...args], { ...limits, env }, (fault, printed) => {
      // Programs end their output with one newline. Any other newline belongs to the passphrase.
      const passphrase = printed.replace(/\r?\n$/, '')
      if (!fault && passphrase !== '') return resolve(passphrase)
      reject(
        unusable(`the passphrase command \`${program}\` ${failing(fault, limit)}`, [
          'run it by hand to see its output',
        ]),
      )
    })
    child.stdin?.end()
    child.stderr?.resume()
  })
}

function failing(
  fault: { readonly killed?: boolean; readonly code?: unknown } | null,
  limit: number,
): string {
  if (!fault) return 'printed nothing'
  if (fault.code === 'ENOENT') return 'is not installed'
  if (fault.killed === true) return `took longer than ${limit / 1000} s or printed too much`
  return typeof fault.code === 'number' ? `failed with exit code ${fault.code}` : 'failed'
}

function codeOf(fault: unknown): string {
  // Sound: the member is tested before use.
  const { code } = fault as NodeJS.ErrnoException
  return code ?? 'unknown fault'
}

export function unusable(message: string, hints: readonly string[]): GatewayError {
  return new GatewayError('KEY_UNUSABLE', message, { hints })
}
