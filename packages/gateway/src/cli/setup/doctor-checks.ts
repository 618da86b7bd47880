// The checks of `tollgate doctor`. Each reads, and changes nothing.

import { existsSync, statfsSync, statSync } from 'node:fs'
import { parseReceipt } from '@tollgate/evidence'
import { describeLadder } from '@tollgate/kernel'
import type { Policy } from '@tollgate/kernel/policy'
import type { Config } from '../../config/config.ts'
import { GatewayError } from '../../error.ts'
import { openKeyring } from '../../keyring.ts'
import { checkLedger as checkTail, isRunning, measureDurability, openView, unfolded } from '../../open.ts'
import type { LedgerView } from '../../view.ts'
import { keysOnLedger, standingOf } from '../keys/keys.ts'
import { answers } from '../../mcp/client/local-bind.ts'
import { checkSocket, HAS_PIPES, operatorsPath } from '../../mcp/client/local-path.ts'
import { modelAddresses } from './model-addresses.ts'
import { allowsAnything, pendingNotice, policyStanding } from '../policy/standing.ts'
import { observeNotice } from '../policy/observe.ts'
import { checkSealing } from './doctor-sealing.ts'
import { observedIn } from './status.ts'
import { moment } from '../program/table.ts'

/** What a check found. */
export interface DoctorFinding {
  readonly level: 'ok' | 'warn' | 'fail'
  readonly about: string
  readonly found: string
  /** What to do, if anything. */
  readonly remedy?: readonly string[]
}

type Check = (config: Config) => Promise<readonly DoctorFinding[]>

/** Every check, in the order of the report. */
export const CHECKS: readonly (readonly [about: string, check: Check])[] = [
  ['gateway', checkGateway],
  ['keys', checkKeys],
  ['ledger', (config) => onView(config, checkLedger)],
  ['log', checkLog],
  ['clock', (config) => onView(config, checkClock)],
  ['policy', (config) => onView(config, checkPolicy)],
  ['observe mode', (config) => onView(config, checkObserve)],
  ['tokens', (config) => onView(config, checkTokens)],
  ['durability', checkDurability],
  ['disk', checkDisk],
  ['head guard', checkHeadGuard],
  ['kept calls', (config) => onView(config, checkSealing)],
  ['listening', checkListening],
  ['operator socket', checkOperators],
  ['model servers', checkModels],
]

async function onView(
  config: Config,
  check: (view: LedgerView, config: Config) => Promise<readonly DoctorFinding[]>,
): Promise<readonly DoctorFinding[]> {
  const opened = await openView(config)
  try {
    return await check(opened.view, config)
  } finally {
    await opened.close()
  }
}

async function checkObserve(view: LedgerView): Promise<readonly DoctorFinding[]> {
  const notice = observeNotice(await observedIn(view, Date.now()))
  if (!notice) return [{ level: 'ok', about: 'observe mode', found: 'it is off' }]
  const [found, ...remedy] = notice
  return [{ level: 'warn', about: 'observe mode', found, remedy }]
}

async function checkGateway(config: Config): Promise<readonly DoctorFinding[]> {
  const running = await isRunning(config)
  return [{ level: 'ok', about: 'gateway', found: running ? 'it is running' : 'it is not running' }]
}

/** Which model servers there are, and whether their keys are where they should be. Nothing is asked of them: that would cost. */
function checkModels(config: Config): Promise<readonly DoctorFinding[]> {
  return Promise.resolve(
    MODEL_SERVERS.flatMap((name): readonly DoctorFinding[] => {
      const model = config.llm[name]
      if (!model) return []
      const about = `${name} models`
      try {
        const key = modelAddresses({ llm: { body: config.llm.body, [name]: model } }).get(name)?.key
        const whose = key === undefined ? 'each client brings its own key' : 'its key is there'
        const versioned = /\/v\d[\w.]*\/?$/.test(model.url)
        const remedy = versioned
          ? []
          : ['most servers want `/v1` at the end of `url`; requests go to what follows it']
        return [{ level: versioned ? 'ok' : 'warn', about, found: `${model.url}; ${whose}`, remedy }]
      } catch (fault) {
        if (!(fault instanceof GatewayError)) throw fault
        const hints = [...fault.hints, 'or it is set where the gateway runs, and only not in this shell']
        return [{ level: 'warn', about, found: fault.message, remedy: hints }]
      }
    }),
  )
}

const MODEL_SERVERS = ['openai', 'anthropic'] as const

async function checkKeys(config: Config): Promise<readonly DoctorFinding[]> {
  const { keys } = await openKeyring(config)
  const known = await knownKeys(config)
  const found: DoctorFinding[] = keys.map(({ role, publicKey, seed }) => {
    seed.fill(0)
    const standing = standingOf(known, publicKey.id)
    const about = `${role} key`
    const short = publicKey.id.slice(0, 8)
    if (standing === 'in service')
      return { level: 'ok', about, found: `${short} is in service, and only yours to read` }
    return {
      level: 'warn',
      about,
      found: `${short} is ${standing}`,
      remedy: ['remove its file, once you are sure'],
    }
  })
  const missing = (['ledger', 'writer'] as const).filter(
    (role) => !keys.some((key) => key.role === role && standingOf(known, key.publicKey.id) === 'in service'),
  )
  const remedy = ['put the key file back from your backup: without it nothing can be recorded']
  return [
    ...found,
    ...missing.map(
      (role) =>
        ({ level: 'fail', about: `${role} key`, found: 'the one in service is missing', remedy }) as const,
    ),
  ]
}

