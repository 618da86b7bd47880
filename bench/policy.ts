// Measures the replay of recorded decisions from a real ledger file, on one thread, including reading.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { authorize, complete, type Permit, type ToolCall } from '@tollgate/kernel'
import { activatePolicy } from '@tollgate/kernel/admin'
import { parsePolicy } from '@tollgate/kernel/policy'
import { createReplay } from '@tollgate/kernel/workbench'
import { defaultConfigText, readConfig, type Config } from '../packages/gateway/dist/src/config/config.js'
import { createKey } from '../packages/gateway/dist/src/keyring.js'
import { silent } from '../packages/gateway/dist/src/log.js'
import { foundLedger, openGateway, openView } from '../packages/gateway/dist/src/open.js'
import { tracePages, traceTexts } from '../packages/gateway/dist/src/workbench/trace.js'
import { callAt, rulesOf } from './kernel.ts'
import { CALLS, POLICY } from './ladder.ts'
import { median, seconds, sized, type Row } from './measure.ts'
import { writeFileSync } from 'node:fs'

const DECISIONS = sized(20_000, 10)
const TOGETHER = sized(100, 10)
const TARGET = 10_000

export async function* policyRows(say: (line: string) => void): AsyncGenerator<Row> {
  const ways: readonly (readonly [string, string, (i: number) => ToolCall])[] = [
    ['50 rules', rulesOf(50), callAt],
    ...CALLS.map(([args, call]) => [`every rung, 50 rules, ${args}`, POLICY, call] as const),
  ]
  for (const [name, policy, call] of ways) {
    say(`policy: recording ${DECISIONS.toLocaleString('en-US')} calls, ${name} …`)
    const rate = await replayRate(policy, call, say)
    yield {
      area: 'policy',
      name: `replay, ${name}`,
      value: rate,
      unit: 'decisions/s',
      floor: null,
      ratio: null,
      target: `≥ ${TARGET.toLocaleString('en-US')}/s`,
      pass: rate >= TARGET,
    }
  }
}

async function replayRate(
  policy: string,
  call: (i: number) => ToolCall,
  say: (line: string) => void,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
  try {
    const config = await record(join(folder, 'data'), policy, call)
    const rates: number[] = []
    for (let i = 0; i < sized(5, 1); i++) rates.push(await replayOnce(config))
    say(`policy: ${rates.map((rate) => Math.round(rate).toLocaleString('en-US')).join(', ')} decisions/s`)
    return median(rates)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A ledger with this many allowed calls and their effects, all kept. */
export async function record(data: string, text: string, call: (i: number) => ToolCall): Promise<Config> {
  const keyring = { keys: [await createKey(data, 'ledger'), await createKey(data, 'writer')] }
  const usual = defaultConfigText({ ledger: 'ledger.example/bench', port: 0 })
  // Keeps the key that encrypts kept calls out of the user's home directory.
  const keep = `keep: { calls: 7d, key-file: ${JSON.stringify(`${data}-seal.key`)} }`
  const written = `${usual.replace('keep: { calls: 7d }', keep)}head-guard: off\n`
  writeFileSync(join(data, 'tollgate.yaml'), written, { mode: 0o600 })
  const config = readConfig(data)
  await foundLedger(config, keyring)
  const gateway = await openGateway(config, keyring, silent)
  const parsed = parsePolicy(text)
  if (!parsed.ok) throw new Error('the policy of the benchmark has mistakes')
  await activatePolicy(gateway.kernel, parsed.policy, 'user:bench')
  for (let i = 0; i < DECISIONS; i += TOGETHER) {
    const group = Array.from({ length: TOGETHER }, (_, j) => authorize(gateway.kernel, call(i + j)))
    const permits = (await Promise.all(group)).flatMap(({ permit }): Permit[] => (permit ? [permit] : []))
    if (permits.length !== TOGETHER) throw new Error('a call of the benchmark was not allowed')
    const output = new Uint8Array(64)
    await Promise.all(
      permits.map((permit) => complete(gateway.kernel, permit, { status: 'COMPLETED', output })),
    )
  }
  await gateway.close()
  return config
}

async function replayOnce(config: Config): Promise<number> {
  const { view, close } = await openView(config, true)
  let decided = 0
  const took = await seconds(async () => {
    const replay = createReplay({ texts: await traceTexts(view) })
    for await (const page of tracePages(view)) {
      for (const entry of page) {
        const replayed = replay.take(entry)
        if (!replayed) continue
        if (replayed.skipped !== undefined || replayed.differs.length > 0)
          throw new Error('the replay differs from the receipt')
        decided++
      }
    }
  })
  await close()
  if (decided !== DECISIONS) throw new Error(`${decided} decisions were replayed`)
  return decided / took
}
