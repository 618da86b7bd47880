// A short ledger: one call allowed, one denied, one approved by a person. Most vectors use it and append a violation at its end.

import {
  formatTrust,
  sha256Hex,
  toBase64,
  type LedgerKey,
  type NoteKey,
  type Sealed,
  type SigningKey,
} from '../src/index.ts'
import {
  begin,
  createLedger,
  decision,
  effect,
  fixedKey,
  POLICY_TEXT,
  type Draft,
  type LedgerOptions,
  type TestLedger,
} from './ledger.ts'

/** The index of each receipt of the story. */
export const AT = {
  genesis: 0,
  key: 1,
  policy: 2,
  read: 3,
  readEffect: 4,
  denied: 5,
  asked: 6,
  answer: 7,
  sent: 8,
  sentEffect: 9,
  /** The index of the next receipt. */
  next: 10,
} as const

/** The hash of the active policy of the story. */
export const POLICY: string = sha256Hex(POLICY_TEXT)

/** A denied call. It affects no other receipt. */
export const DENIED: Draft = decision(POLICY, {
  tool: 'http/post',
  effect_class: 'send',
  verdict: 'DENY',
  reason_code: 'DATA_EGRESS_BLOCKED',
  rung: 'egress',
})

/** An escalated call. */
export const ASKED: Draft = decision(POLICY, {
  tool: 'mail/send',
  effect_class: 'send',
  verdict: 'ESCALATE',
  reason_code: 'APPROVAL_REQUIRED',
  rule: 'mail',
})

/** When the approval of the story expires. */
export const APPROVED_UNTIL = '2026-01-05T10:00:00.000Z'

/** The answer of a person. */
export function answer(of: string, answer: 'GRANTED' | 'REFUSED' = 'GRANTED'): Draft {
  const approver = 'operator:bob'
  return { kind: 'approval', decision: of, causes: [of], answer, approver, expires: APPROVED_UNTIL }
}

/** The escalated call, allowed by the approval. */
export function approved(approval: string): Draft {
  return decision(POLICY, {
    tool: 'mail/send',
    effect_class: 'send',
    reason_code: 'APPROVAL_GRANTED',
    rule: 'mail',
    approval,
    causes: [approval],
  })
}

/** A receipt that adds or retires a key of a writer, or of the ledger without `of`. */
export function keyChange(key: SigningKey, of?: string, op: 'add' | 'retire' = 'add'): Draft {
  const public_key = toBase64(key.publicKey.bytes)
  return { kind: 'key', op, public_key, ...(of === undefined ? { role: 'ledger' } : { role: 'writer', of }) }
}

/** Changes of the story. */
export interface StoryOptions extends LedgerOptions {
  /** Only this many entries. */
  readonly length?: number
  /** Replaces or removes the receipt at `at`. */
  readonly instead?: { readonly at: number; readonly draft?: Draft }
}

/** The story without a checkpoint. The caller can append to it. */
export async function story({
  length = AT.next,
  instead,
  ...options
}: StoryOptions = {}): Promise<TestLedger> {
  const ledger = await createLedger(options)
  ledger.keepPolicy(POLICY_TEXT)
  await begin(ledger)
  const ids = ledger.entries.map((entry) => entry.id)
  const id = (at: number): string => ids[at] ?? ''
  const steps: (() => Draft)[] = [
    () => ({ kind: 'policy', policy_hash: POLICY, name: 'demo', by: 'admin:ann' }),
    () => decision(POLICY),
    () => effect(id(AT.read)),
    () => DENIED,
    () => ASKED,
    () => answer(id(AT.asked)),
    () => approved(id(AT.answer)),
    () => effect(id(AT.sent), { status: 'FAILED' }),
  ]
  for (const step of steps.slice(0, length - ids.length)) {
    const draft = ids.length === instead?.at ? instead.draft : step()
    ids.push(draft ? (await ledger.append(draft)).id : '')
  }
  return ledger
}

/** The story with additions and a checkpoint. */
export async function told(
  goOn: (ledger: TestLedger) => Promise<unknown> = () => Promise.resolve(),
  options?: StoryOptions,
): Promise<TestLedger> {
  const ledger = await story(options)
  await goOn(ledger)
  await ledger.sealHead()
  return ledger
}

/** An existing entry. */
export function entryOf({ entries }: TestLedger, at: number): Sealed {
  const entry = entries[at]
  if (!entry) throw new Error(`no entry ${at}`)
  return entry
}

/** Adds a second writer with its own key. */
export async function addWriter(ledger: TestLedger, writer: string): Promise<SigningKey> {
  const key = await fixedKey(writer)
  await ledger.append(keyChange(key, writer))
  return key
}

/** The default trust file of the ledger. */
export interface Pins {
  readonly keys?: readonly LedgerKey[]
  readonly witnesses?: readonly NoteKey[]
  readonly quorum?: number
  readonly checkpoint?: string
}

/** A trust file in one line. */
export function trustIn(ledger: TestLedger, pins: Pins = {}): string {
  const { origin } = ledger
  const file = formatTrust({ ledger: origin, keys: [ledger.noteKey()], witnesses: [], quorum: 0, ...pins })
  return JSON.stringify(JSON.parse(file))
}
