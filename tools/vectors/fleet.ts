// Several writers in one ledger: honest fleets of gateways, and contradictions between gateways.

import {
  answer,
  AT,
  addWriter,
  approved,
  ASKED,
  DENIED,
  entryOf,
  keyChange,
  POLICY,
  told,
} from '../../packages/evidence/test/audit-story.ts'
import {
  decision,
  effect,
  fixedKey,
  hash,
  unknownEffect,
  type Draft,
  type TestLedger,
} from '../../packages/evidence/test/ledger.ts'
import { NO_HASH, type SigningKey } from '../../packages/evidence/src/index.ts'
import { ADDED, BEGINNING, exported, fails, packed, passes, type Plan } from './plan.ts'

const OTHER_POLICY = hash('another policy')

/** The index of the first receipt after the second and the third writer have joined. */
const FIRST = ADDED + 2

/** A ledger with three writers, to which a story appends. */
class Fleet {
  readonly ledger: TestLedger
  readonly keys: Readonly<Record<string, SigningKey>>

  constructor(ledger: TestLedger, keys: Readonly<Record<string, SigningKey>>) {
    this.ledger = ledger
    this.keys = keys
  }

  /** Appends a receipt of a writer. Returns its id. */
  async by(writer: string, draft: Draft, key: SigningKey | undefined = this.keys[writer]): Promise<string> {
    const { id } = await this.ledger.append({ ...draft, writer }, key)
    return id
  }

  key(writer: string): SigningKey {
    const key = this.keys[writer]
    if (!key) throw new Error(`there is no writer ${writer}`)
    return key
  }
}

type Story = (fleet: Fleet) => Promise<unknown>

function fleetLedger(story: Story): Promise<TestLedger> {
  return told(async (ledger) => {
    const second = await addWriter(ledger, 'gw-2')
    const third = await addWriter(ledger, 'gw-3')
    await story(new Fleet(ledger, { 'gw-1': ledger.writerKey, 'gw-2': second, 'gw-3': third }))
  }, BEGINNING)
}

function honest(name: string, about: string, story: Story): Plan {
  return passes(`fleet-${name}`, about, async () => exported(await fleetLedger(story)))
}

function crime(name: string, about: string, findings: readonly string[], story: Story): Plan {
  return fails(`fleet-${name}`, about, findings, async () => packed(await fleetLedger(story)))
}

function delegation(op: 'grant' | 'revoke'): Draft {
  return {
    ...{ kind: 'delegation', op, delegation_hash: hash('delegation'), delegator: 'agent:lead' },
    ...{ delegate: 'agent:ci', expires: '2026-01-06T00:00:00.000Z', by: 'agent:lead' },
  }
}

function policyChange(policy_hash: string): Draft {
  return { kind: 'policy', policy_hash, name: 'demo', by: 'admin:ann' }
}

