// Kept calls and the arguments of approval requests: encrypted at rest, without the secrets found in them.

import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { DOORS, type Door } from '@tollgate/evidence'
import { authorize, KEPT, SEALED, type Decided } from '@tollgate/kernel'
import { answerRequest, inputName } from '@tollgate/kernel/admin'
import { createReplay } from '@tollgate/kernel/workbench'
import { describe, expect, it } from 'vitest'
import { checkSealing } from '../../src/cli/setup/doctor-sealing.ts'
import { defaultKeyFile } from '../../src/config/place.ts'
import { openGateway, openView, type Gateway } from '../../src/open.ts'
import { createSealKey, readSealKey } from '../../src/seal-key.ts'
import { createSealer, isSealed, openingView, sealingStore } from '../../src/sealing.ts'
import { silent } from '../../src/log.ts'
import { createGatherer } from '../../src/workbench/learn/gather.ts'
import { tracePages, traceTexts } from '../../src/workbench/trace.ts'
import { activate, createSite, newFolder, type Site } from '../gateway-rig.ts'

// Assembled here, so that secret scanners do not flag this file.
const SECRET = ['AKIA', 'IOSFODNN7', 'ABCDEFG'].join('')
const MARKER = 'zanzibar-marker-4711'

const POLICY = `
tollgate: 1
name: test
principals: { "agent:*": { tier: standard } }
tools:
  "notes/read": { effect: read, destinations: none }
  "notes/send": { effect: send, destinations: [to], sinks: [to] }
  "files/read": { effect: read, destinations: none }
  "mail/send": { effect: send, destinations: none }
rules:
  - { id: notes, allow: "notes/*" }
  - { id: mail, require: "mail/send", expires: 15m }
gates: { egress: { allow: ["example.com"] }, taint: { deny: [secret] } }
`

const LENGTH = { calls: 3_600_000 }

type Made = Pick<Decided, 'verdict' | 'receipt' | 'approval' | 'reason'>

async function call({ kernel }: Gateway, tool: string, args: object, more: object = {}): Promise<Made> {
  const caller = { tenant: 'default', principal: 'agent:a' }
  const given = { caller, door: 'http', assurance: 'advised', tool, args, session_id: 's1', ...more } as const
  return (await authorize(kernel, given)).decided
}

/** All bytes of the data directory. */
function bytesIn({ config: { data } }: Site): string {
  const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1')).join('\n')
}

describe('a sealed text', () => {
  const sealer = createSealer(randomBytes(32))

  it('opens only with its own name and key, and not if it was modified', () => {
    const text = `{"args":"${MARKER} ü"}`
    const sealed = sealer.seal('kept\n1', text)
    expect(sealed).not.toContain(MARKER)
    expect(sealer.open('kept\n1', sealed)).toBe(text)
    expect(sealer.seal('kept\n1', text)).not.toBe(sealed)
    expect(sealer.open('kept\n2', sealed)).toBeUndefined()
    expect(createSealer(randomBytes(32)).open('kept\n1', sealed)).toBeUndefined()
    for (let i = 0; i < sealed.length; i++) {
      const changed = sealed.slice(0, i) + (sealed[i] === 'A' ? 'B' : 'A') + sealed.slice(i + 1)
      expect(sealer.open('kept\n1', changed), `character ${i}`).not.toBe(text.replace('z', 'Z'))
      if (changed.replaceAll('=', '') !== sealed.replaceAll('=', '') && i < sealed.length - 3)
        expect(sealer.open('kept\n1', changed), `character ${i}`).toBeUndefined()
    }
    for (const short of ['', 'sealed:', sealed.slice(0, 30)])
      expect(sealer.open('kept\n1', short)).toBeUndefined()
  })

  it('has the prefix and the names that the kernel expects', async () => {
    expect(sealer.seal(KEPT, '').startsWith(SEALED)).toBe(true)
    const written: ReadonlyMap<string, string | undefined>[] = []
    const store = sealingStore(
      {
        head: () => Promise.resolve(undefined),
        load: () => Promise.resolve([]),
        list: () => Promise.resolve([]),
        write: ({ records }) => Promise.resolve(void written.push(records)),
      },
      sealer,
    )
    const names = [`${KEPT}1`, inputName('1'), 'approval\n1', 'session\na']
    await store.write({ after: undefined, entries: [], records: new Map(names.map((name) => [name, '{}'])) })
    await store.write({
      after: undefined,
      entries: [],
      records: new Map(names.map((name) => [name, undefined])),
    })
    const [sealed, removed] = written.map((records) => [...records.values()])
    expect(sealed?.map((text) => isSealed(text ?? ''))).toEqual([true, true, false, false])
    expect(removed).toEqual([undefined, undefined, undefined, undefined])
  })
})

