// The API on a real kernel with an in-memory store, fixed keys, a controllable clock, and people with tokens.

import {
  formatTrust,
  importSigningKey,
  noteKey,
  parseJson,
  sealCheckpoint,
  sha256Hex,
  signDelegation,
  toBase64,
  type Decision,
  type DelegationStatement,
  type Json,
  type Receipt,
  type SigningKey,
} from '@tollgate/evidence'
import {
  createMemoryStore,
  foundingBatch,
  openKernel,
  type Host,
  type Kernel,
  type KernelOptions,
  type MemoryStore,
  type Store,
} from '@tollgate/kernel'
import { activatePolicy } from '@tollgate/kernel/admin'
import { parsePolicy } from '@tollgate/kernel/policy'
import { App, type ApiOptions } from '../../src/api/app.ts'
import { findRoute } from '../../src/api/routes.ts'
import { problemsIn } from '../../src/api/schema.ts'
import { PROBLEM, problemsOf } from '../../src/api/openapi.ts'
import { PROBLEMS } from '../../src/api/problem.ts'
import type { Level } from '../../src/log.ts'
import type { SignIn } from '../../src/sign-in/sign-in.ts'
import { createMeter } from '../../src/telemetry/meter.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { openTokens, type Role, type Tokens } from '../../src/tokens.ts'
import type { EntryFilter, LedgerEntry, LedgerView } from '../../src/view.ts'

export const ORIGIN = 'ledger.example/api'
export const START: number = Date.UTC(2026, 0, 5, 9, 0, 0)

const keys = new Map<string, Promise<SigningKey>>()

export const POLICY = `
tollgate: 1
name: test
tools:
  "fs/read_file": { effect: read }
  "fs/write_file": { effect: write }
  "mail/send": { effect: send, destinations: [to] }
  "web/click": { effect: write, browser: true }
rules:
  - { id: reading, allow: "fs/read_file" }
  - { id: writing, deny: "fs/write_file", because: nothing is written here }
  - { id: mail, require: "mail/send" }
  - { id: clicks, allow: "web/click" }
gates:
  egress: { allow: [example.com] }
  browser: { domains: [example.com], max-sentinel-risk: 50 }
`

/** The same, where agent:a may delegate. */
export const DELEGATING: string = `${POLICY}
principals:
  "agent:a": { tier: standard, key: ${toBase64((await fixedKey('agent:a')).publicKey.bytes)} }
  "agent:only": { tier: standard, delegate-only: true }
`

/** A delegation signed by `agent:a`, or by `signer`. */
export async function delegated(
  given: Partial<DelegationStatement> = {},
  signer = 'agent:a',
): Promise<{ readonly id: string; readonly envelope: string }> {
  const statement: DelegationStatement = {
    v: 1,
    ledger: ORIGIN,
    tenant: 'default',
    delegator: 'agent:a',
    delegate: 'agent:c',
    tools: ['fs/*'],
    until: new Date(START + 3_600_000).toISOString(),
    depth: 1,
    parent: null,
    nonce: 'one',
    ...given,
  }
  const { id, envelope } = await signDelegation(statement, await fixedKey(signer))
  return { id, envelope: Buffer.from(envelope).toString() }
}

/** The people and their tokens, by their names in tests. */
export const PEOPLE = {
  agent: { role: 'agent', tenant: 'default', principal: 'agent:a' },
  other: { role: 'agent', tenant: 'default', principal: 'agent:b' },
  host: { role: 'host', tenant: 'default', principal: 'agent:a' },
  sentinel: { role: 'sentinel', tenant: 'default', principal: 'sentinel:a' },
  operator: { role: 'operator', tenant: 'default', principal: 'user:olga' },
  admin: { role: 'admin', tenant: 'default', principal: 'user:ada' },
  auditor: { role: 'auditor', tenant: 'default', principal: 'user:aude' },
  metrics: { role: 'metrics', tenant: 'default', principal: 'monitor:prometheus' },
  'far-agent': { role: 'agent', tenant: 'far', principal: 'agent:a' },
  'far-operator': { role: 'operator', tenant: 'far', principal: 'user:olga' },
  'far-admin': { role: 'admin', tenant: 'far', principal: 'user:ada' },
  'far-auditor': { role: 'auditor', tenant: 'far', principal: 'user:aude' },
} as const satisfies Readonly<Record<string, { role: Role; tenant: string; principal: string }>>

