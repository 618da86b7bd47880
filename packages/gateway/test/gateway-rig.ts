// A gateway on a real data directory for tests: real keys and the real SQLite file, in a temporary folder.

import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { authorize, reportEffect, type Authorization } from '@tollgate/kernel'
import { activatePolicy } from '@tollgate/kernel/admin'
import { parsePolicy } from '@tollgate/kernel/policy'
import { afterAll } from 'vitest'
import type { Config } from '../src/config/config.ts'
import { createKey, openKeyring, type Keyring } from '../src/keyring.ts'
import { silent } from '../src/log.ts'
import { foundLedger, openGateway, type Gateway } from '../src/open.ts'

export const ORIGIN = 'tollgate.test/ledger'

/** Allows `notes/read` and `notes/write`, escalates `mail/send`. */
export const POLICY = `
tollgate: 1
name: test
principals: { "agent:*": { tier: standard } }
tools:
  "notes/read": { effect: read, destinations: none }
  "notes/write": { effect: write, destinations: none }
  "mail/send": { effect: send, destinations: none }
rules:
  - { id: notes, allow: "notes/*" }
  - { id: mail, require: "mail/send", expires: 15m }
`

/** A data directory with keys and a new ledger. */
export interface Site {
  readonly config: Config
  readonly keyring: Keyring
  /** Opens it as a command does; `threads` opens it as `serve` does, with threads that take longer to start. */
  open(options?: { readonly threads?: boolean }): Promise<Gateway>
}

const folders: string[] = []

afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A new folder that is removed after the tests of the file. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
  folders.push(folder)
  return folder
}

type SiteChanges = Partial<Omit<Config, 'keep'>> & { readonly keep?: Partial<Config['keep']> }

/** Creates a site in a new folder. Sites of one run have the same keys. */
export async function createSite({ keep, ...changes }: SiteChanges = {}): Promise<Site> {
  const folder = newFolder()
  const data = join(folder, 'data')
  const usual = configFor(data, join(folder, 'heads'))
  const config = { ...usual, ...changes, keep: { ...usual.keep, ...keep } }
  cpSync(await founded(config), config.data, { recursive: true })
  const keyring = await openKeyring(config)
  return siteOf(config, keyring)
}

/** A site on a data directory. */
export function siteOf(config: Config, keyring: Keyring): Site {
  return {
    config,
    keyring,
    open: ({ threads = false } = {}) => openGateway(config, keyring, silent, { brief: !threads }),
  }
}

/** A data directory with an empty ledger, to be copied. Creating one takes long, so all files of a run share it. */
async function founded(config: Config): Promise<string> {
  const { ledger, writer, tenant, commit } = config
  const name = [ledger, writer, tenant, commit].map(encodeURIComponent).join(',')
  const shared = join(process.env.XDG_CONFIG_HOME ?? newFolder(), name)
  if (existsSync(shared)) return shared
  const data = join(newFolder(), 'data')
  const keyring = { keys: [await createKey(data, 'ledger'), await createKey(data, 'writer')] }
  await foundLedger({ ...config, data }, keyring)
  try {
    renameSync(data, shared)
    return shared
  } catch {
    // Another test file of the run was first.
    return existsSync(shared) ? shared : data
  }
}

/** The configuration of a gateway in this data directory. */
export function configFor(data: string, headGuard: string | undefined): Config {
  return {
    data,
    ledger: ORIGIN,
    writer: 'gateway',
    tenant: 'default',
    listen: { host: '127.0.0.1', port: 0 },
    ca: undefined,
    hosts: [],
    cors: [],
    signIn: undefined,
    policy: join(data, 'policy.yaml'),
    commit: 'plain',
    retention: { sessions: undefined },
    keep: { calls: undefined, keyFile: `${data}-seal.key` },
    headGuard,
    passphraseCommand: undefined,
    webhooks: [],
    telemetry: undefined,
    mcp: { servers: new Map(), names: 'plain', wait: 0 },
    browser: { headless: true, executable: undefined, withoutEgress: false },
    llm: { body: 1 << 20, wait: 0 },
    limits: {
      body: 1 << 20,
      connections: 1024,
      reading: { rate: 1 << 20, burst: 16 << 20 },
      storage: 2 ** 30,
    },
    log: 'error',
  }
}

/** Activates a policy text. */
export async function activate({ kernel }: Gateway, text: string = POLICY): Promise<void> {
  const parsed = parsePolicy(text)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.mistakes))
  await activatePolicy(kernel, parsed.policy, 'user:test')
}

/** An advised call of `agent:a`. */
export function ask(
  { kernel }: Gateway,
  tool = 'notes/read',
  args: unknown = {},
  session = 's1',
): Promise<Authorization> {
  const caller = { tenant: 'default', principal: 'agent:a' }
  return authorize(kernel, { caller, door: 'http', assurance: 'advised', tool, args, session_id: session })
}

/** Reports the effect of an advised call. */
export async function report({ kernel }: Gateway, decision: string): Promise<string> {
  const caller = { tenant: 'default', principal: 'agent:a' }
  return (await reportEffect(kernel, { caller, decision, status: 'COMPLETED', output: new Uint8Array(3) })).id
}
