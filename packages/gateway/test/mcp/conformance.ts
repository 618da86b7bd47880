// Runs the official conformance suite against a server directly and through the gateway. A check that passes directly must pass
// through the gateway. Exceptions are in `conformance-exceptions.json`, with reasons.

import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { npm, saw } from '../../../../tools/compat/saw.ts'
import { newFolder } from '../gateway-rig.ts'
import { openGate, type Gate } from './gate.ts'
import type { Started } from './peers.ts'

// The suite needs a newer Node than the gateway does.
const newest = process.env.TOLLGATE_NEWEST_NODE
const suite = fileURLToPath(
  new URL('../../../../compat/node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
)
/** Checks that differ through the gateway, by target and then by `scenario:check`, with the reason. */
export const EXCEPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = JSON.parse(
  readFileSync(new URL('./conformance-exceptions.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, Readonly<Record<string, string>>>>

/** The results of the suite, by `scenario:check`. For a repeated check, the worst result. */
type Findings = ReadonlyMap<string, string>

// Best first. `INFO` means that an optional feature uses another permitted way.
const STATUSES = ['SUCCESS', 'INFO', 'SKIPPED', 'WARNING', 'FAILURE']
const worse = (a: string, b: string): string => (STATUSES.indexOf(a) < STATUSES.indexOf(b) ? b : a)

/** Runs every scenario against a server. */
async function conformance(url: string): Promise<Findings> {
  const folder = newFolder()
  const args = [suite, 'server', '--url', url, '--suite', 'all', '-o', folder, '--timeout', '10000']
  const said = await new Promise<string>((resolve) => {
    // It exits with 1 if anything failed. The failures are in its files.
    execFile(newest ?? '', args, { cwd: folder, maxBuffer: 1 << 26 }, (_fault, ...out) =>
      resolve(out.join('\n')),
    )
  })
  if (!said.includes('=== SUMMARY ===')) throw new Error(`the suite ended early: ${said.slice(-2000)}`)
  const found = new Map<string, string>()
  for (const name of readdirSync(folder)) {
    const scenario = /^server-(.*)-\d{4}-\d\d-\d\dT/.exec(name)?.[1] ?? name
    const file = join(folder, name, 'checks.json')
    // A scenario that aborts leaves no file: then none of its checks has passed.
    const checks = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Check[]) : []
    for (const { id, status } of checks) {
      const key = `${scenario}:${id}`
      found.set(key, worse(found.get(key) ?? 'SUCCESS', status))
    }
  }
  return found
}

interface Check {
  readonly id: string
  readonly status: string
}

/** The suite sends no token, so this proxy adds one. It changes nothing else. */
function startRelay(target: string, token: string): Promise<Server> {
  const { hostname, port, pathname } = new URL(target)
  const relay = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${token}` }
    const sent = request(
      { hostname, port, path: pathname, method: incoming.method, headers, agent: false },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        outgoing.flushHeaders()
        answer.pipe(outgoing)
      },
    )
    sent.on('error', () => outgoing.destroy())
    outgoing.on('close', () => sent.destroy())
    incoming.pipe(sent)
  })
  return new Promise((resolve) => relay.listen(0, '127.0.0.1', () => resolve(relay)))
}

const passes = (findings: Findings): string[] =>
  [...findings].filter(([, status]) => status === 'SUCCESS').map(([key]) => key)

/** Checks that fail through the gateway without an exception, and exceptions that are not needed. */
function compare(
  { direct, through }: Pair,
  exceptions: Readonly<Record<string, string>>,
): { unexpected: string[]; needless: string[] } {
  const lost = passes(direct).filter((key) => !['SUCCESS', 'INFO'].includes(through.get(key) ?? ''))
  return {
    unexpected: lost.filter((key) => !(key in exceptions)),
    needless: Object.keys(exceptions).filter((key) => !lost.includes(key)),
  }
}

interface Pair {
  readonly direct: Findings
  readonly through: Findings
}

/** Runs the suite against both at once, because it mostly waits. */
async function runBoth(server: string, gateway: string): Promise<Pair> {
  const [direct, through] = await Promise.all([conformance(server), conformance(gateway)])
  return { direct, through }
}

/** The better of two runs, because some checks depend on timing. */
function better(a: Findings, b: Findings): Findings {
  const best = new Map(b)
  for (const [key, status] of a) {
    const other = best.get(key)
    if (other === undefined || worse(status, other) === other) best.set(key, status)
  }
  return best
}

/** A target: its name in the exceptions, how to start it, and the least number of findings. */
export interface Target {
  readonly name: string
  readonly start: () => Promise<Started>
  readonly least: { readonly total: number; readonly passed: number }
}

/** Tests that every check that passes directly passes through the gateway. */
export function testConformance({ name, start, least }: Target): void {
  describe.skipIf(newest === undefined)(`the conformance suite and ${name}`, () => {
    let server: Started
    let gate: Gate
    let relay: Server
    let pair: Pair
    const exceptions = EXCEPTIONS[name] ?? {}

    beforeAll(async () => {
      server = await start()
      gate = await openGate({ [name]: { url: server.url } })
      await gate.meet(name)
      await gate.pin(name)
      relay = await startRelay(`${gate.url}/mcp/${name}`, gate.token)
      const { port } = relay.address() as AddressInfo
      const urls = [server.url, `http://localhost:${port}/mcp`] as const
      pair = await runBoth(...urls)
      const { unexpected, needless } = compare(pair, exceptions)
      if (unexpected.length + needless.length === 0) return
      const second = await runBoth(...urls)
      pair = {
        direct: better(pair.direct, second.direct),
        through: better(pair.through, second.through),
      }
    })

    afterAll(async () => {
      relay.closeAllConnections()
      relay.close()
      await gate.close()
      await server.stop()
    })

    const sawSuite = (): void =>
      saw(npm('@modelcontextprotocol/conformance', `against ${name}`), 'MCP, HTTP', 'allowed')

    test('find enough to compare', () => {
      expect(pair.direct.size).toBeGreaterThan(least.total)
      expect(passes(pair.direct).length).toBeGreaterThan(least.passed)
      sawSuite()
    })

    test('every check that passes directly passes through the gateway, except the exceptions', () => {
      expect(compare(pair, exceptions).unexpected).toEqual([])
      sawSuite()
    })

    test('every exception is still needed', () => {
      expect(compare(pair, exceptions).needless).toEqual([])
      sawSuite()
    })
  })
}
