import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_STORAGE } from '@tollgate/kernel'
import { DEFAULT_PORT, defaultConfigText, defaultData, readConfig } from '../../src/config/config.ts'
import { defaultKeyFile } from '../../src/config/place.ts'
import { GatewayError } from '../../src/error.ts'

let data: string

beforeAll(() => {
  data = mkdtempSync(join(tmpdir(), 'tollgate-config-'))
})
afterAll(() => rmSync(data, { recursive: true }))

function read(text: string) {
  writeFileSync(join(data, 'tollgate.yaml'), text)
  return readConfig(data)
}

function fault(run: () => unknown): GatewayError {
  try {
    run()
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown
    throw thrown
  }
  throw new Error('it was accepted')
}

/** Returns the mistakes in a text, as `line:column: message`. */
function mistakes(text: string): readonly string[] {
  const { code, hints } = fault(() => read(text))
  expect(code).toBe('CONFIG_INVALID')
  return hints.map((hint) => hint.replace(`${join(data, 'tollgate.yaml')}:`, ''))
}

const HEAD = 'tollgate: 1\nledger: tollgate.local/test\n'

describe('readConfig', () => {
  it('reads the file that init writes', () => {
    expect(read(defaultConfigText({ ledger: 'tollgate.local/box-0a1b2c3d', port: DEFAULT_PORT }))).toEqual({
      data,
      ledger: 'tollgate.local/box-0a1b2c3d',
      writer: 'gateway',
      tenant: 'default',
      listen: { host: '127.0.0.1', port: DEFAULT_PORT },
      ca: undefined,
      hosts: [],
      cors: [],
      signIn: undefined,
      policy: join(data, 'policy.yaml'),
      commit: 'plain',
      retention: { sessions: undefined },
      keep: { calls: 7 * 86_400_000, keyFile: defaultKeyFile('tollgate.local/box-0a1b2c3d') },
      headGuard: `${data}-heads`,
      passphraseCommand: undefined,
      webhooks: [],
      telemetry: undefined,
      mcp: { servers: new Map(), names: 'plain', wait: 0 },
      browser: { headless: true, executable: undefined, withoutEgress: false },
      llm: { body: 32 << 20, wait: 0 },
      limits: {
        body: 1 << 20,
        connections: 1024,
        reading: { rate: 1 << 20, burst: 16 << 20 },
        storage: DEFAULT_STORAGE,
      },
      log: 'info',
    })
  })

  it('reads every setting that init writes as a comment', () => {
    const text = defaultConfigText({ ledger: 'tollgate.local/x', port: 1 })
    const open = text.replace(
      /^( *)# (tls|ca|hosts|cors|sign-in|retention|head-guard|keys|webhooks|decision-log|telemetry|browser): /gm,
      '$1$2: ',
    )
    expect(
      open
        .split('\n')
        .filter((line) =>
          /^ *(tls|ca|hosts|cors|sign-in|retention|head-guard|keys|webhooks|decision-log|telemetry|browser):/.test(
            line,
          ),
        ),
    ).toHaveLength(12)
    expect(read(open)).toMatchObject({
      listen: { tls: { cert: '/path/to/cert.pem', key: '/path/to/key.pem' } },
      ca: '/path/to/ca.pem',
      hosts: ['gate.example.com'],
      cors: ['https://app.example.com'],
      signIn: { issuer: 'https://login.example.com', audience: ['https://gate.example.com/mcp'] },
      retention: { sessions: 30 * 86_400_000 },
      headGuard: '/var/lib/tollgate-heads',
      passphraseCommand: ['pass', 'show', 'tollgate'],
      webhooks: [
        {
          url: 'https://hooks.example.com/tollgate',
          secretEnv: 'TOLLGATE_WEBHOOK_SECRET',
          arguments: true,
          events: [
            ...[
              'approval.requested',
              'approval.answered',
              'freeze.changed',
              'tools.quarantined',
              'hook.silent',
            ],
          ],
          format: 'json',
        },
      ],
      decisionLog: '/var/log/tollgate/decisions.jsonl',
      telemetry: { endpoint: 'http://127.0.0.1:4318/' },
    })
  })

  it('reads a Slack receiver with its address in the environment', () => {
    const text = `${HEAD}webhooks: [{ url-env: SLACK, format: slack, events: [call.denied, call.denied] }]\n`
    expect(read(text).webhooks).toEqual([
      { urlEnv: 'SLACK', arguments: true, events: ['call.denied'], format: 'slack' },
    ])
  })

  it('needs only the version and the ledger name', () => {
    expect(read(HEAD)).toMatchObject({
      ledger: 'tollgate.local/test',
      listen: { host: '127.0.0.1', port: DEFAULT_PORT },
    })
  })

  it('uses defaults for missing parts of `limits.reading`', () => {
    const { reading } = read(`${HEAD}limits: { reading: { rate: 4MiB } }\n`).limits
    expect(reading).toEqual({ rate: 4 << 20, burst: 16 << 20 })
  })

  it.each([
    ['16MiB', 16 << 20],
    ['5GiB', 5 * 2 ** 30],
    ['1TiB', 2 ** 40],
    ['off', null],
  ])('reads the storage limit %s', (text, bytes) => {
    expect(read(`${HEAD}limits: { storage: ${text} }\n`).limits.storage).toBe(bytes)
  })

  it('reports all mistakes at once, each with its position and remedy', () => {
    expect(
      mistakes(`tollgate: 2
ledger: a ledger
lissen: { port: 1 }
listen: { host: "http://x", port: 70000, tls: { cert: a } }
commit: sated
retention: { sessions: 30 }
limits: { body: 1MB, connections: 1.5 }
log: loud
`),
    ).toEqual([
      '1:11: `tollgate`, the version of the format, must be a whole number from 1 to 1',
      '2:9: a ledger name must have at most 120 characters, without spaces and `+`',
      '3:1: `lissen` is not known here; did you mean `listen`?',
      '4:17: `host` must be an address to listen on, such as `127.0.0.1`, `::1` or `0.0.0.0`',
      '4:35: `port` must be a whole number from 0 to 65535',
      '4:47: `tls` needs both `cert` and `key`, paths of PEM files',
      '5:9: `commit` must be one of `plain`, `salted`',
      '6:24: `sessions` must be a time such as `24h` or `30d`, from one hour to ten years; remove it to keep them forever',
      '7:17: `body` must be a size such as `256KiB` or `1MiB`, from 1KiB to 64MiB',
      '7:35: `connections` must be a whole number from 1 to 65535',
      '8:6: `log` must be one of `debug`, `info`, `warn`, `error`',
    ])
  })

  const REFUSED: readonly (readonly [what: string, text: string, message: RegExp])[] = [
    ['a missing version', 'ledger: x\n', /^1:1: `tollgate: 1` is missing/],
    ['a missing ledger', 'tollgate: 1\n', /^1:1: `ledger` is missing/],
    ['an empty file', '', /^1:1: must be a mapping of `tollgate`/],
    ['a list', '- a\n', /must be a mapping/],
    ['a key twice', `${HEAD}log: info\nlog: warn\n`, /^4:1: `log` appears twice here; remove one/],
    ['an anchor', `${HEAD}hosts: &h [a]\n`, /^3:11: an anchor is not allowed here; write the value out/],
    ['an alias', `${HEAD}policy: *h\n`, /^3:9: an alias is not allowed here; write the value out/],
    ['incomplete YAML', `${HEAD}hosts: [a\n`, /not readable as YAML/],
    ['a second document', `${HEAD}---\nx: 1\n`, /^3:1: a second document \(`---`\) is not allowed here/],
    ['a name without a value', `${HEAD}listen:\n`, /must be a mapping of `host`, `port`, `tls`/],
    ['a burst too small', `${HEAD}limits: { reading: { burst: 1KiB } }\n`, /`burst` must be a size such as/],
    [
      'too little storage',
      `${HEAD}limits: { storage: 15MiB }\n`,
      /^3:20: `storage` must be `off`, or the storage of one principal/,
    ],
    ['storage without a unit', `${HEAD}limits: { storage: 5 }\n`, /^3:20: `storage` must be text/],
    ['storage in another unit', `${HEAD}limits: { storage: 5GB }\n`, /^3:20: `storage` must be `off`, or/],
    ['a hostname with a port', `${HEAD}hosts: ["a:80"]\n`, /^3:9: a name in `hosts` must be a hostname/],
    ['a head guard inside', `${HEAD}head-guard: heads\n`, /^3:13: `head-guard` must be outside/],
    [
      'a head guard inside, with leading dots',
      `${HEAD}head-guard: ..heads\n`,
      /^3:13: `head-guard` must be outside/,
    ],
    ['the directory itself as head guard', `${HEAD}head-guard: "."\n`, /^3:13: `head-guard` must be outside/],
    ['a key file inside', `${HEAD}keep: { key-file: seal.key }\n`, /^3:19: `key-file` must be outside/],
    ['head-guard as a flag', `${HEAD}head-guard: false\n`, /^3:13: `head-guard` must be text/],
    [
      'an empty command',
      `${HEAD}keys: { passphrase-command: [] }\n`,
      /^3:29: write a program and its arguments/,
    ],
    ['a command as one text', `${HEAD}keys: { passphrase-command: "pass show" }\n`, /must be a list/],
    [
      'a webhook with an unknown value of `arguments`',
      `${HEAD}webhooks: [{ url: "https://x.test/", secret-env: S, arguments: some }]\n`,
      /`true` or `false`/,
    ],
    ['an unencrypted webhook', `${HEAD}webhooks: [{ url: "http://x.test/", secret-env: S }]\n`, /https/],
    ['a webhook without a secret', `${HEAD}webhooks: [{ url: "https://x.test/" }]\n`, /needs `secret-env`/],
    ['a webhook without an address', `${HEAD}webhooks: [{ secret-env: S }]\n`, /needs `url`, or `url-env`/],
    [
      'a webhook with two addresses',
      `${HEAD}webhooks: [{ url: "https://x.test/", url-env: U, secret-env: S }]\n`,
      /either `url` or `url-env`/,
    ],
    [
      'an address instead of its name',
      `${HEAD}webhooks: [{ url-env: "https://hooks.slack.com/x", format: slack }]\n`,
      /`url-env` must be the name of an environment variable, not the address/,
    ],
    [
      'an unknown event',
      `${HEAD}webhooks: [{ url-env: U, format: slack, events: [call.allowed] }]\n`,
      /an item of `events` must be/,
    ],
    [
      'a webhook without events',
      `${HEAD}webhooks: [{ url-env: U, format: slack, events: [] }]\n`,
      /`events` is empty/,
    ],
    ['an unknown format', `${HEAD}webhooks: [{ url-env: U, format: teams }]\n`, /`format` must be/],
    [
      'a secret instead of its name',
      `${HEAD}webhooks: [{ url: "https://x.test/", secret-env: "p4ss word" }]\n`,
      /not the secret/,
    ],
    [
      'a password in an address',
      `${HEAD}telemetry: { endpoint: "https://u:p@x.test/" }\n`,
      /must not contain a user name or password/,
    ],
    ['a file that is too long', `${HEAD}# ${'x'.repeat(70_000)}\n`, /longer than 65536 characters/],
    ['a line break in a path', `${HEAD}policy: "a\\nb"\n`, /must be text in one line/],
  ]
  it.each(REFUSED)('refuses %s', (_, text, message) => {
    expect(mistakes(text)[0]).toMatch(message)
  })

  it('never repeats a value that could be a secret', () => {
    const all = mistakes(`${HEAD}webhooks: [{ url: "https://u:hunter2@x.test/", secret-env: "hunter2 " }]\n`)
    expect(all).toHaveLength(2)
    expect(all.join()).not.toContain('hunter2')
  })

  it('suggests the name with a dash for one with an underscore', () => {
    expect(mistakes(`${HEAD}head_guard: off\n`)).toEqual([
      '3:1: `head_guard` is not known here; did you mean `head-guard`?',
    ])
  })

  it('reads `off`, `~` paths and relative paths of `head-guard`', () => {
    expect(read(`${HEAD}head-guard: off\n`).headGuard).toBeUndefined()
    expect(read(`${HEAD}head-guard: ~/heads\n`).headGuard).toBe(join(homedir(), 'heads'))
    expect(read(`${HEAD}head-guard: ../heads\n`).headGuard).toBe(join(data, '../heads'))
  })

  it('suggests `tollgate init` for a missing data directory', () => {
    const { code, message, hints } = fault(() => readConfig(join(data, 'none')))
    expect(code).toBe('DATA_MISSING')
    expect(message).toContain('`tollgate.yaml` is missing')
    expect(hints[0]).toBe(`create one with \`tollgate init --data ${join(data, 'none')}\``)
  })

  it('refuses a file or directory that other users can write', () => {
    const file = join(data, 'tollgate.yaml')
    read(HEAD)
    chmodSync(file, 0o664)
    expect(fault(() => readConfig(data)).hints).toEqual([`run \`chmod go-w ${file}\``])
    chmodSync(file, 0o644)
    chmodSync(data, 0o777)
    expect(fault(() => readConfig(data)).hints).toEqual([`run \`chmod go-w ${data}\``])
    chmodSync(data, 0o700)
    expect(readConfig(data).ledger).toBe('tollgate.local/test')
  })

  it('reports a configuration file that is a directory', () => {
    const other = join(data, 'odd')
    mkdirSync(join(other, 'tollgate.yaml'), { recursive: true })
    expect(fault(() => readConfig(other)).message).toContain('cannot be read: EISDIR')
  })
})

describe('the default directories', () => {
  it('follow XDG_STATE_HOME, if it is an absolute path', () => {
    expect(defaultData({ XDG_STATE_HOME: '/state' })).toBe('/state/tollgate')
    expect(defaultData({ XDG_STATE_HOME: 'state' })).toBe(join(homedir(), '.local/state/tollgate'))
    expect(defaultData({})).toBe(join(homedir(), '.local/state/tollgate'))
  })
})