export type Person = keyof typeof PEOPLE

function fixedKey(name: string): Promise<SigningKey> {
  const seed = new Uint8Array(Buffer.from(sha256Hex(`tollgate gateway test key: ${name}`), 'hex'))
  const key = keys.get(name) ?? importSigningKey(seed)
  keys.set(name, key)
  return key
}

export interface TestHost extends Host {
  time: number
}

export interface RigOptions {
  readonly policy?: string
  readonly kernel?: Partial<KernelOptions>
  readonly api?: Partial<ApiOptions>
  /** Accepts the access tokens of an issuer. */
  readonly signIn?: (kernel: Kernel) => SignIn
  /** A wrapper of the store, to make it fail. */
  readonly between?: (store: Store) => Store
}

/** Everything that a test of the API needs. */
export interface ApiRig {
  readonly host: TestHost
  readonly store: MemoryStore
  readonly kernel: Kernel
  readonly view: LedgerView
  readonly tokens: Tokens
  readonly options: ApiOptions
  readonly app: App
  readonly log: { level: Level; message: string; fields: Readonly<Record<string, unknown>> }[]
  /** The text of the policy file; undefined if there is none. */
  policyFile: string | undefined
  token(person: Person): string
  /** Sends a request as a person, in process, and checks the answer against the description of the route. */
  ask(person: Person | undefined, method: string, url: string, body?: Json | string): Promise<Answered>
  receipts(): readonly Receipt[]
  trust(): Promise<string>
}

export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: Record<string, unknown>
}

export async function createApiRig(given: RigOptions = {}): Promise<ApiRig> {
  const [ledgerKey, writerKey] = [await fixedKey('ledger'), await fixedKey('writer')]
  const memory = createMemoryStore([ledgerKey, writerKey])
  const listeners = new Set<(size: number) => void>()
  const store: Store = {
    ...boundTo(memory),
    async write(batch) {
      await memory.write(batch)
      for (const listener of [...listeners]) listener(memory.envelopes.length)
    },
  }
  const metrics = createMetrics()
  const host: TestHost = {
    time: START,
    meter: createMeter(metrics),
    now: () => host.time,
    salt: () => new Uint8Array(32).fill(7),
    after: () => () => undefined,
  }
  await memory.write(
    foundingBatch({
      origin: ORIGIN,
      writer: 'gateway',
      ledgerKey: ledgerKey.publicKey,
      writerKey: writerKey.publicKey,
      time: START,
    }),
  )
  const kernel = await openKernel({
    store: given.between ? given.between(store) : store,
    host,
    origin: ORIGIN,
    writer: 'gateway',
    key: writerKey.publicKey.id,
    ...given.kernel,
  })
  const parsed = parsePolicy(given.policy ?? POLICY)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.mistakes))
  await activatePolicy(kernel, parsed.policy, 'user:ada')
  const signIn = given.signIn?.(kernel)
  const tokens = await openTokens(kernel, signIn)
  const held = new Map<string, string>()
  for (const [name, person] of Object.entries(PEOPLE)) {
    held.set(name, (await tokens.issue({ ...person, groups: ['ops'] }, 'test')).token)
  }
  const view = viewOf(memory)
  const log: ApiRig['log'] = []
  const options: ApiOptions = {
    kernel,
    view,
    tokens,
    ...(signIn && { signIn }),
    checkpoint: () => sealCheckpoint({ origin: ORIGIN, ...memory.tree() }, [ledgerKey]),
    watch(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    policyFile: () => rig.policyFile,
    version: '0.0.0-test',
    log: (level, message, fields = {}) => void log.push({ level, message, fields }),
    limits: { body: 65_536 },
    metrics,
    ...given.api,
  }
  const app = new App(options)
  const rig: ApiRig = {
    ...{ host, store: memory, kernel, view, tokens, options, app, log },
    policyFile: given.policy ?? POLICY,
    token: (person) => held.get(person) ?? '',
    async ask(person, method, url, body) {
      const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
      const response = await app.fetch(
        new Request(`http://gateway.test${url}`, {
          method,
          headers: {
            ...(person && { authorization: `Bearer ${rig.token(person)}` }),
            ...(text !== undefined && { 'content-type': 'application/json' }),
          },
          ...(text !== undefined && { body: text }),
        }),
      )
      return described(method, url, response)
    },
    receipts: () => memory.entries.map(({ receipt }) => receipt),
    trust: () =>
      Promise.resolve(
        formatTrust({
          ledger: ORIGIN,
          keys: [noteKey(ORIGIN, ledgerKey.publicKey)],
          witnesses: [],
          quorum: 0,
        }),
      ),
  }
  return rig
}