describe('the data directory', () => {
  it('contains no argument in clear text and no secret, for any door', async () => {
    const site = await createSite({ keep: LENGTH })
    const gateway = await site.open()
    await activate(gateway, POLICY)
    for (const door of DOORS) await callAll(gateway, door)
    const running = bytesIn(site)
    await gateway.close()
    for (const bytes of [running, bytesIn(site)]) {
      expect(bytes).toContain('sealed:1:')
      for (const text of [MARKER, SECRET]) expect(bytes.includes(text), text).toBe(false)
    }
    const { view, close } = await openView(site.config)
    const kept = (await view.records(KEPT, KEPT, 100)).map(({ text }) => text)
    await close()
    expect(kept.filter((text) => text === '{"removed":"secret"}')).toHaveLength(3 * DOORS.length)
    expect(kept.filter((text) => text.includes(MARKER))).toHaveLength(3 * DOORS.length)
    expect(kept.join('\n')).not.toContain(SECRET)
  })
})

/** Calls with the marker that are allowed, denied and escalated, and three with a secret, one of which is denied for it. */
async function callAll(gateway: Gateway, door: Door): Promise<void> {
  const sources = [{ source_channel: 'USER', text: `read the ${MARKER}` }]
  const more = { door, sources, session_id: door }
  const allowed = await call(gateway, 'notes/read', { name: MARKER }, more)
  await call(gateway, 'none/such', { name: MARKER }, more)
  const blocked = await call(gateway, 'notes/send', { to: 'a@example.com', text: `key ${SECRET}` }, more)
  // Secrets in sources or in member names count too.
  const told = { ...more, sources: [{ source_channel: 'USER', text: `use ${SECRET}` }] }
  await call(gateway, 'notes/read', { name: 'x' }, told)
  await call(gateway, 'notes/read', { [SECRET]: 'x' }, more)
  const { approval } = await call(
    gateway,
    'mail/send',
    { text: MARKER },
    { ...more, session_id: `${door} 2` },
  )
  // Without a page, every browser call is denied.
  if (door === 'browser') return
  expect([allowed.verdict, blocked.reason]).toEqual(['ALLOW', 'TAINTED_DATA_EGRESS_DENY'])
  expect(await gateway.view.record(inputName(approval ?? ''))).toBe(`{"text":"${MARKER}"}`)
}

describe('a call with a secret', () => {
  it('is counted as not replayable by replay and learning', async () => {
    const site = await createSite({ keep: LENGTH })
    const gateway = await site.open()
    await activate(gateway, POLICY)
    await call(gateway, 'notes/read', { name: 'a' })
    await call(gateway, 'notes/read', { name: SECRET })
    await call(gateway, 'notes/read', { name: 'b' })
    expect(await skippedIn(gateway)).toEqual([undefined, 'not replayable: secret removed', undefined])
    await call(gateway, 'files/read', { name: SECRET })
    const gatherer = createGatherer({ denied: true })
    for await (const page of tracePages(gateway.view)) for (const entry of page) gatherer.take(entry)
    expect([...gatherer.finish(undefined).unreadable]).toEqual([['not replayable: secret removed', 1]])
    await gateway.close()
  })
})

async function skippedIn({ view }: Pick<Gateway, 'view'>): Promise<readonly (string | undefined)[]> {
  const replay = createReplay({ texts: await traceTexts(view) })
  const skipped: (string | undefined)[] = []
  for await (const page of tracePages(view)) {
    for (const entry of page) {
      const replayed = replay.take(entry)
      if (replayed) skipped.push(replayed.skipped)
    }
  }
  return skipped
}

let first: Promise<{ site: Site; request: string }> | undefined

/** A copy of a closed site with a kept call and a waiting request; `request` is its id. */
async function used(): Promise<{ site: Site; request: string }> {
  const { site, request } = await (first ??= makeUsed())
  const folder = newFolder()
  const data = join(folder, 'data')
  const keyFile = join(folder, 'seal.key')
  cpSync(site.config.data, data, { recursive: true })
  cpSync(site.config.keep.keyFile, keyFile)
  const config = { ...site.config, data, headGuard: undefined, keep: { ...site.config.keep, keyFile } }
  return { site: { ...site, config, open: () => openGateway(config, site.keyring, silent) }, request }
}

async function makeUsed(): Promise<{ site: Site; request: string }> {
  const site = await createSite({ keep: LENGTH })
  const gateway = await site.open()
  await activate(gateway, POLICY)
  await call(gateway, 'notes/read', { name: 'a' })
  const { approval = '' } = await call(gateway, 'mail/send', { text: 'hello' })
  await gateway.close()
  return { site, request: approval }
}