async function knownKeys(config: Config): Promise<ReadonlyMap<string, boolean>> {
  const opened = await openView(config)
  return keysOnLedger(opened.view).finally(() => opened.close())
}

async function checkLedger(view: LedgerView, config: Config): Promise<readonly DoctorFinding[]> {
  const size = await view.size()
  const genesis = await receiptAt(view, 0)
  if (genesis?.ledger === config.ledger) {
    // As a start does: what it would refuse is found here.
    await checkTail(config)
    return [{ level: 'ok', about: 'ledger', found: `${size} entries; \`tollgate fsck\` checks each` }]
  }
  const found = `the file is of \`${genesis?.ledger ?? 'no ledger'}\`, the configuration of \`${config.ledger}\``
  return [
    {
      level: 'fail',
      about: 'ledger',
      found,
      remedy: ['put back the configuration that belongs to this ledger'],
    },
  ]
}

/** The write-ahead log: while it holds anything, a copy of the file alone is not the whole ledger. */
async function checkLog(config: Config): Promise<readonly DoctorFinding[]> {
  const about = 'log'
  const bytes = unfolded(config)
  if (bytes === 0) return [{ level: 'ok', about, found: '`ledger.sqlite` alone is the whole ledger' }]
  const found = `${bytes} bytes are in \`ledger.sqlite-wal\`, which a copy of \`ledger.sqlite\` alone lacks`
  if (await isRunning(config))
    return [{ level: 'ok', about, found: `${found}; \`tollgate backup\` copies all of it` }]
  return [
    {
      level: 'warn',
      about,
      found,
      remedy: ['run `tollgate fsck --fold`: it moves them into `ledger.sqlite`'],
    },
  ]
}

async function receiptAt(view: LedgerView, index: number) {
  const [envelope] = await view.envelopes(index, index + 1)
  return envelope && parseReceipt(envelope).receipt
}

const MINUTE = 60_000

/** The ledger never goes back: with a clock behind it, every receipt gets the same old time. */
async function checkClock(view: LedgerView): Promise<readonly DoctorFinding[]> {
  const last = await receiptAt(view, (await view.size()) - 1)
  const now = new Date().getTime()
  const ahead = last ? Date.parse(last.time) - now : 0
  if (ahead < MINUTE && now > Date.UTC(2025, 0, 1)) {
    return [
      { level: 'ok', about: 'clock', found: `${moment(new Date(now).toISOString())}, not behind the ledger` },
    ]
  }
  const found = `the clock is behind the ledger, whose newest entry is of ${moment(last?.time ?? '')}`
  return [
    {
      level: ahead > 60 * MINUTE ? 'fail' : 'warn',
      about: 'clock',
      found,
      remedy: ['set the clock: until it has caught up, receipts show the old time'],
    },
  ]
}

async function checkPolicy(view: LedgerView, config: Config): Promise<readonly DoctorFinding[]> {
  const { active, file } = await policyStanding(view, config)
  const notice = pendingNotice(file)
  const pending: DoctorFinding[] = notice
    ? [{ level: 'warn', about: 'policy file', found: notice[0], remedy: [notice[1]] }]
    : []
  if (!active) {
    const remedy = ['put one in force with `tollgate policy activate`']
    return [
      { level: 'fail', about: 'policy', found: 'none is in force: every call is denied', remedy },
      ...pending,
    ]
  }
  const passes = allowsAnything(active)
  const facts = `\`${active.name}\`: ${active.rules.length} rules on ${active.tools.length} tools`
  const standing: DoctorFinding = passes
    ? { level: 'ok', about: 'policy', found: facts }
    : {
        level: 'warn',
        about: 'policy',
        found: `${facts}; it lets nothing pass`,
        remedy: ['add a tool, and a rule that allows it'],
      }
  const ladder = describeLadder(active)
  const rungs = (['active', 'not configured'] as const).map((how): DoctorFinding => {
    const names = ladder.flatMap(({ rung, standing: stands }) => (stands === how ? [rung] : []))
    return { level: 'ok', about: 'rungs', found: `${how}: ${names.join(', ') || 'none'}` }
  })
  return [standing, ...pending, ...rungs, ...unwatched(active)]
}

/** What a policy leaves unwatched, and the line that would change it. */
function unwatched({ gates }: Policy): readonly DoctorFinding[] {
  const missing = UNWATCHED.filter(([name]) => gates[name] === undefined)
  if (missing.length === 0) return []
  const lines = missing.map(([name]) => `\`${name}: {}\``).join(' and ')
  return [
    {
      level: 'warn',
      about: 'rungs',
      found: missing.map(([name, what]) => `${name} is not configured: ${what}`).join('; '),
      remedy: [`add ${lines} under \`gates\` in policy.yaml, then run \`tollgate policy activate\``],
    },
  ]
}

