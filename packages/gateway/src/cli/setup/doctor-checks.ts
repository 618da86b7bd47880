// The checks of `tollgate doctor`. They only read.

import { existsSync, statfsSync, statSync } from 'node:fs'
import { parseReceipt } from '@tollgate/evidence'
import { describeLadder } from '@tollgate/kernel'
import type { Policy } from '@tollgate/kernel/policy'
import type { Config } from '../../config/config.ts'
import { NO_LLM } from '../../config/llm.ts'
import { GatewayError } from '../../error.ts'
import { openKeyring } from '../../keyring.ts'
import { PROVIDERS, TRAITS } from '../../llm/providers.ts'
import {
  checkLedger as checkTail,
  databaseSettings,
  isRunning,
  measureDurability,
  openView,
  unfolded,
} from '../../open.ts'
import type { LedgerView } from '../../view.ts'
import { keysOnLedger, keyStatus } from '../keys/keys.ts'
import { answers } from '../../mcp/client/local-bind.ts'
import { checkSocket, HAS_PIPES, operatorsPath } from '../../mcp/client/local-path.ts'
import { modelAddresses } from './model-addresses.ts'
import { allowsAnything, nameOf, pendingNotice, policyStatus } from '../policy/policy-status.ts'
import { observeNotice } from '../policy/observe.ts'
import { checkAuthority } from './doctor-authority.ts'
import { checkHooks } from './doctor-hooks.ts'
import { checkListening } from './doctor-listening.ts'
import { checkSealing } from './doctor-sealing.ts'
import { checkWebhooks } from './doctor-webhooks.ts'
import { observedIn } from './status.ts'
import { counted, moment } from '../program/table.ts'

/** The result of a check. */
export interface DoctorFinding {
  readonly level: 'ok' | 'warn' | 'fail'
  readonly about: string
  readonly found: string
  /** Steps that fix the problem. */
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
  ['database', checkDatabase],
  ['durability', checkDurability],
  ['disk', checkDisk],
  ['head guard', checkHeadGuard],
  ['kept calls', (config) => onView(config, checkSealing)],
  ['listening', checkListening],
  ['authority', checkAuthority],
  ['operator socket', checkOperators],
  ['model servers', checkModels],
  ['webhooks', checkWebhooks],
  ['hooks', (config) => onView(config, checkHooks)],
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
  if (!notice) return [{ level: 'ok', about: 'observe mode', found: 'off' }]
  const [found, ...remedy] = notice
  return [{ level: 'warn', about: 'observe mode', found, remedy }]
}

async function checkGateway(config: Config): Promise<readonly DoctorFinding[]> {
  const running = await isRunning(config)
  return [
    { level: 'ok', about: 'gateway', found: running ? 'running' : 'stopped; `tollgate serve` starts it' },
  ]
}

/** Checks the configured model servers and their keys. Sends them no request, because that would cost money. */
function checkModels(config: Config): Promise<readonly DoctorFinding[]> {
  return Promise.resolve(
    PROVIDERS.flatMap((name): readonly DoctorFinding[] => {
      const model = config.llm[name]
      if (!model) return []
      const about = `${name} models`
      try {
        const key = modelAddresses({ llm: { ...NO_LLM, [name]: model } }).get(name)?.key
        const whose = key === undefined ? 'each client sends its own key' : 'key found'
        const { end, example } = TRAITS[name].url
        const isWhole = end.test(model.url)
        const remedy = isWhole ? [] : [`check \`url\`: for most servers it ends as in \`${example}\``]
        return [{ level: isWhole ? 'ok' : 'warn', about, found: `${model.url}; ${whose}`, remedy }]
      } catch (fault) {
        if (!(fault instanceof GatewayError)) throw fault
        const hints = [
          ...fault.hints,
          'ignore this if it is set in the environment of the gateway, but not in this shell',
        ]
        return [{ level: 'warn', about, found: fault.message, remedy: hints }]
      }
    }),
  )
}

