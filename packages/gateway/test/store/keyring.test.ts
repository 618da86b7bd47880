import { generateKeyPairSync } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { importSigningKey, verifySignature } from '@tollgate/evidence'
import { GatewayError } from '../../src/error.ts'
import { createKey, openKeyring, removeKey } from '../../src/keyring.ts'

const PASSPHRASE = 'a long and quiet passphrase'
let data: string

beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'tollgate-keys-'))
})
afterEach(() => rmSync(data, { recursive: true }))

const open = (env: NodeJS.ProcessEnv = {}, passphraseCommand?: readonly string[]) =>
  openKeyring({ data, passphraseCommand }, env)

/** The error of opening, with its code checked, as one text. */
async function refusal(opening: Promise<unknown>, code = 'KEY_UNUSABLE'): Promise<string> {
  const fault: unknown = await opening.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(fault instanceof GatewayError)) throw new Error(`not refused by us: ${String(fault)}`)
  expect(fault.code).toBe(code)
  return [fault.message, ...fault.hints, String(fault.cause)].join('\n')
}

describe('a key file', () => {
  it('is read back as the created key', async () => {
    const ledger = await createKey(data, 'ledger')
    const writer = await createKey(data, 'writer')
    const { keys } = await open()
    expect(keys).toEqual([ledger, writer])
    expect(ledger.file).toBe(join(data, 'keys', `ledger-${ledger.publicKey.id.slice(0, 8)}.pem`))
    const signer = await importSigningKey(keys[1]?.seed ?? new Uint8Array())
    const message = new TextEncoder().encode('x')
    expect(await verifySignature(writer.publicKey, message, await signer.sign(message))).toBe(true)
  })

  it('is readable only by its owner, and so is its directory', async () => {
    const { file } = await createKey(data, 'writer')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(join(data, 'keys')).mode & 0o777).toBe(0o700)
  })

  it('can be read by other programs as PKCS#8', async () => {
    const { file } = await createKey(data, 'writer')
    expect(readFileSync(file, 'utf8')).toMatch(/^-----BEGIN PRIVATE KEY-----\n/)
    const locked = await createKey(data, 'ledger', PASSPHRASE)
    expect(readFileSync(locked.file, 'utf8')).toMatch(/^-----BEGIN ENCRYPTED PRIVATE KEY-----\n/)
  })

  it('is refused if others can read it, with a command to run', async () => {
    const { file } = await createKey(data, 'writer')
    chmodSync(file, 0o640)
    expect(await refusal(open())).toContain(`run \`chmod 600 ${file}\``)
    chmodSync(file, 0o600)
    chmodSync(join(data, 'keys'), 0o750)
    expect(await refusal(open())).toContain(`run \`chmod 700 ${join(data, 'keys')}\``)
  })

  it('is refused if it is a link', async () => {
    const { file } = await createKey(data, 'writer')
    renameSync(file, join(data, 'elsewhere.pem'))
    symlinkSync(join(data, 'elsewhere.pem'), file)
    expect(await refusal(open())).toContain('cannot be opened: ELOOP')
  })

  it('is refused if it contains a different key than its name says', async () => {
    const { file } = await createKey(data, 'writer')
    renameSync(file, join(data, 'keys', 'writer-00000000.pem'))
    expect(await refusal(open())).toContain('contains a different key than its name says')
  })

  it('is refused if it has another name', async () => {
    const { file } = await createKey(data, 'writer')
    renameSync(file, join(data, 'keys', 'old.pem'))
    expect(await refusal(open())).toContain('does not have the name of a key file')
  })

  it('is refused if it is truncated or empty', async () => {
    const { file } = await createKey(data, 'writer')
    const pem = readFileSync(file, 'utf8')
    for (const part of ['', pem.slice(0, 50)]) {
      writeFileSync(file, part)
      expect(await refusal(open())).toContain('is not a private key in PKCS#8 PEM')
    }
  })

  it('is refused if its key is of another kind', async () => {
    const { file } = await createKey(data, 'writer')
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }))
    expect(await refusal(open())).toContain('does not contain an Ed25519 key')
  })

  it('is never overwritten', async () => {
    const { file } = await createKey(data, 'writer')
    const before = readFileSync(file, 'utf8')
    await createKey(data, 'writer')
    expect(readFileSync(file, 'utf8')).toBe(before)
    expect((await open()).keys).toHaveLength(2)
  })

  it('is removed, and cannot be removed twice', async () => {
    const key = await createKey(data, 'writer')
    removeKey(key)
    expect(await refusal(open(), 'DATA_MISSING')).toContain('there are no keys')
    expect(() => removeKey(key)).toThrow('cannot be removed: ENOENT')
  })

  it('must exist', async () => {
    expect(await refusal(open(), 'DATA_MISSING')).toContain('restore the key files from your backup')
    mkdirSync(join(data, 'keys'))
    await refusal(open(), 'DATA_MISSING')
  })

  it('cannot be created without write permission', async () => {
    writeFileSync(join(data, 'keys'), '')
    expect(await refusal(createKey(data, 'writer'))).toMatch(/cannot be written: E(NOTDIR|EXIST)/)
  })
})