describe('the key', () => {
  it('is created with the first start, readable only by this user, outside of the data directory', async () => {
    const { site } = await used()
    const { keyFile } = site.config.keep
    expect(statSync(keyFile).mode & 0o777).toBe(0o600)
    expect(bytesIn(site)).not.toContain(readFileSync(keyFile, 'utf8').trim().split(' ')[1])
    expect(createSealKey(site.config)).toBe(false)
    const env = { XDG_CONFIG_HOME: '/conf' }
    expect(dirname(defaultKeyFile('a/b', env))).toBe('/conf/tollgate')
    expect(defaultKeyFile('a/b', env)).not.toBe(defaultKeyFile('a-b', env))
  })

  it.each<[string, (file: string, data: string) => unknown, RegExp]>([
    ['is missing', (file) => rmSync(file), /^the key that encrypts kept calls is missing: /],
    ['is open to others', (file) => chmodSync(file, 0o640), /is open to other users \(mode 0640\)$/],
    ['is not a key', (file) => writeFileSync(file, 'hello'), /does not contain a key/],
    ['is a directory', (file) => [rmSync, mkdirSync].forEach((action) => action(file)), /is not a file$/],
    [
      'is in the data directory, through a link',
      (file, data) => {
        mkdirSync(join(data, 'sub'))
        renameSync(file, join(data, 'sub', 'seal.key'))
        return join(data, 'sub', 'seal.key')
      },
      /is in the data directory/,
    ],
  ])('that %s keeps the gateway from starting, and `doctor` says so', async (_, spoil, message) => {
    const { site } = await used()
    const { keep, data } = site.config
    const moved = spoil(keep.keyFile, data)
    const keyFile = typeof moved === 'string' ? moved : keep.keyFile
    const config = { ...site.config, keep: { ...keep, keyFile } }
    await expect(openGateway(config, site.keyring, silent)).rejects.toMatchObject({
      code: 'KEY_UNUSABLE',
      message: expect.stringMatching(message) as string,
    })
    const { view, close } = await openView(config)
    expect(await checkSealing(view, config)).toMatchObject([
      { level: 'fail', found: expect.stringMatching(message) as string },
    ])
    await close()
  })

  it('is not created in the data directory through a link', async () => {
    const { site } = await used()
    const { data } = site.config
    const link = join(newFolder(), 'link')
    symlinkSync(data, link)
    for (const keyFile of [join(link, 'seal.key'), join(link, 'deeper', 'seal.key')]) {
      expect(() => createSealKey({ data, keep: { keyFile } })).toThrow(/is in the data directory/)
      expect(existsSync(keyFile)).toBe(false)
    }
    expect(existsSync(join(data, 'deeper'))).toBe(false)
  })

  it('is not replaced without a warning of `doctor` and a line in the log', async () => {
    const { site } = await used()
    rmSync(site.config.keep.keyFile)
    createSealKey(site.config)
    const { view, close } = await openView(site.config)
    expect(await checkSealing(view, site.config)).toMatchObject([
      {
        level: 'warn',
        found: expect.stringMatching(/is not the key that the ledger was last sealed with$/) as string,
      },
    ])
    await close()
    const said: unknown[][] = []
    const open = () => openGateway(site.config, site.keyring, (...line) => void said.push(line))
    await (await open()).close()
    const warnings = said.filter(([level]) => level === 'warn')
    expect(warnings).toMatchObject([
      ['warn', expect.stringMatching(/kept calls has changed/), { file: site.config.keep.keyFile }],
    ])
    // Logged once: from then on it is the current key.
    await (await open()).close()
    expect(said.filter(([level]) => level === 'warn')).toHaveLength(1)
  })

  it('that was lost can be replaced: old records stay unreadable, new ones are readable', async () => {
    const { site, request } = await used()
    rmSync(site.config.keep.keyFile)
    const alone = await openView(site.config)
    expect(await skippedIn(alone)).toEqual(
      Array(2).fill('not readable: the key of the kept calls is missing'),
    )
    await alone.close()
    createSealKey(site.config)
    const gateway = await site.open()
    const answer = { tenant: 'default', request, approver: 'user:olga', granted: true }
    await expect(answerRequest(gateway.kernel, answer)).rejects.toMatchObject({ code: 'APPROVAL_REFUSED' })
    await call(gateway, 'notes/read', { name: 'b' }, { session_id: 'after' })
    expect((await skippedIn(gateway)).map((why) => why === undefined)).toEqual([false, false, true])
    expect(await checkSealing(gateway.view, site.config)).toMatchObject([{ level: 'ok' }])
    await gateway.close()
  })

  it('opens the arguments of waiting requests after a restart, so that they can be approved', async () => {
    const { site, request } = await used()
    const gateway = await site.open()
    const answer = { tenant: 'default', request, approver: 'user:olga', granted: true }
    expect(await answerRequest(gateway.kernel, answer)).toMatchObject({ id: expect.any(String) as string })
    await gateway.close()
  })

  it('is not needed for unencrypted records of an earlier version', async () => {
    const { site } = await used()
    const sealer = readSealKey(site.config)
    const gateway = await site.open()
    const texts = new Map([
      ['kept\n1', '{"args":{}}'],
      ['kept\n2', sealer.seal('kept\n2', '{"args":{"a":1}}')],
    ])
    const raw = { ...gateway.view, record: (name: string) => Promise.resolve(texts.get(name)) }
    const view = openingView(raw, () => sealer)
    expect(await view.record('kept\n1')).toBe('{"args":{}}')
    expect(await view.record('kept\n2')).toBe('{"args":{"a":1}}')
    expect(await view.record('kept\n3')).toBeUndefined()
    await gateway.close()
  })
})
