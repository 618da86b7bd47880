// The approvals view: its keys, its screen, and the whole of it on a real pseudo-terminal. The last part needs the build.

import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { drawView } from '../../src/cli/people/approvals-screen.ts'
import { EMPTY_VIEW, pressed, refreshed, type ViewState } from '../../src/cli/people/approvals-state.ts'
import type { WaitingApproval } from '../../src/cli/people/approvals.ts'
import { keysIn, wrapped } from '../../src/cli/program/screen.ts'
import { openTerminal } from '../../src/cli/program/terminal.ts'
import { HAS_SCRIPT, onTerminal, withoutTerminal, type Answer } from './pseudo-terminal.ts'

const COMMAND = fileURLToPath(new URL('../../bin/tollgate.mjs', import.meta.url))
// Standard output of a test is no terminal, so these colours change nothing.
const PLAIN = openTerminal(true).paint
const NOW = Date.parse('2026-01-05T09:00:00Z')

function waiting(letter: string, more: Partial<WaitingApproval> = {}): WaitingApproval {
  return {
    id: letter.repeat(64),
    principal: 'agent:demo',
    session: 's1',
    tool: 'demo/post_note',
    reason_code: 'APPROVAL_REQUIRED',
    rule: 'posting',
    asks: ['policy APPROVAL_REQUIRED'],
    arguments: { name: letter },
    approvers: [],
    until: '2026-01-05T09:14:32Z',
    ...more,
  }
}

function press(state: ViewState, ...keys: readonly string[]): ReturnType<typeof pressed> {
  return keys.reduce<ReturnType<typeof pressed>>((last, key) => pressed(last.state, key, true), { state })
}

const TWO = refreshed(EMPTY_VIEW, [waiting('a'), waiting('b')])

describe('a key of the approvals view', () => {
  it('approves the selected request once', () => {
    expect(press(TWO, 'down', 'a').answer).toMatchObject({ word: 'approve', request: { id: 'b'.repeat(64) } })
  })

  it('denies with a typed reason, in which letters are no commands', () => {
    const { answer } = press(TWO, 'd', 'q', 'a', 'x', 'backspace', 'enter')
    expect(answer).toMatchObject({ word: 'deny', because: 'qa' })
    expect(press(TWO, 'd', 'x', 'escape').answer).toBeUndefined()
  })

  it('asks for a reason before an approval that needs one', () => {
    const one = refreshed(EMPTY_VIEW, [waiting('a', { reason_required: true })])
    expect(press(one, 'a').answer).toBeUndefined()
    expect(press(one, 'a', 'o', 'k', 'enter').answer).toMatchObject({ word: 'approve', because: 'ok' })
  })

  it('approves nothing that was not shown to its end, and nothing without arguments', () => {
    expect(pressed(TWO, 'a', false).answer).toBeUndefined()
    const { arguments: _, ...lost } = waiting('a')
    expect(press(refreshed(EMPTY_VIEW, [lost]), 'a').answer).toBeUndefined()
  })

  it('does not answer another request that took the place of the selected one', () => {
    const moved = refreshed(TWO, [waiting('b')])
    expect(press(moved, 'a').answer).toBeUndefined()
    expect(press(moved, 'a', 'a').answer).toMatchObject({ request: { id: 'b'.repeat(64) } })
    const typing = refreshed(press(TWO, 'd', 'x').state, [waiting('b')])
    expect(press(typing, 'enter').answer).toBeUndefined()
  })

  it('stays on its request when the list changes', () => {
    const more = refreshed(TWO, [waiting('c'), waiting('a'), waiting('b')])
    expect(press(more, 'a').answer).toMatchObject({ request: { id: 'a'.repeat(64) } })
  })
})

describe('the screen of the approvals view', () => {
  it.each([
    [80, 24],
    [140, 40],
    [40, 12],
  ])('fits %i columns and %i rows, and counts down', (columns, rows) => {
    const { lines } = drawView(TWO, { columns, rows }, NOW, PLAIN)
    expect(lines.length).toBeLessThanOrEqual(rows)
    for (const line of lines) expect(Array.from(line).length).toBeLessThanOrEqual(columns)
    expect(lines.join('\n')).toContain('14:32')
  })

  it('shows every character of the arguments, none as a control character', () => {
    const args = { text: `${'x'.repeat(300)}\u001B[2J\u202Eend` }
    const { lines } = drawView(
      refreshed(EMPTY_VIEW, [waiting('a', { arguments: args })]),
      { columns: 80, rows: 40 },
      NOW,
      PLAIN,
    )
    const text = lines.map((line) => line.trim()).join('')
    expect(text).toContain('x'.repeat(300))
    expect(text).toContain('end')
    expect(text).not.toMatch(/[\u0000-\u001F\u202E]/)
  })

  it('says that there is more, and where the end is', () => {
    const long = waiting('a', { arguments: Array.from({ length: 50 }, (_, i) => i) })
    const size = { columns: 80, rows: 24 }
    const first = refreshed(EMPTY_VIEW, [long])
    expect(drawView(first, size, NOW, PLAIN)).toMatchObject({ isAllSeen: false })
    expect(drawView({ ...first, scroll: 60 }, size, NOW, PLAIN)).toMatchObject({ isAllSeen: true })
  })

  it('reads arrow keys, letters and unknown sequences', () => {
    expect(keysIn('\u001B[Aa\u001B[99~\r\u001BOB')).toEqual(['up', 'a', 'enter', 'down'])
    expect(wrapped('購物購物', 4)).toEqual(['購物', '購物'])
  })
})