const UNWATCHED = [
  ['threat', 'orders and attacks in texts pass unseen'],
  ['taint', 'secrets may leave'],
] as const

async function checkTokens(view: LedgerView): Promise<readonly DoctorFinding[]> {
  const names = await view.recordNames('token\n')
  const records = await Promise.all(names.map((name) => view.record(name)))
  // Sound: these are the records of tokens, and both members are tested before use.
  const tokens = records.flatMap((text) =>
    text === undefined ? [] : [JSON.parse(text) as { role?: unknown; expires?: unknown; run?: unknown }],
  )
  const now = new Date().getTime()
  const [ended, good] = [
    tokens.filter(({ expires }) => typeof expires === 'number' && expires < now),
    tokens.filter(({ expires }) => typeof expires !== 'number' || expires >= now),
  ]
  const admin = good.some(({ role, run }) => role === 'admin' && run !== true)
  const remedy = [
    'make one with `tollgate tokens issue --role admin --principal user:NAME`, while the gateway is stopped',
  ]
  return [
    admin
      ? { level: 'ok', about: 'tokens', found: `${good.length} in force` }
      : { level: 'warn', about: 'tokens', found: 'there is none for an admin', remedy },
    ...(ended.length === 0
      ? []
      : [
          {
            level: 'warn',
            about: 'tokens',
            found: `${ended.length} have ended`,
            remedy: ['`tollgate tokens revoke HASH` clears them away'],
          } as const,
        ]),
  ]
}

async function checkDurability(config: Config): Promise<readonly DoctorFinding[]> {
  const { mode, millisPerSync, syncsPerSecond } = await measureDurability(config)
  const measured = `${millisPerSync.toFixed(2)} ms for each synced commit, ${Math.round(syncsPerSecond)} a second`
  if (mode === 'full') return [{ level: 'ok', about: 'durability', found: `full: ${measured}` }]
  const remedy = ['keep the data on a local disk whose file system honours syncs']
  return [{ level: 'fail', about: 'durability', found: `commits are not synced here: ${measured}`, remedy }]
}

const MIB = 1 << 20

function checkDisk({ data }: Config): Promise<readonly DoctorFinding[]> {
  const { bavail, bsize } = statfsSync(data)
  const free = Math.floor((bavail * bsize) / MIB)
  const found = `${free} MiB are free`
  const remedy = ['make room: below 16 MiB everything is frozen']
  if (free >= 1024) return Promise.resolve([{ level: 'ok', about: 'disk', found }])
  return Promise.resolve([{ level: free >= 64 ? 'warn' : 'fail', about: 'disk', found, remedy }])
}

function checkHeadGuard({ headGuard }: Config): Promise<readonly DoctorFinding[]> {
  const about = 'head guard'
  if (headGuard === undefined) {
    const remedy = ['name a directory outside of the data directory as `head-guard` in tollgate.yaml']
    return Promise.resolve([
      { level: 'warn', about, found: 'off: a restored old copy of the ledger is not noticed', remedy },
    ])
  }
  const found = existsSync(headGuard)
    ? `\`${headGuard}\``
    : `\`${headGuard}\` is made when the gateway starts`
  return Promise.resolve([{ level: 'ok', about, found }])
}

function checkListening({ listen: { host, port, tls } }: Config): Promise<readonly DoctorFinding[]> {
  const local = host === 'localhost' || host === '::1' || host.startsWith('127.')
  const found = `${host}:${port}, ${tls ? 'with TLS' : 'without TLS'}`
  if (local || tls) return Promise.resolve([{ level: 'ok', about: 'listening', found }])
  const remedy = ['set `listen.tls` in tollgate.yaml, or listen on 127.0.0.1: tokens travel with every call']
  return Promise.resolve([{ level: 'fail', about: 'listening', found, remedy }])
}

/** The operators' own way in, which must be there whenever the gateway is. */
async function checkOperators(config: Config): Promise<readonly DoctorFinding[]> {
  const about = 'operator socket'
  const path = operatorsPath(config.data)
  const running = await isRunning(config)
  const there = checkSocket(path) && (await answers(path))
  if (!there) {
    if (!running) return [{ level: 'ok', about, found: `\`${path}\` is made when the gateway starts` }]
    const remedy = [
      'look for `operators have no local socket` in the log of the gateway, then start it again',
    ]
    return [{ level: 'warn', about, found: `the gateway does not answer on \`${path}\``, remedy }]
  }
  const mode = HAS_PIPES ? 0o600 : statSync(path).mode & 0o777
  if (mode === 0o600) return [{ level: 'ok', about, found: `\`${path}\`, for this user alone` }]
  const found = `\`${path}\` has the mode ${mode.toString(8)}`
  return [{ level: 'fail', about, found, remedy: [`run \`chmod 600 ${path}\``] }]
}
