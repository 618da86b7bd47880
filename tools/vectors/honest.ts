// Packs that pass, each for its own reason.

import {
  addWriter,
  answer,
  approved,
  AT,
  DENIED,
  ASKED,
  entryOf,
  keyChange,
  POLICY,
  story,
  told,
  trustIn,
} from '../../packages/evidence/test/audit-story.ts'
import {
  createLedger,
  decision,
  effect,
  fixedKey,
  begin,
  unknownEffect,
  type Draft,
  type TestLedger,
} from '../../packages/evidence/test/ledger.ts'
import { bytesOf } from '../../packages/evidence/test/pack-forge.ts'
import {
  cosignCheckpoint,
  noteKey,
  saltedHash,
  sha256Hex,
  toBase64,
  type LedgerKey,
  type NoteKey,
  type Payload,
} from '../../packages/evidence/src/index.ts'
import { BEGINNING, exported, passes, withoutTrust, type Plan } from './plan.ts'

/** The context a range from the middle needs: genesis, the writer's key, the policy in force. */
export const CONTEXT: readonly number[] = [AT.genesis, AT.key, AT.policy]

/** A range from the middle of the story, with its context. */
export const MIDDLE = { range: { start: AT.asked, end: AT.next }, selected: CONTEXT }

/** The witness of that number, as a trust file names it. */
export async function witness(number: number): Promise<NoteKey> {
  return noteKey(`witness-${number}.example`, (await fixedKey(`witness ${number}`)).publicKey, 4)
}

/** Has witnesses cosign the ledger's head, one second after each other. */
export async function cosign(ledger: TestLedger, ...numbers: readonly number[]): Promise<void> {
  for (const number of numbers) {
    const { name } = await witness(number)
    const key = await fixedKey(`witness ${number}`)
    ledger.useCheckpoint(await cosignCheckpoint(ledger.checkpoint, { name, key }, 1_767_603_700 + number))
  }
}

/** Three witnesses, of whom two must have cosigned. */
export async function twoOfThree(): Promise<{ witnesses: NoteKey[]; quorum: number }> {
  return { witnesses: await Promise.all([1, 2, 3].map(witness)), quorum: 2 }
}

const ARGS = bytesOf('{"path":"/srv/report.txt"}')
const OUTPUT = bytesOf('Quarterly report\n')
const SALT = bytesOf(sha256Hex('salt').slice(0, 32))

/** A call of which the arguments and the output are disclosed. */
export async function disclosing(
  commit: 'plain' | 'salted',
): Promise<{ ledger: TestLedger; payloads: Payload[] }> {
  const payloads: Payload[] =
    commit === 'plain'
      ? [
          { hash: sha256Hex(ARGS), bytes: ARGS },
          { hash: sha256Hex(OUTPUT), bytes: OUTPUT },
        ]
      : [
          { hash: saltedHash('args', SALT, ARGS), bytes: ARGS, salted: { label: 'args', salt: SALT } },
          {
            hash: saltedHash('effect', SALT, OUTPUT),
            bytes: OUTPUT,
            salted: { label: 'effect', salt: SALT },
          },
        ]
  const [args_hash = '', effect_hash = ''] = payloads.map(({ hash }) => hash)
  const ledger = await told(async (ledger) => {
    const { id } = await ledger.append(decision(POLICY, { args_hash, commit }))
    await ledger.append(effect(id, { effect_hash, commit }))
  }, BEGINNING)
  return { ledger, payloads }
}

async function twoWriters(): Promise<TestLedger> {
  return told(async (ledger) => {
    const key = await addWriter(ledger, 'gw-2')
    const theirs = await ledger.append(decision(POLICY, { writer: 'gw-2' }), key)
    await ledger.append(DENIED)
    await ledger.append(effect(theirs.id, { writer: 'gw-2' }), key)
    await ledger.append(decision(POLICY, { causes: [theirs.id] }))
  }, BEGINNING)
}

async function rotatedWriter(): Promise<TestLedger> {
  const next = await fixedKey('next writer')
  return told(async (ledger) => {
    await ledger.append(keyChange(next, 'gw-1'))
    await ledger.append(DENIED)
    await ledger.append(DENIED, next)
    await ledger.append(keyChange(ledger.writerKey, 'gw-1', 'retire'))
    await ledger.append(DENIED, next)
  }, BEGINNING)
}

const nextLedgerKey = await fixedKey('next ledger key')

/** Both keys of a ledger whose key is rotated at this size: one entry adds the new key, the next retires the old one. */
export function keysWithRanges(ledger: TestLedger, size: number): readonly LedgerKey[] {
  return [
    { ...ledger.noteKey(), from: 0, until: size + 2 },
    { ...noteKey(ledger.origin, nextLedgerKey.publicKey), from: size + 1 },
  ]
}