async function checkKeys(config: Config): Promise<readonly DoctorFinding[]> {
  const { keys } = await openKeyring(config)
  const known = await knownKeys(config)
  const found: DoctorFinding[] = keys.map(({ role, publicKey, seed }) => {
    seed.fill(0)
    const status = keyStatus(known, publicKey.id)
    const about = `${role} key`
    const short = publicKey.id.slice(0, 8)
    if (status === 'in service')
      return { level: 'ok', about, found: `${short} is in service; only this user can read it` }
    return {
      level: 'warn',
      about,
      found: `${short} is ${status}`,
      remedy: ['remove its file if you no longer need it'],
    }
  })
  const missing = (['ledger', 'writer'] as const).filter(
    (role) => !keys.some((key) => key.role === role && keyStatus(known, key.publicKey.id) === 'in service'),
  )
  const remedy = ['restore the key file from your backup: without it the gateway cannot write receipts']
  return [
    ...found,
    ...missing.map(
      (role) =>
        ({ level: 'fail', about: `${role} key`, found: 'the key in service is missing', remedy }) as const,
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
    // The gateway runs the same check when it starts.
    await checkTail(config)
    return [{ level: 'ok', about: 'ledger', found: `${size} entries; \`tollgate fsck\` checks each one` }]
  }
  const found = `the file contains \`${genesis?.ledger ?? 'no ledger'}\`, but the configuration names \`${config.ledger}\``
  return [
    {
      level: 'fail',
      about: 'ledger',
      found,
      remedy: ['restore the configuration that belongs to this ledger'],
    },
  ]
}

/** Checks the write-ahead log. While it contains data, a copy of `ledger.sqlite` alone is incomplete. */
async function checkLog(config: Config): Promise<readonly DoctorFinding[]> {
  const about = 'log'
  if (config.database) return [{ level: 'ok', about, found: 'none: the ledger is in a database' }]
  const bytes = unfolded(config)
  if (bytes === 0) return [{ level: 'ok', about, found: 'empty: `ledger.sqlite` contains the whole ledger' }]
  const found = `\`ledger.sqlite-wal\` contains ${bytes} bytes that are not yet in \`ledger.sqlite\``
  if (await isRunning(config))
    return [{ level: 'ok', about, found: `${found}; \`tollgate backup DIRECTORY\` copies both` }]
  return [
    {
      level: 'warn',
      about,
      found,
      remedy: ['run `tollgate fsck --fold`: it merges them into `ledger.sqlite`'],
    },
  ]
}

async function receiptAt(view: LedgerView, index: number) {
  const [envelope] = await view.envelopes(index, index + 1)
  return envelope && parseReceipt(envelope).receipt
}

const MINUTE = 60_000

/** Checks the clock. Ledger time never decreases: while the clock is behind it, every receipt gets the time of the newest entry. */
async function checkClock(view: LedgerView): Promise<readonly DoctorFinding[]> {
  const last = await receiptAt(view, (await view.size()) - 1)
  const now = new Date().getTime()
  const ahead = last ? Date.parse(last.time) - now : 0
  if (ahead < MINUTE && now > Date.UTC(2025, 0, 1)) {
    return [
      { level: 'ok', about: 'clock', found: `${moment(new Date(now).toISOString())}, not behind the ledger` },
    ]
  }
  const found = `the clock is behind the newest entry of the ledger (${moment(last?.time ?? '')})`
  return [
    {
      level: ahead > 60 * MINUTE ? 'fail' : 'warn',
      about: 'clock',
      found,
      remedy: ['set the clock: until then, receipts show the time of the newest entry'],
    },
  ]
}

async function checkPolicy(view: LedgerView, config: Config): Promise<readonly DoctorFinding[]> {
  const status = await policyStatus(view, config)
  const { active } = status
  const [found, ...steps] = pendingNotice(status) ?? []
  const pending: DoctorFinding[] =
    found === undefined ? [] : [{ level: 'warn', about: 'policy file', found, remedy: steps }]
  if (!active) {
    const remedy = ['activate one with `tollgate policy activate`']
    return [
      { level: 'fail', about: 'policy', found: 'no policy is in force: every call is denied', remedy },
      ...pending,
    ]
  }
  const allows = allowsAnything(active)
  const facts = `${nameOf(active)} is in force: ${counted(active.rules.length, 'rule')}, ${counted(active.tools.length, 'tool')}`
  const summary: DoctorFinding = allows
    ? { level: 'ok', about: 'policy', found: facts }
    : {
        level: 'warn',
        about: 'policy',
        found: `${facts}; it allows nothing`,
        remedy: ['add a tool, and a rule that allows it'],
      }
  const ladder = describeLadder(active)
  const rungs = (['active', 'not configured'] as const).map((how): DoctorFinding => {
    const names = ladder.flatMap(({ rung, standing }) => (standing === how ? [rung] : []))
    return { level: 'ok', about: 'steps', found: `${how}: ${names.join(', ') || 'none'}` }
  })
  return [summary, ...pending, ...rungs, ...unprotected(active)]
}

/** Warns about gates that the policy does not configure, with the lines that add them. */
function unprotected({ gates }: Policy): readonly DoctorFinding[] {
  const missing = UNPROTECTED.filter(([name]) => gates[name] === undefined)
  if (missing.length === 0) return []
  const lines = missing.map(([name]) => `\`${name}: {}\``).join(' and ')
  return [
    {
      level: 'warn',
      about: 'steps',
      found: missing.map(([name, what]) => `${name} is not configured: ${what}`).join('; '),
      remedy: [`add ${lines} under \`gates\` in policy.yaml, then run \`tollgate policy activate\``],
    },
  ]
}

const UNPROTECTED = [
  ['threat', 'injected instructions and attacks in texts are not detected'],
  ['taint', 'secrets can be sent out'],
] as const

async function checkTokens(view: LedgerView): Promise<readonly DoctorFinding[]> {
  const names = await view.recordNames('token\n')
  const records = await Promise.all(names.map((name) => view.record(name)))
  // Sound: these are token records, and the members are tested before use.
  const tokens = records.flatMap((text) =>
    text === undefined ? [] : [JSON.parse(text) as { role?: unknown; expires?: unknown; run?: unknown }],
  )
  const now = new Date().getTime()
  const [expired, valid] = [
    tokens.filter(({ expires }) => typeof expires === 'number' && expires < now),
    tokens.filter(({ expires }) => typeof expires !== 'number' || expires >= now),
  ]
  const admin = valid.some(({ role, run }) => role === 'admin' && run !== true)
  const remedy = [
    'create one with `tollgate tokens issue --role admin --principal user:NAME`, while the gateway is stopped',
  ]
  return [
    admin
      ? { level: 'ok', about: 'tokens', found: `${valid.length} valid` }
      : { level: 'warn', about: 'tokens', found: 'no admin token', remedy },
    ...(expired.length === 0
      ? []
      : [
          {
            level: 'warn',
            about: 'tokens',
            found: `${expired.length} expired`,
            remedy: ['remove them with `tollgate tokens revoke HASH`'],
          } as const,
        ]),
  ]
}

/** Checks the settings of the server, and how far its standbys are behind. */
async function checkDatabase(config: Config): Promise<readonly DoctorFinding[]> {
  const about = 'database'
  const settings = await databaseSettings(config)
  if (!settings) return [{ level: 'ok', about, found: 'none: the ledger is a file' }]
  const { version, fsync, synchronousCommit, fullPageWrites, standbys, lag } = settings
  const set = `fsync ${fsync}, synchronous_commit ${synchronousCommit}, full_page_writes ${fullPageWrites}`
  const found = `PostgreSQL ${Math.floor(version / 10_000)}; ${set}`
  if (fsync !== 'on' || fullPageWrites !== 'on' || synchronousCommit === 'off') {
    const remedy = ['switch all three on: a crash of the server could lose receipts that were acknowledged']
    return [{ level: 'fail', about, found, remedy }]
  }
  const behind =
    standbys === 0
      ? 'no standby'
      : `${standbys} standbys, at most ${lag ?? 'an unknown number of'} bytes behind`
  const isLate = (lag ?? 0) > MAX_LAG
  const remedy = isLate ? ['find out why the standby is slow: a failover would lose the newest receipts'] : []
  return [{ level: isLate ? 'warn' : 'ok', about, found: `${found}; ${behind}`, remedy }]
}

const MAX_LAG = 16 << 20

async function checkDurability(config: Config): Promise<readonly DoctorFinding[]> {
  const { mode, millisPerSync, syncsPerSecond } = await measureDurability(config)
  const measured = `${millisPerSync.toFixed(2)} ms per synced commit, ${Math.round(syncsPerSecond)} per second`
  if (mode === 'full') return [{ level: 'ok', about: 'durability', found: `full: ${measured}` }]
  const remedy = ['move the data directory to a local disk whose file system honours syncs']
  return [{ level: 'fail', about: 'durability', found: `commits are not synced here: ${measured}`, remedy }]
}

const MIB = 1 << 20

function checkDisk({ data }: Config): Promise<readonly DoctorFinding[]> {
  const { bavail, bsize } = statfsSync(data)
  const free = Math.floor((bavail * bsize) / MIB)
  const found = `${free} MiB free`
  const remedy = ['free disk space: below 16 MiB the gateway freezes all calls']
  if (free >= 1024) return Promise.resolve([{ level: 'ok', about: 'disk', found }])
  return Promise.resolve([{ level: free >= 64 ? 'warn' : 'fail', about: 'disk', found, remedy }])
}

function checkHeadGuard({ headGuard }: Config): Promise<readonly DoctorFinding[]> {
  const about = 'head guard'
  if (headGuard === undefined) {
    const remedy = ['name a directory outside of the data directory as `head-guard` in tollgate.yaml']
    return Promise.resolve([
      {
        level: 'warn',
        about,
        found: 'off: the gateway does not detect a restored old copy of the ledger',
        remedy,
      },
    ])
  }
  const found = existsSync(headGuard)
    ? `\`${headGuard}\``
    : `\`${headGuard}\` will be created when the gateway starts`
  return Promise.resolve([{ level: 'ok', about, found }])
}

/** Checks the local operator socket, which must exist while the gateway runs. */
async function checkOperators(config: Config): Promise<readonly DoctorFinding[]> {
  const about = 'operator socket'
  const path = operatorsPath(config.data)
  const running = await isRunning(config)
  const reachable = checkSocket(path) && (await answers(path))
  if (!reachable) {
    if (!running)
      return [{ level: 'ok', about, found: `\`${path}\` will be created when the gateway starts` }]
    const remedy = ['look for `operators have no local socket` in the log of the gateway, then restart it']
    return [{ level: 'warn', about, found: `the gateway does not answer on \`${path}\``, remedy }]
  }
  const mode = HAS_PIPES ? 0o600 : statSync(path).mode & 0o777
  if (mode === 0o600) return [{ level: 'ok', about, found: `\`${path}\`, accessible only to this user` }]
  const found = `\`${path}\` has mode ${mode.toString(8)}`
  return [{ level: 'fail', about, found, remedy: [`run \`chmod 600 ${path}\``] }]
}
