// A fixed story that uses every step of the ladder. Its ledger must have the same bytes on every platform. Run as a program it
// prints their digest.

import { sha256Hex } from '@tollgate/evidence'
import { answerRequest, definitionOf, pinTool, setFreeze } from '../../src/admin.ts'
import { postObservation, type ToolCall } from '../../src/index.ts'
import { createRig, type Rig } from '../rig.ts'

const POLICY = `
principals: { "agent:*": { tier: standard } }
tools:
  "fs/*": { effect: read }
  "fs/write": { effect: write, schema: { type: object, properties: { path: { type: string, pattern: "^[\\\\w./-]+$" }, text: { type: string } } } }
  "mail/send": { effect: send, destinations: [to, cc], commit: salted }
  "http/post": { effect: send, destinations: [url] }
  "web/click": { effect: write, browser: true }
  "shell/run": { effect: execute, destinations: none }
rules:
  - { id: secrets, deny: "fs/*", when: 'args.path.matches("(^|/)[.]env")', because: secrets stay here }
  - { id: late, deny: "shell/*", when: 'time > timestamp("2026-01-05T12:00:00Z")' }
  - { id: big, deny: "http/post", when: 'size(args.url) > 200 || risk > 0.9' }
  - { id: files, allow: "fs/*" }
  - { id: clicks, allow: "web/*", door: browser }
  - { id: inside, allow: "http/post", when: 'destinations.all(d, d.host.endsWith("example.com"))' }
  - { id: mail, require: "mail/send", approvers: [ops], expires: 15m }
  - { id: shell, allow: "shell/run", principal: "agent:*", session: "s*" }
gates:
  egress: { allow: ["example.com", "*.example.com", "10.0.0.0/8", "bücher.example"], ask: ["ask.test"] }
  browser: { domains: ["*.example.com"], max-sentinel-risk: 70 }
  temporal: { rate: { "shell/*": 20/h } }
`

const CALLS: readonly Partial<ToolCall>[] = [
  { tool: 'fs/read', args: { path: 'README.md' } },
  { tool: 'fs/read', args: { path: 'a/.env' } },
  { tool: 'fs/read', args: { other: 1 } },
  { tool: 'fs/write', args: { path: 'ünïcode', text: 'x' } },
  { tool: 'fs/write', args: { path: 'notes.md', text: 'İstanbul ſtraße ﬁn 𝐛𝐨𝐥𝐝' } },
  { tool: 'http/post', args: { url: 'https://EXAMPLE.com./a?b=1e21', n: 1e21, m: 0.1, k: -5e-7 } },
  { tool: 'http/post', args: { url: 'https://bücher.example/ſ' } },
  { tool: 'http/post', args: { url: 'http://0x0a000001/' } },
  { tool: 'http/post', args: { url: 'https://example.com@evil.test/' } },
  { tool: 'http/post', args: { url: 'https://api.example.com/', body: 'export of customer credentials' } },
  { tool: 'mail/send', args: { to: 'a@example.com', cc: ['b@ask.test'], text: 'ok' } },
  { tool: 'mail/send', args: { to: 'Anna <a@example.com>, "b, c" <b@example.com>' } },
  { tool: 'shell/run', args: { command: 'sudo rm -rf /tmp/x' } },
  { tool: 'no/such', args: {} },
  { tool: 'fs/read', raw: '{"path":"a","path":"b"}' },
  { tool: 'fs/read', args: { path: 'x' }, context: { environment: 'prod' }, principal: 'agent:other' },
]

/** Runs the story. `pause` is called between its parts, with no open calls. */
export async function tell(pause: (rig: Rig) => Promise<unknown> = () => Promise.resolve()): Promise<string> {
  const rig = await createRig({ policy: POLICY })
  for (let part = 0; part < 12; part++) {
    for (const [i, call] of CALLS.entries()) {
      rig.host.advance(1000 * (1 + ((part * 7 + i) % 13)))
      await rig.enforce({ ...call, session_id: `s${(part + i) % 3}` })
    }
    await interlude(rig, part)
    await pause(rig)
  }
  return sha256Hex(rig.store.envelopes.map((envelope) => sha256Hex(envelope)).join('\n'))
}

async function interlude(rig: Rig, part: number): Promise<void> {
  const [request] = rig.kernel.approvals.list(rig.host.time)
  if (request) {
    const answer = { tenant: 'default', request: request.id, approver: 'user:olga', groups: ['ops'] }
    await answerRequest(rig.kernel, { ...answer, granted: part % 3 !== 0 })
  }
  const hash = 'ab'.repeat(32)
  const observation = { url: 'https://shop.example.com/', dom_hash: hash, visual_text_hash: hash }
  const id = postObservation(rig.kernel, 'default', {
    ...observation,
    sentinel_risk: part * 9,
    sentinel_findings: ['HIDDEN_TEXT'],
  })
  const browser = { observation_id: id, observation, planner_ref: `plan-${part}` }
  await rig.enforce({ tool: 'web/click', door: 'browser', args: { selector: '#buy' }, browser })
  if (part === 4) {
    const definition = definitionOf({
      inputSchema: { type: 'object', properties: { q: { type: 'string' } } },
    })
    rig.kernel.catalogue.offer('fs/search', definition)
    await pinTool(rig.kernel, 'fs/search', definition.hash, 'user:olga')
  }
  if (part === 6)
    await setFreeze(rig.kernel, { scope: 'session', target: 's1', frozen: true, by: 'user:olga' })
  if (part === 8)
    await setFreeze(rig.kernel, { scope: 'session', target: 's1', frozen: false, by: 'user:olga' })
}

if (process.argv.includes('--tell')) process.stdout.write(`${process.version} ${await tell()}\n`)