describe('a passphrase', () => {
  it('comes from the environment or from the command; the environment has priority', async () => {
    const key = await createKey(data, 'writer', PASSPHRASE)
    expect((await open({ TOLLGATE_KEY_PASSPHRASE: PASSPHRASE })).keys).toEqual([key])
    expect((await open({}, ['/bin/echo', PASSPHRASE])).keys).toEqual([key])
    expect((await open({ TOLLGATE_KEY_PASSPHRASE: PASSPHRASE }, ['/bin/false'])).keys).toEqual([key])
  })

  it('is not requested if no file needs it', async () => {
    const key = await createKey(data, 'writer')
    expect((await open({}, ['/bin/false'])).keys).toEqual([key])
  })

  it('that is wrong is reported without details', async () => {
    const { file } = await createKey(data, 'writer', PASSPHRASE)
    for (const wrong of ['wrong', `${PASSPHRASE} `, `${PASSPHRASE}\n`]) {
      const said = await refusal(open({ TOLLGATE_KEY_PASSPHRASE: wrong }))
      expect(said).toBe(`the passphrase does not open \`${file}\`\nundefined`)
    }
  })

  it('loses exactly one newline of the command output', async () => {
    await createKey(data, 'writer', PASSPHRASE)
    const print = (text: string) =>
      open({}, [process.execPath, '-e', `process.stdout.write(${JSON.stringify(text)})`])
    await print(`${PASSPHRASE}\r\n`)
    await print(PASSPHRASE)
    expect(await refusal(print(`${PASSPHRASE}\n\n`))).toContain('does not open')
  })

  it('that is missing is reported with a remedy', async () => {
    await createKey(data, 'writer', PASSPHRASE)
    expect(await refusal(open())).toContain(
      'set TOLLGATE_KEY_PASSPHRASE, or `keys: { passphrase-command: […] }`',
    )
    expect(await refusal(open({ TOLLGATE_KEY_PASSPHRASE: '' }))).toContain('none was given')
  })

  it('that is too short creates no key', async () => {
    expect(await refusal(createKey(data, 'writer', 'hunter2'))).not.toContain('hunter2')
  })
})

describe('the passphrase command', () => {
  beforeEach(() => createKey(data, 'writer', PASSPHRASE))

  it('runs without a shell', async () => {
    expect(await refusal(open({}, [`/bin/echo ${PASSPHRASE}`]))).toContain('is not installed')
    expect(await refusal(open({}, ['/bin/echo', `$(echo ${PASSPHRASE})`]))).toContain('does not open')
  })

  it('that fails, prints nothing or does not exist opens nothing', async () => {
    expect(await refusal(open({}, ['/bin/sh', '-c', `echo '${PASSPHRASE}'; exit 3`]))).toContain(
      'failed with exit code 3',
    )
    expect(await refusal(open({}, ['/bin/true']))).toContain('printed nothing')
    expect(await refusal(open({}, ['/no/such/program', 'hunter2']))).toContain('is not installed')
  })

  it('never reveals its arguments or output in a message', async () => {
    const said = await refusal(open({}, ['/bin/sh', '-c', 'echo hunter2; echo hunter2 >&2; exit 1']))
    expect(said).not.toContain('hunter2')
  })

  it('that hangs is ended, even if another process has its output open', async () => {
    const hanging = { data, passphraseCommand: ['/bin/sh', '-c', 'sleep 5 & sleep 5'] }
    const began = performance.now()
    expect(await refusal(openKeyring(hanging, {}, 500))).toContain('took longer than 0.5 s')
    expect(performance.now() - began).toBeLessThan(30_000)
  })
})