describe.runIf(HAS_SCRIPT)('tollgate approvals', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-view-'))
  const data = join(folder, 'data')
  const env = { PATH: process.env.PATH ?? '', HOME: folder, TOLLGATE_DATA: data, TERM: 'xterm' }
  const place = { cwd: folder, env: { ...env, TOLLGATE_TOKEN: '' } }
  let gateway: ChildProcessWithoutNullStreams
  let evaluate: (name: string) => Promise<{ readonly receipt: string }>

  beforeAll(async () => {
    gateway = spawn(process.execPath, [COMMAND, 'up', '--port', '0', '--json'], { cwd: folder, env })
    // Sound: a pipe gives bytes, and `up --json` prints these members.
    const [up] = (await once(gateway.stdout, 'data')) as readonly Buffer[]
    const { url, agent_token, admin_token } = JSON.parse(String(up)) as Record<string, string>
    place.env.TOLLGATE_TOKEN = admin_token ?? ''
    const headers = { authorization: `Bearer ${agent_token ?? ''}`, 'content-type': 'application/json' }
    evaluate = async (name) => {
      const call = { tool: 'demo/post_note', arguments: { url: 'https://partner.example/in', name } }
      const answer = await fetch(`${url ?? ''}/v1/evaluate`, {
        method: 'POST',
        headers,
        body: JSON.stringify(call),
      })
      return (await answer.json()) as { readonly receipt: string }
    }
  })

  afterAll(async () => {
    const ended = once(gateway, 'close')
    gateway.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true, force: true })
  })

  it('approves on a terminal, restores the screen, and prints the list without one', async () => {
    expect(await evaluate('tea')).toMatchObject({ verdict: 'ESCALATE' })
    expect((await withoutTerminal(place, ['approvals'])).stdout).toContain('demo/post_note')
    const sized = (command: string): string =>
      `stty cols 80 rows 24; trap : INT; ${command}; echo "exit $?"; stty -a`
    const { output } = await onTerminal(
      place,
      ['approvals'],
      [
        [/"name": "tea"[^]*q quit/, 'a'],
        [/approved [0-9a-f]{8}/, '\u0003'],
      ],
      sized,
    )
    expect(output).toMatch(/\u001B\[\?1049h[^]*\u001B\[\?1049l[^]*exit 130/)
    expect(output).toMatch(/[^-]\bicanon\b/)
    expect(await evaluate('tea')).toMatchObject({ verdict: 'ALLOW', reason_code: 'APPROVAL_GRANTED' })
  })

  it('becomes a file for an admin if the role may not activate a policy', async () => {
    const { receipt } = await evaluate('milk')
    const issue = ['tokens', 'issue', '--role', 'operator', '--principal', 'user:olga']
    const token = (await withoutTerminal(place, issue)).stdout.trim()
    const olga = { ...place, env: { ...place.env, TOLLGATE_TOKEN: token } }
    const { exit, output } = await withoutTerminal(olga, ['approvals', 'always', receipt])
    expect([exit, output]).toEqual([1, expect.stringMatching(/your role `operator` may not activate/)])
    const file = `policy-always-${receipt.slice(0, 8)}.yaml`
    expect(readFileSync(join(folder, file), 'utf8')).toContain('learned-demo-post-note')
    expect(await evaluate('milk')).toMatchObject({ verdict: 'ESCALATE' })
    const again = await withoutTerminal(olga, ['approvals', 'always', receipt])
    expect(again.output).toContain('exists; nothing was written')
  })

  it('changes nothing if no person confirms', async () => {
    const { receipt } = await evaluate('salt')
    const { exit, output } = await withoutTerminal(place, ['approvals', 'always', receipt])
    expect([exit, output]).toEqual([1, expect.stringMatching(/a person has to confirm/)])
    const no = await onTerminal(place, ['approvals', 'always', receipt], [[/approve the call\?/, 'n\r']])
    expect(no.output).toContain('nothing has changed')
    expect(await evaluate('salt')).toMatchObject({ verdict: 'ESCALATE' })
  })

  it('allows exactly this call from then on, in the policy and in its file', async () => {
    const keys: readonly Answer[] = [
      [/q quit/, 'w'],
      [/approve the call\?/, 'y\r'],
      [/press Enter/, '\r'],
      [/q quit/, 'q'],
    ]
    const { output } = await onTerminal(place, ['approvals'], keys)
    expect(output).toMatch(
      /\+ {3}- id: learned-demo-post-note[^]*Calls that become allowed[^]*approved [0-9a-f]{8}/,
    )
    // The oldest request was selected.
    expect(await evaluate('milk')).toMatchObject({ verdict: 'ALLOW', rule: 'learned-demo-post-note' })
    expect(await evaluate('salt')).toMatchObject({ verdict: 'ESCALATE' })
    expect(readFileSync(join(data, 'policy.yaml'), 'utf8')).toContain('learned-demo-post-note')
    const { stdout } = await withoutTerminal(place, ['status', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ policy: { name: 'starter' } })
  })
})