async function rotatedLedgerKey(retire: boolean): Promise<TestLedger> {
  const ledger = await story(BEGINNING)
  await ledger.append(keyChange(nextLedgerKey))
  if (retire) await ledger.append(keyChange(ledger.ledgerKey, undefined, 'retire'), nextLedgerKey)
  await ledger.append(DENIED)
  await ledger.sealHead(retire ? [nextLedgerKey] : [ledger.ledgerKey, nextLedgerKey])
  return ledger
}

async function longLedger(): Promise<TestLedger> {
  return told(async (ledger) => {
    while (ledger.size < 260) await ledger.append(DENIED)
  })
}

async function twoPolicies(): Promise<TestLedger> {
  return told(async (ledger) => {
    const other = ledger.keepPolicy('tollgate: 1\nname: stricter\nrules: []\n')
    await ledger.append({ kind: 'policy', policy_hash: other, name: 'stricter', by: 'admin:ann' })
    await ledger.append(decision(other, { verdict: 'DENY', reason_code: 'NO_RULE_MATCHED' }))
  }, BEGINNING)
}

async function twoTenants(): Promise<TestLedger> {
  return told(async (ledger) => {
    const other = ledger.keepPolicy('tollgate: 1\nname: of b\nrules: []\n')
    const tenant = 'b'
    await ledger.append({ kind: 'policy', policy_hash: other, name: 'of b', by: 'admin:ann', tenant })
    await ledger.append(decision(other, { verdict: 'DENY', reason_code: 'NO_RULE_MATCHED', tenant }))
    await ledger.append(DENIED)
  }, BEGINNING)
}

/** The effect of a call was unknown, and became known late. */
async function lateEffect(): Promise<TestLedger> {
  return told(async (ledger) => {
    const { id } = entryOf(ledger, AT.read)
    await ledger.append(unknownEffect(id))
    await ledger.append(effect(id, { late: true }))
  }, BEGINNING)
}

async function refusal(ledger: TestLedger): Promise<void> {
  const { id } = await ledger.append(ASKED)
  const refused = await ledger.append(answer(id, 'REFUSED'))
  const denial = { verdict: 'DENY', reason_code: 'APPROVAL_REFUSED' } as const
  await ledger.append(decision(POLICY, { ...denial, causes: [id, refused.id] }))
}

/** What a person was shown and what was used are both on record, and need not be the same. */
async function approvalOfAPage(ledger: TestLedger): Promise<void> {
  const page = {
    sentinel_findings: [],
    page_host: 'shop.example',
    planner_ref: `sha256:${sha256Hex('plan')}`,
  }
  const [shown, used] = [sha256Hex('risk 12'), sha256Hex('risk 5')]
  const { id } = await ledger.append({
    ...ASKED,
    browser: { ...page, sentinel_risk: 12, seen_hash: shown },
  } as Draft)
  const said = { because: 'The order is right.', seen_hash: shown }
  const { id: approval } = await ledger.append({ ...answer(id, 'GRANTED'), ...said })
  await ledger.append({
    ...approved(approval),
    browser: { ...page, sentinel_risk: 5, seen_hash: used, approved_hash: shown },
  } as Draft)
}

/** An operator lifts the risk of a session, its memory, and its principal's loss of trust. */
async function pardons(ledger: TestLedger): Promise<void> {
  const of = { kind: 'session', principal: 'agent:ci', session: 's1', by: 'user:olga' } as const
  const because = 'The export was asked for.'
  const next_state_hash = sha256Hex('state')
  await ledger.append({ ...of, op: 'reset', next_state_hash, decisions: 9, because })
  await ledger.append({ ...of, op: 'close', decisions: 9, because })
  await ledger.append({ ...of, op: 'trust', session: of.principal, trust: '500.0000', because })
}

/** What one process was given, the next one of its principal uses. */
async function nextProcess(ledger: TestLedger): Promise<void> {
  const [one, two] = ['a', 'b'].map((digit, seq) => ({ id: `mcp:${digit.repeat(32)}`, seq }))
  const { id } = await ledger.append({ ...ASKED, session: one } as Draft)
  const { id: approval } = await ledger.append(answer(id, 'GRANTED'))
  await ledger.append({ ...approved(approval), session: two } as Draft)
}

async function genesisAlone(): Promise<TestLedger> {
  const ledger = await createLedger()
  const public_key = toBase64(ledger.ledgerKey.publicKey.bytes)
  await ledger.append({ kind: 'genesis', public_key, commit: 'plain' })
  await ledger.sealHead()
  return ledger
}

async function successor(): Promise<TestLedger> {
  const ledger = await createLedger()
  const succeeds = { ledger: 'ledger.example/lost', checkpoint_hash: sha256Hex('head'), because: 'disk lost' }
  const public_key = toBase64(ledger.ledgerKey.publicKey.bytes)
  await ledger.append({ kind: 'genesis', public_key, commit: 'salted', succeeds })
  await ledger.sealHead()
  return ledger
}