/** Reads an answer, and throws if the route does not describe it. */
export async function described(method: string, url: string, response: Response): Promise<Answered> {
  const { status, headers } = response
  const text = await response.text()
  const type = headers.get('content-type') ?? ''
  const isJson = type.includes('json')
  const json = isJson ? (parseJson(text) as Record<string, unknown>) : {}
  const problem = undocumented(method, url.split('?')[0] ?? '', status, type, isJson ? (json as Json) : text)
  if (problem !== undefined) throw new Error(`${method} ${url} answers ${status} ${text}: ${problem}`)
  return { status, headers, text, json }
}

function undocumented(
  method: string,
  path: string,
  status: number,
  type: string,
  value: Json,
): string | undefined {
  let route
  try {
    route = findRoute(method, path).route
  } catch {
    return status === 404 || status === 405 || status === 400 ? undefined : 'there is no such route'
  }
  if (status >= 400) {
    const { code } = value as { code: keyof typeof PROBLEMS }
    const malformed = [...problemsIn(PROBLEM, value), ...(type === 'application/problem+json' ? [] : [type])]
    if (malformed.length > 0) return malformed.join('; ')
    if (!problemsOf(route).includes(code)) return `the problem \`${code}\` is not listed`
    return PROBLEMS[code].status === status ? undefined : 'the problem has another status'
  }
  const answer = route.answers[status]
  if (!answer) return 'the status is not listed'
  if (type !== (answer.type ?? 'application/json')) return `the type \`${type}\` is not listed`
  const problems = answer.schema ? problemsIn(answer.schema, value) : []
  return problems.length > 0 ? problems.join('; ') : undefined
}

function boundTo(store: MemoryStore): Store {
  return {
    head: () => store.head(),
    write: (batch) => store.write(batch),
    load: (names) => store.load(names),
    list: (prefix, of) => store.list(prefix, of),
  }
}

/** The view over an in-memory store: as simple as possible, as the model for others. */
export function viewOf(store: MemoryStore): LedgerView {
  const entry = (index: number): LedgerEntry | undefined => {
    const parsed = store.entries[index]
    const envelope = store.envelopes[index]
    return parsed && envelope && { index, id: parsed.id, payload: parsed.payload, envelope }
  }
  const indexOf = (id: string): number => store.entries.findIndex((each) => each.id === id)
  const reader = store.reader('', () => undefined)
  return {
    size: () => Promise.resolve(store.envelopes.length),
    page({ filter, direction, from, limit }) {
      const step = direction === 'on' ? 1 : -1
      const size = store.envelopes.length
      const entries: LedgerEntry[] = []
      let index = Math.min(from ?? (direction === 'on' ? 0 : size - 1), direction === 'on' ? size : size - 1)
      for (; index >= 0 && index < size && entries.length < limit; index += step) {
        const found = entry(index)
        if (found && fits(store, filter, index)) entries.push(found)
      }
      return Promise.resolve({ entries, next: index >= 0 && index < size ? index : undefined })
    },
    find: (id) => Promise.resolve(entry(indexOf(id))),
    begins(digits) {
      const found = store.entries.flatMap(({ id }, i) => (id.startsWith(digits) ? (entry(i) ?? []) : []))
      return Promise.resolve(found.slice(0, 10))
    },
    envelopes: (start, end) => Promise.resolve(store.envelopes.slice(start, end)),
    payloads: (start, limit, prefix) =>
      Promise.resolve(
        store.entries.slice(start, start + limit).map(({ id, payload, receipt }, i) => {
          const clock = String(receipt.lamport_clock).padStart(16, '0')
          const beside = prefix === undefined ? undefined : store.records.get(`${prefix}${clock}\n${id}`)
          const text = new TextDecoder().decode(payload)
          return { index: start + i, id, text, ...(beside !== undefined && { beside }) }
        }),
      ),
    indexesOf: (kinds) =>
      Promise.resolve(store.entries.flatMap(({ receipt }, i) => (kinds.includes(receipt.kind) ? [i] : []))),
    node: (level, index) => reader.node(level, index),
    rootAt: () => Promise.reject(new Error('not needed here')),
    record: (name) => Promise.resolve(store.records.get(name)),
    records(prefix, after, limit) {
      const names = [...store.records.keys()].filter((name) => name.startsWith(prefix) && name > after).sort()
      const found = names.slice(0, limit).map((name) => ({ name, text: store.records.get(name) ?? '' }))
      return Promise.resolve(found)
    },
    recordNames: (prefix) =>
      Promise.resolve([...store.records.keys()].filter((name) => name.startsWith(prefix)).sort()),
    checkpoint: () => Promise.resolve(undefined),
  }
}

