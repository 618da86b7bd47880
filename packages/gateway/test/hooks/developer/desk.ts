// A developer's desk: three projects in a home directory, a kernel under the policy for developers, and the hook door.

import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Decision } from '@tollgate/evidence'
import { onTestFinished } from 'vitest'
import { hookClient } from '../../../src/hooks/clients.ts'
import { answerHook } from '../../../src/hooks/door.ts'
import { silent } from '../../../src/log.ts'
import { createApiRig, type ApiRig } from '../../api/rig.ts'
import type { Line, Places } from './day.ts'

export const POLICY: string = readFileSync(
  new URL('../../../../../examples/policies/developer.yaml', import.meta.url),
  'utf8',
)

type Call = Line & { readonly is: 'call' }

/** One principal that works in sessions. */
export interface Desk {
  readonly rig: ApiRig
  readonly home: string
  readonly places: (project: string) => Places
  /** Sends an event of Claude Code in a session of a project, and returns the answer of the door. */
  send(
    project: string,
    session: string,
    event: Record<string, unknown>,
    principal?: string,
  ): Promise<Record<string, unknown>>
  /** Asks about a call. Returns the decision. */
  ask(
    project: string,
    session: string,
    call: Pick<Call, 'tool' | 'args'>,
    principal?: string,
  ): Promise<Decision>
  /** Asks about a call, and reports its output if it was allowed. */
  run(project: string, session: string, call: Call): Promise<Decision>
}

/** Sets up a desk. */
export async function createDesk(policy: string = POLICY): Promise<Desk> {
  // The policy allows more in /tmp.
  const home = realpathSync(mkdtempSync('/var/tmp/desk-'))
  onTestFinished(() => rmSync(home, { recursive: true }))
  const gate = join(home, '.local/state/tollgate')
  for (const folder of ['ts/src', 'ts/packages/client', 'py/src', 'go/internal', '.ssh', '.claude'])
    mkdirSync(join(home, folder), { recursive: true })
  mkdirSync(gate, { recursive: true })
  writeFileSync(join(home, '.ssh/id_ed25519'), 'key')
  writeFileSync(join(home, 'ts/.env'), 'A=1')
  symlinkSync(join(home, '.ssh/id_ed25519'), join(home, 'ts/notes.txt'))
  symlinkSync(gate, join(home, 'ts/state'))
  symlinkSync('/etc', join(home, 'ts/system'))
  const rig = await createApiRig({ policy })
  const client = hookClient('claude-code')
  if (!client) throw new Error('no client')
  let uses = 0
  const places = (project: string): Places => ({ project: join(home, project), home })
  const desk: Desk = {
    ...{ rig, home, places },
    async send(project, session, event, principal = 'agent:claude-code') {
      const payload = { session_id: session, cwd: join(home, project), permission_mode: 'default', ...event }
      const read = client.read(payload, { event: undefined, entry: undefined })
      const question = {
        ...{ kernel: rig.kernel, client, log: silent, traceparent: undefined },
        caller: { tenant: 'default', principal },
        wait: () => ({ left: 0, signal: new AbortController().signal, watch: () => () => undefined }),
        local: { home, gate: [gate, join(home, '.config/tollgate')], patience: 600_000 },
      }
      return client.write(read, await answerHook(question, read))
    },
    async ask(project, session, { tool, args }, principal) {
      const id = `use_${uses++}`
      const event = { hook_event_name: 'PreToolUse', tool_name: tool, tool_input: args, tool_use_id: id }
      const answer = JSON.stringify(await desk.send(project, session, event, principal))
      const decision = rig.receipts().findLast((receipt) => receipt.kind === 'decision')
      const isAllowed = answer.includes('"permissionDecision":"allow"')
      if (!decision || isAllowed !== (decision.verdict === 'ALLOW'))
        throw new Error(`another answer: ${answer}`)
      return decision
    },
    async run(project, session, call) {
      const { tool, args, output } = call
      const id = `use_${uses}`
      const decision = await desk.ask(project, session, call)
      if (decision.verdict === 'ALLOW') {
        const tool_response = { stdout: output === '' ? 'ok' : output, stderr: '', interrupted: false }
        await desk.send(project, session, {
          ...{
            hook_event_name: 'PostToolUse',
            tool_name: tool,
            tool_input: args,
            tool_use_id: id,
            tool_response,
          },
        })
      }
      rig.host.time += 20_000
      return decision
    },
  }
  return desk
}
