// The official clients, unmodified but for their base URL, through a real gateway.

import { afterAll, beforeAll } from 'vitest'
import { basesOf } from './clients.ts'
import { gatewayCases } from './clients-cases.ts'
import { openDoorTo, openLlmGate, type LlmGate } from './gate.ts'
import { startUpstream, type Upstream } from './upstream.ts'

let gate: LlmGate
let unused: Upstream
let agents = 0

beforeAll(async () => {
  unused = await startUpstream()
  gate = await openLlmGate({ upstream: unused.url })
})
afterAll(async () => {
  await gate.close()
  await unused.close()
})

gatewayCases(async (upstream) => {
  const door = await openDoorTo(gate, upstream.url, `agent:c${agents++}`)
  return {
    ...basesOf(door.url),
    key: door.token,
    governed: true,
    close: () => door.close(),
  }
}, /\[Tollgate\] The call(?: to `send_mail`| to `read_note`)? was not run/)