export const FLEET: readonly Plan[] = [
  honest('of-three-gateways', 'three gateways decide in turn, each in its own chain', async (fleet) => {
    for (const writer of ['gw-2', 'gw-3', 'gw-2']) await fleet.by(writer, DENIED)
  }),
  honest('clocks-differ', 'the clock of the second gateway is an hour behind', async (fleet) => {
    await fleet.by('gw-1', DENIED)
    await fleet.by('gw-2', { ...DENIED, time: '2026-01-05T08:00:00.000Z' })
    await fleet.by('gw-1', DENIED)
  }),
  honest(
    'approval-across-gateways',
    'one gateway asks, another takes the answer, and a third runs the call and records its effect',
    async (fleet) => {
      const asked = await fleet.by('gw-1', ASKED)
      const granted = await fleet.by('gw-2', answer(asked))
      const sent = await fleet.by('gw-3', approved(granted))
      await fleet.by('gw-3', effect(sent))
    },
  ),
  honest(
    'effect-of-a-lost-gateway',
    'a gateway closes the call of another one that is lost',
    async (fleet) => {
      const read = await fleet.by('gw-2', decision(POLICY))
      await fleet.by('gw-3', unknownEffect(read))
      await fleet.by('gw-2', effect(read, { late: true }))
    },
  ),
  honest('gateway-leaves', 'the key of a gateway is retired, and the others continue', async (fleet) => {
    await fleet.by('gw-2', DENIED)
    await fleet.ledger.append(keyChange(fleet.key('gw-2'), 'gw-2', 'retire'))
    await fleet.by('gw-3', DENIED)
  }),
  honest(
    'gateway-comes-back',
    'a gateway comes back with another key, and continues its chain',
    async (fleet) => {
      await fleet.by('gw-2', DENIED)
      await fleet.ledger.append(keyChange(fleet.key('gw-2'), 'gw-2', 'retire'))
      const next = await fixedKey('next key of gw-2')
      await fleet.ledger.append(keyChange(next, 'gw-2'))
      await fleet.by('gw-2', DENIED, next)
    },
  ),
  passes('fleet-range-from-the-middle', 'a range that begins after a gateway has joined', async () => {
    const ledger = await fleetLedger(async (fleet) => {
      for (const writer of ['gw-2', 'gw-1', 'gw-2']) await fleet.by(writer, DENIED)
    })
    return exported(ledger, { range: { start: FIRST + 1, end: FIRST + 3 }, selected: [0, 1, 2, 4] })
  }),

  crime(
    'approval-used-on-two-gateways',
    'two gateways run the same approved call',
    [`APPROVAL_REUSED at ${FIRST + 3}`],
    async (fleet) => {
      const granted = await fleet.by('gw-1', answer(await fleet.by('gw-1', ASKED)))
      await fleet.by('gw-2', approved(granted))
      await fleet.by('gw-3', approved(granted))
    },
  ),
  crime(
    'approval-answered-on-two-gateways',
    'two gateways take an answer to the same request',
    [`APPROVAL_WITHOUT_ESCALATION at ${FIRST + 2}`],
    async (fleet) => {
      const asked = await fleet.by('gw-1', ASKED)
      await fleet.by('gw-2', answer(asked))
      await fleet.by('gw-3', answer(asked))
    },
  ),
  crime(
    'approval-refused-elsewhere',
    'a gateway runs a call that a person refused on another one',
    [`APPROVAL_NOT_GRANTED at ${FIRST + 2}`],
    async (fleet) => {
      const refused = await fleet.by('gw-2', answer(await fleet.by('gw-1', ASKED), 'REFUSED'))
      await fleet.by('gw-3', approved(refused))
    },
  ),
  crime(
    'approval-expired-elsewhere',
    'a gateway uses an approval that has expired by its own clock',
    [`APPROVAL_NOT_GRANTED at ${FIRST + 2}`],
    async (fleet) => {
      const asked = await fleet.by('gw-1', ASKED)
      const granted = await fleet.by('gw-2', {
        ...answer(asked),
        expires: '2026-01-05T09:00:07.999Z',
      } as Draft)
      await fleet.by('gw-3', approved(granted))
    },
  ),
  crime(
    'effect-recorded-on-two-gateways',
    'two gateways record the effect of one call',
    [`EFFECT_REPEATED at ${FIRST + 2}`],
    async (fleet) => {
      const read = await fleet.by('gw-2', decision(POLICY))
      await fleet.by('gw-2', effect(read))
      await fleet.by('gw-3', effect(read))
    },
  ),
  crime(
    'effect-late-on-another-gateway',
    'a gateway records a late effect of a call that was never closed',
    [`EFFECT_LATE_WRONG at ${FIRST + 1}`],
    async (fleet) => {
      await fleet.by('gw-3', effect(await fleet.by('gw-2', decision(POLICY)), { late: true }))
    },
  ),
  crime(
    'effect-of-a-call-denied-elsewhere',
    'a gateway runs a call that another one denied',
    [`EFFECT_NOT_ALLOWED at ${FIRST + 1}`],
    async (fleet) => {
      await fleet.by('gw-3', effect(await fleet.by('gw-2', DENIED)))
    },
  ),
  crime(
    'effect-of-an-unknown-call-again',
    'a call that another gateway closed as unknown is closed again as if on time',
    [`EFFECT_LATE_WRONG at ${FIRST + 2}`],
    async (fleet) => {
      const read = await fleet.by('gw-2', decision(POLICY))
      await fleet.by('gw-3', unknownEffect(read))
      await fleet.by('gw-2', effect(read))
    },
  ),
  crime(
    'policy-outdated-on-a-gateway',
    'a gateway decides under a policy that another one has replaced',
    [`POLICY_NOT_ACTIVE at ${FIRST + 1}`],
    async (fleet) => {
      await fleet.by('gw-1', policyChange(OTHER_POLICY))
      await fleet.by('gw-2', DENIED)
    },
  ),
  crime(
    'policy-ahead-on-a-gateway',
    'a gateway decides under a policy before it is active',
    [`POLICY_NOT_ACTIVE at ${FIRST}`],
    async (fleet) => {
      await fleet.by('gw-2', { ...DENIED, policy_hash: OTHER_POLICY } as Draft)
      await fleet.by('gw-1', policyChange(OTHER_POLICY))
    },
  ),
  crime(
    'delegation-revoked-elsewhere',
    'a gateway allows a call under a delegation that was revoked on another one',
    [`DELEGATION_NOT_GRANTED at ${FIRST + 2}`],
    async (fleet) => {
      const granted = await fleet.by('gw-1', delegation('grant'))
      await fleet.by('gw-2', { ...delegation('revoke'), causes: [granted] })
      await fleet.by('gw-3', decision(POLICY, { delegation: hash('delegation') }))
    },
  ),
  crime(
    'chain-forked-by-a-clone',
    'two gateways with one key begin the same chain',
    [`CHAIN_FORKED at ${FIRST + 1}`],
    async (fleet) => {
      await fleet.by('gw-2', DENIED)
      await fleet.by('gw-2', { ...DENIED, seq: 0, prev_receipt_hash: NO_HASH, lamport_clock: 2 })
    },
  ),
  crime(
    'chain-continues-that-of-another',
    'the first receipt of a gateway continues the chain of another one',
    [`CHAIN_GAP at ${FIRST + 1}`],
    async (fleet) => {
      const prev_receipt_hash = await fleet.by('gw-2', DENIED)
      await fleet.by('gw-3', { ...DENIED, seq: 1, prev_receipt_hash, lamport_clock: 2 })
    },
  ),
  crime(
    'chain-skips-a-place',
    'a gateway left out a place of its chain while others wrote',
    [`CHAIN_GAP at ${FIRST + 2}`],
    async (fleet) => {
      const prev_receipt_hash = await fleet.by('gw-2', DENIED)
      await fleet.by('gw-1', DENIED)
      await fleet.by('gw-2', { ...DENIED, seq: 2, prev_receipt_hash, lamport_clock: 2 })
    },
  ),
  crime(
    'clock-behind-one-of-its-causes',
    'the Lamport clock of a receipt counts one of its causes and not the other',
    [`LAMPORT_WRONG at ${FIRST + 2}`],
    async (fleet) => {
      const low = await fleet.by('gw-2', DENIED)
      const high = await fleet.by('gw-1', DENIED)
      await fleet.by('gw-3', { ...DENIED, causes: [low, high], lamport_clock: 2 })
    },
  ),
  crime(
    'clock-ignores-the-cause',
    'the Lamport clock of a receipt continues its chain and ignores the receipt that led to it',
    [`LAMPORT_WRONG at ${FIRST + 1}`],
    async (fleet) => {
      await fleet.by('gw-2', DENIED)
      const cause = entryOf(fleet.ledger, AT.read).id
      await fleet.by('gw-2', { ...DENIED, causes: [cause], lamport_clock: 2 })
    },
  ),
  crime(
    'time-rewound-on-one-gateway',
    'a gateway dates a receipt before its own previous one',
    [`TIME_REWOUND at ${FIRST + 2}`],
    async (fleet) => {
      await fleet.by('gw-2', DENIED)
      await fleet.by('gw-1', DENIED)
      await fleet.by('gw-2', { ...DENIED, time: '2026-01-05T09:00:05.000Z' })
    },
  ),
  crime(
    'gateway-signs-for-another',
    'a gateway signs a receipt in the chain of another one',
    [`KEY_ROLE_WRONG at ${FIRST}`],
    (fleet) => fleet.by('gw-3', DENIED, fleet.key('gw-2')),
  ),
  crime(
    'gateway-retires-another',
    'a gateway retires the key of another one by itself',
    [`KEY_ROLE_WRONG at ${FIRST}`],
    (fleet) =>
      fleet.ledger.append(
        { ...keyChange(fleet.key('gw-3'), 'gw-3', 'retire'), writer: 'gw-2' },
        fleet.key('gw-2'),
      ),
  ),
  crime(
    'gateway-joins-by-itself',
    'the receipt that adds a gateway is signed by the key that it adds',
    [`KEY_UNKNOWN at ${FIRST}`],
    async (fleet) => {
      const own = await fixedKey('gw-4')
      await fleet.ledger.append({ ...keyChange(own, 'gw-4'), writer: 'gw-4' }, own)
      await fleet.by('gw-4', DENIED, own)
    },
  ),
  crime(
    'gateway-writes-after-it-left',
    'a gateway writes after its key was retired',
    [`KEY_RETIRED at ${FIRST + 1}`],
    async (fleet) => {
      await fleet.ledger.append(keyChange(fleet.key('gw-2'), 'gw-2', 'retire'))
      await fleet.by('gw-2', DENIED)
    },
  ),
  crime(
    'gateway-leaves-under-another-name',
    'the key of a gateway is retired as that of another one',
    [`KEY_UNKNOWN at ${FIRST}`],
    (fleet) => fleet.ledger.append(keyChange(fleet.key('gw-2'), 'gw-3', 'retire')),
  ),
  crime(
    'gateway-leaves-as-a-ledger-key',
    'the key of a gateway is retired as a key of the ledger',
    [`KEY_UNKNOWN at ${FIRST}`],
    (fleet) => fleet.ledger.append(keyChange(fleet.key('gw-2'), undefined, 'retire')),
  ),
  crime(
    'gateway-leaves-twice',
    'the key of a gateway is retired again',
    [`KEY_UNKNOWN at ${FIRST + 1}`],
    async (fleet) => {
      for (let i = 0; i < 2; i++) await fleet.ledger.append(keyChange(fleet.key('gw-2'), 'gw-2', 'retire'))
    },
  ),
]