async function unusedLedger(): Promise<TestLedger> {
  const ledger = await createLedger()
  await begin(ledger)
  await ledger.sealHead()
  return ledger
}

export const HONEST: readonly Plan[] = [
  passes('range-complete', 'a ledger from its first entry to its last', async () => exported(await told())),
  passes('range-from-the-middle', 'the second half of a ledger, with the entries it rests on', async () =>
    exported(await told(), MIDDLE),
  ),
  passes('range-ends-before-the-head', 'the first eight of ten entries', async () =>
    exported(await told(), { range: { start: 0, end: 8 } }),
  ),
  passes(
    'range-with-an-entry-after-it',
    'the first eight entries, and a later one by its own proof',
    async () => exported(await told(), { range: { start: 0, end: 8 }, selected: [AT.sentEffect] }),
  ),
  passes('range-across-bundles', 'entries 254 to 256 stand in two bundles', async () =>
    exported(await longLedger(), { range: { start: 254, end: 257 }, selected: CONTEXT }),
  ),
  passes('selection', 'single receipts, each with its own proof; an effect without its decision', async () =>
    exported(await told(), { selected: [AT.genesis, AT.key, AT.readEffect, AT.denied] }),
  ),
  passes('selection-across-bundles', 'single receipts of two bundles', async () =>
    exported(await longLedger(), { selected: [AT.genesis, AT.key, 255, 256, 259] }),
  ),
  passes('genesis-alone', 'a ledger of one entry, whose proof is empty', async () =>
    exported(await genesisAlone()),
  ),
  passes('genesis-succeeds-a-lost-ledger', 'a ledger that continues one which was lost', async () =>
    exported(await successor()),
  ),
  passes('ledger-unused', 'a ledger that has a writer and no call yet', async () =>
    exported(await unusedLedger()),
  ),
  passes(
    'writers-interleaved',
    'two writers, each with its own chain, one following from the other',
    async () => exported(await twoWriters()),
  ),
  passes('writer-key-rotated', 'a writer gets a second key and loses its first', async () =>
    exported(await rotatedWriter()),
  ),
  passes('ledger-key-rotated-both-sign', 'the old key is pinned, and both sign the head', async () =>
    exported(await rotatedLedgerKey(false)),
  ),
  passes(
    'ledger-key-rotated-new-signs',
    'the old key was retired; the new one is pinned and signs',
    async () => {
      const ledger = await rotatedLedgerKey(true)
      const keys = [noteKey(ledger.origin, nextLedgerKey.publicKey)]
      return exported(ledger, undefined, { keys })
    },
  ),
  passes(
    'ledger-key-rotated-later',
    'the pack is older than the rotation; the trust file has both keys with their ranges',
    async () => {
      const ledger = await told(undefined, BEGINNING)
      return exported(ledger, undefined, { keys: keysWithRanges(ledger, ledger.size) })
    },
  ),
  passes(
    'ledger-key-rotated-with-ranges',
    'the new key signs; the trust file has both keys with their ranges',
    async () => {
      const ledger = await rotatedLedgerKey(true)
      return exported(ledger, undefined, { keys: keysWithRanges(ledger, ledger.size - 3) })
    },
  ),
  passes('payload-plain', 'arguments and output are disclosed under plain hashes', async () => {
    const { ledger, payloads } = await disclosing('plain')
    return exported(ledger, { range: { start: 0, end: ledger.size }, payloads })
  }),
  passes('payload-salted', 'arguments and output are disclosed with their salts', async () => {
    const { ledger, payloads } = await disclosing('salted')
    return exported(ledger, { range: { start: 0, end: ledger.size }, payloads })
  }),
  passes('causes-empty', 'a decision that follows from nothing but its predecessor', async () =>
    exported(await told((ledger) => ledger.append({ ...DENIED, causes: [] }), BEGINNING)),
  ),
  passes('time-stands-still', 'two receipts of the same millisecond', async () =>
    exported(
      await told(
        (ledger) => ledger.append({ ...DENIED, time: entryOf(ledger, AT.read).receipt.time }),
        BEGINNING,
      ),
    ),
  ),
  passes('effect-late-after-unknown', 'the effect of a lost call was learned after all', async () =>
    exported(await lateEffect()),
  ),
  passes(
    'effect-late-by-itself',
    'a late effect is shown, and neither its decision nor the unknown one',
    async () => exported(await lateEffect(), { selected: [AT.genesis, AT.key, AT.read + 2] }),
  ),
  passes(
    'effect-late-with-its-decision',
    'a late effect and its decision are shown, and not the unknown one',
    async () => exported(await lateEffect(), { selected: [AT.genesis, AT.key, AT.read, AT.read + 2] }),
  ),
  passes('effect-cancelled', 'an allowed call that was never dispatched', async () =>
    exported(
      await told(async (ledger) => {
        const ended = {
          status: 'CANCELLED',
          commit: 'plain',
          reported_by: 'gateway',
          delivery: 'withheld',
        } as const
        const { id } = entryOf(ledger, AT.read)
        await ledger.append({ kind: 'effect', decision: id, causes: [id], ...ended })
      }, BEGINNING),
    ),
  ),
  passes('decision-open', 'an allowed call whose effect is not recorded yet', async () =>
    exported(await told(undefined, BEGINNING)),
  ),
  passes('approval-refused', 'a person refused, and the call was denied', async () =>
    exported(await told(refusal, BEGINNING)),
  ),
  passes('approval-of-a-page', 'a person approved a browser call and said why', async () =>
    exported(await told(approvalOfAPage, BEGINNING)),
  ),
  passes(
    'approval-used-by-the-next-process',
    'a client was started again between the question and the call',
    async () => exported(await told(nextProcess, BEGINNING)),
  ),
  passes(
    'session-pardoned',
    'an operator reset and closed a session, and reset trust, with reasons',
    async () => exported(await told(pardons, BEGINNING)),
  ),
  passes('policy-replaced-in-time', 'decisions under a policy and under its successor', async () =>
    exported(await twoPolicies()),
  ),
  passes('author-is-a-server', 'a decision on arguments that an MCP server wrote', async () =>
    exported(
      await told(async (ledger) => {
        const verdict = { verdict: 'DENY', reason_code: 'NO_RULE_MATCHED' } as const
        const asked = { tool: 'files:elicitation/create', author: 'server:files' }
        await ledger.append(decision(POLICY, { ...verdict, ...asked }))
      }, BEGINNING),
    ),
  ),
  passes('policies-of-two-tenants', 'each tenant has its own active policy', async () =>
    exported(await twoTenants()),
  ),
  passes('policy-text-not-kept', 'the text of the policy is not in the pack any more', async () => {
    const ledger = await told(undefined, BEGINNING)
    return exported({ ...ledger, policy: () => undefined })
  }),
  passes(
    'witnessed',
    'two of three witnesses have cosigned, as the trust file demands',
    async () => {
      const ledger = await told(undefined, BEGINNING)
      await cosign(ledger, 1, 3)
      return exported(ledger, undefined, await twoOfThree())
    },
    'witnessed',
  ),
  passes('cosigner-unknown', 'a cosignature of a witness that nobody named counts for nothing', async () => {
    const ledger = await told(undefined, BEGINNING)
    await cosign(ledger, 9)
    return exported(ledger, undefined, { ...(await twoOfThree()), quorum: 0 })
  }),
  passes('signer-unknown', 'another key signed beside the pinned one, and counts for nothing', async () => {
    const ledger = await told(undefined, BEGINNING)
    await ledger.sealHead([await fixedKey('stranger'), ledger.ledgerKey])
    return exported(ledger)
  }),
  passes('pinned-head-in-the-range', 'the range itself shows the head that was seen earlier', async () => {
    const ledger = await told()
    return exported(ledger, undefined, { checkpoint: await ledger.checkpointAt(7) })
  }),
  passes(
    'pinned-head-with-a-proof',
    'a proof shows that the ledger continues the head seen earlier',
    async () => {
      const ledger = await told()
      return exported(ledger, { ...MIDDLE, since: 7 }, { checkpoint: await ledger.checkpointAt(7) })
    },
  ),
  passes(
    'pinned-head-empty',
    'the head that was seen earlier is that of a ledger without entries',
    async () => {
      const ledger = await told(undefined, BEGINNING)
      return exported(ledger, undefined, { checkpoint: await ledger.checkpointAt(0) })
    },
  ),
  passes('pinned-head-equal', 'the head is the one that was seen earlier', async () => {
    const ledger = await told()
    return exported(ledger, MIDDLE, { checkpoint: ledger.checkpoint })
  }),
  passes(
    'without-trust',
    'nothing is pinned, so nobody vouches for the key',
    async () => withoutTrust(exported(await told())),
    'integrity only',
  ),
  passes(
    'without-trust-after-rotation',
    'nothing is pinned; the head is signed by the key in service',
    async () => withoutTrust(exported(await rotatedLedgerKey(true))),
    'integrity only',
  ),
  passes(
    'ledger-remade-without-trust',
    'a forger made everything anew under keys of its own, and nothing is pinned: this is why trust files exist',
    async () => withoutTrust(exported(await told(undefined, { ...BEGINNING, salt: 'forger' }))),
    'integrity only',
  ),
]

/** Trust in the honest ledger, for packs that claim to be of it. */
export async function trustInTheStory(): Promise<string> {
  return trustIn(await story({ length: 0 }))
}
