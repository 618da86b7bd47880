// A gateway under load in a separate process, which may be killed at any moment or run on a failing disk. Every action is
// done first and then written to its journal at once: everything in the journal has happened.

import { closeSync, openSync, writeSync, writevSync } from 'node:fs'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { sha256Hex } from '@tollgate/evidence'
import { authorize, enforce, reportEffect } from '@tollgate/kernel'
import { openKeyring } from '../../dist/src/keyring.js'
import { openGateway } from '../../dist/src/open.js'

const { config, journal, mode, count = 0, pause = 0, held = false } = JSON.parse(process.argv[2] ?? '{}')
const NEWLINE = Buffer.from('\n')
const caller = { tenant: 'default', principal: 'agent:a' }
const out = openSync(journal, 'a', 0o600)

// Keys are read before the wait, so that only the gateway is timed.
const keyring = await openKeyring({ data: config.data, passphraseCommand: undefined })
if (held) await beTold()
await main()

/** Reports that it is ready, and waits for a line. */
function beTold() {
  const told = new Promise((resolve) => process.stdin.once('data', resolve))
  // If the parent has died, nothing else would end this process.
  process.stdin.once('end', () => process.exit(4))
  writeSync(1, 'here\n')
  return told
}

async function main() {
  let gateway
  let size
  try {
    gateway = await openGateway(config, keyring, (level, message) => say('L', level, message))
    size = await gateway.view.size()
  } catch (cause) {
    say('X', cause.code ?? cause.constructor.name, because(cause))
    process.exit(3)
  }
  let commits = 0
  gateway.watch(() => commits++)
  say('S', size)
  if (held) writeSync(1, 'open\n')
  await { storm, steps }[mode](gateway)
  say('B', commits)
  await gateway.close().then(
    () => say('Z'),
    (cause) => say('Y', cause.code, because(cause)),
  )
  closeSync(out)
  process.exit(0)
}

/** Many concurrent callers, without end. */
async function storm(gateway) {
  const callers = Array.from({ length: 24 }, (_, i) => () => (i % 3 === 0 ? advised : enforced)(gateway, i))
  const forever = async (run) => {
    for (;;) await run()
  }
  await Promise.all([...callers, () => release(gateway)].map(forever))
}

/** One call after the other, with `pause` milliseconds between them. */
async function steps(gateway) {
  for (let i = 0; i < count; i++) {
    await (i % 3 === 1 ? advised : enforced)(gateway, i % 3)
    if (i % 4 === 3) await release(gateway)
    if (pause > 0) await sleep(pause)
  }
  await gateway.kernel.ledger.append({ run: () => undefined }).catch((cause) => say('P', because(cause)))
}

async function enforced(gateway, i) {
  const call = {
    caller,
    door: 'mcp',
    assurance: 'enforced',
    tool: toolOf(i),
    args: { i },
    session_id: `s${i}`,
  }
  let ran
  try {
    const { decided, effect } = await enforce(gateway.kernel, call, async ({ receipt }) => {
      ran = receipt
      say('D', receipt)
      if (Math.random() < 0.3) await sleep(Math.random() * 3)
      return { status: 'COMPLETED', output: new Uint8Array(8) }
    })
    await acknowledged(gateway, decided)
    if (effect) say('A', effect.receipt)
  } catch (cause) {
    say('T', ran ?? '-', cause.code, because(cause))
    await sleep(5)
  }
}

async function advised(gateway, i) {
  const call = {
    caller,
    door: 'http',
    assurance: 'advised',
    tool: toolOf(i),
    args: { i },
    session_id: `s${i}`,
  }
  const { decided } = await authorize(gateway.kernel, call)
  await acknowledged(gateway, decided)
  if (decided.verdict !== 'ALLOW' || Math.random() < 0.2) return
  try {
    const report = { caller, decision: decided.receipt, status: 'COMPLETED', output: new Uint8Array(8) }
    say('A', (await reportEffect(gateway.kernel, report)).id)
  } catch (cause) {
    say('T', decided.receipt, cause.code, because(cause))
    await sleep(5)
  }
}

/** One in ten is an unknown tool: denials are receipts too. */
function toolOf(i) {
  return i % 3 === 0 && Math.random() < 0.1 ? 'ghost/tool' : 'notes/read'
}

async function acknowledged(gateway, { receipt, reason }) {
  if (receipt === undefined) {
    say('N', reason)
    return sleep(1)
  }
  say('A', receipt)
  if (Math.random() < 0.7) return
  const entry = await gateway.view.find(receipt).catch((cause) => void say('V', cause.code, because(cause)))
  if (entry) say('F', receipt, entry.index, sha256Hex(entry.envelope))
}

async function release(gateway) {
  try {
    const note = await gateway.checkpoint()
    say('C', note)
  } catch (cause) {
    say('R', cause.code, because(cause))
  }
  await sleep(5)
}

function because(cause) {
  return cause instanceof Error ? [cause.message, because(cause.cause)].filter(Boolean).join(' < ') : ''
}

function say(...words) {
  // In two pieces, with a call that Node itself does not use, so that a trace shows only the journal.
  writevSync(out, [Buffer.from(JSON.stringify(words)), NEWLINE])
}
