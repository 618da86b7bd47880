// One gateway of a fleet under load, as a process that can be killed. It writes a line for each acknowledged receipt, synchronously.

import { writeSync } from 'node:fs'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { enforce } from '../../../kernel/dist/src/index.js'
import { answerRequest } from '../../../kernel/dist/src/admin.js'
import { openKeyring } from '../../dist/src/keyring.js'
import { openGateway } from '../../dist/src/open.js'

const config = JSON.parse(process.argv[2] ?? '{}')
const CALLERS = 3
/** Faults need some calls in flight, not a busy machine. */
const PAUSE_MS = 60
const tell = (line) => writeSync(1, `${JSON.stringify(line)}\n`)
const caller = { tenant: 'default', principal: 'agent:a' }
let calls = 0

const gateway = await openGateway(config, await openKeyring(config), () => undefined, { brief: true })
const { kernel } = gateway
tell(['open'])
process.stdin.resume()
process.stdin.on('end', () => process.exit(0))
await Promise.all(Array.from({ length: CALLERS }, (_, i) => callAgain(i)))

async function callAgain(first) {
  for (let i = first; ; i += CALLERS) {
    // A poisoned gateway denies everything, so the battery must learn it.
    if (kernel.ledger.poisoned !== undefined) {
      tell(['poisoned', String(kernel.ledger.cause)])
      process.exit(3)
    }
    await (i % 7 === 0 ? askPerson() : write(i))
    await sleep(PAUSE_MS)
  }
}

async function write(i) {
  const session = `s${i % 5}`
  const tool = i % 3 === 0 ? 'notes/few' : 'notes/write'
  const done = await enforce(kernel, call(tool, session), () =>
    Promise.resolve({ status: 'COMPLETED', output: new Uint8Array() }),
  )
  note(done)
}

/** Every gateway asks for the same call, answers the request and uses the approval: only one of them may. */
async function askPerson() {
  const done = await enforce(kernel, call('mail/send', 'mail'), () =>
    Promise.resolve({ status: 'COMPLETED', output: new Uint8Array() }),
  )
  note(done)
  const { approval } = done.decided
  if (approval === undefined) return
  try {
    const { id } = await answerRequest(kernel, {
      tenant: 'default',
      request: approval,
      granted: true,
      approver: 'user:olga',
    })
    tell(['ack', id])
  } catch (fault) {
    // Another gateway has answered it.
    if (fault?.code !== 'APPROVAL_REFUSED') throw fault
  }
}

function note({ decided, effect }) {
  if (decided.receipt !== undefined) tell(['ack', decided.receipt])
  else if (decided.verdict === 'ALLOW') tell(['unrecorded'])
  if (effect) tell(['ack', effect.receipt])
}

function call(tool, session) {
  return {
    caller,
    door: 'mcp',
    assurance: 'enforced',
    tool,
    args: { n: 1 },
    session_id: session,
    reference: `c${calls++}`,
  }
}