function fits(store: MemoryStore, filter: EntryFilter, index: number): boolean {
  const receipt = store.entries[index]?.receipt
  if (!receipt) return false
  const about = receipt.kind === 'effect' || receipt.kind === 'approval' ? receipt.decision : undefined
  const decision = (about === undefined ? receipt : store.entries.find(({ id }) => id === about)?.receipt) as
    | Decision
    | undefined
  const own = receipt.kind === 'decision' ? receipt : undefined
  const { kind, tenant, principal, tool, verdict, session } = filter
  const { since = -Infinity, until = Infinity } = filter
  const time = Date.parse(receipt.time)
  return (
    time >= since &&
    time < until &&
    (kind === undefined || receipt.kind === kind) &&
    (tenant === undefined || receipt.tenant === tenant) &&
    (principal === undefined || (decision?.kind === 'decision' && decision.principal === principal)) &&
    (tool === undefined || own?.tool === tool) &&
    (verdict === undefined || own?.verdict === verdict) &&
    (session === undefined || own?.session.id === session) &&
    (filter.decision === undefined ||
      about === filter.decision ||
      store.entries[index]?.id === filter.decision)
  )
}

/**
 * Runs requests that are written as text:
 *
 *     agent POST /v1/evaluate {"tool":"fs/read_file"}
 *     status 200
 *     body verdict "ALLOW"
 *     let $id = receipt
 *
 * The first word is a person of `PEOPLE`, or `nobody` for no token. `body` compares a member (with dots) with a JSON value, `has` looks
 * for a text in the answer, `header` compares a header. What `let` names can be used in later lines.
 */
export async function script(rig: ApiRig, text: string): Promise<void> {
  const named = new Map<string, string>()
  let answer: Answered | undefined
  for (const raw of text.split('\n').map((line) => line.trim())) {
    const line = raw.startsWith('let ') ? raw : raw.replace(/\$\w+/g, (name) => named.get(name) ?? name)
    if (line === '' || line.startsWith('#')) continue
    const fail = (found: unknown): never => {
      throw new Error(`\`${line}\` does not hold: ${JSON.stringify(found)} in ${answer?.text ?? ''}`)
    }
    const request = /^(nobody|[a-z-]+) (GET|POST|DELETE|PUT|OPTIONS) (\S+)(?: (.*))?$/.exec(line)
    const [word = '', first = '', ...rest] = line.split(' ')
    if (request) {
      const [, person = '', method = '', url = '', body] = request
      answer = await rig.ask(person === 'nobody' ? undefined : (person as Person), method, url, body)
    } else if (word === 'status') {
      if (String(answer?.status) !== first) fail(answer?.status)
    } else if (word === 'header') {
      if (answer?.headers.get(first) !== rest.join(' ')) fail(answer?.headers.get(first))
    } else if (word === 'has') {
      if (!answer?.text.includes([first, ...rest].join(' '))) fail('the answer')
    } else if (word === 'body') {
      const found = memberOf(answer?.json, first)
      if (JSON.stringify(found) !== JSON.stringify(JSON.parse(rest.join(' ')))) fail(found)
    } else if (word === 'let') {
      named.set(first, String(memberOf(answer?.json, rest[1] ?? '')))
    } else throw new Error(`unknown line: ${line}`)
  }
}

function memberOf(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], value)
}
