// A short ledger: one call allowed, one denied, one approved by a person. Most vectors are made of it, and crimes are
// committed at its end, where nothing else is disturbed.

import { formatTrust, sha256Hex, toBase64, type NoteKey, type Sealed, type SigningKey } from '../src/index.ts'
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

/** Where in the story a receipt stands. */
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
  /** One past the end of the story: where the next receipt goes. */
  next: 10,
} as const

/** The hash of the policy that is active in the story. */
export const POLICY: string = sha256Hex(POLICY_TEXT)

/** A call that is denied: a receipt that changes nothing for any other. */
export const DENIED: Draft = decision(POLICY, {
  tool: 'http/post',
  effect_class: 'send',
  verdict: 'DENY',
  reason_code: 'DATA_EGRESS_BLOCKED',
  rung: 'egress',
})

/** A call that a person is asked about. */
export const ASKED: Draft = decision(POLICY, {
  tool: 'mail/send',
  effect_class: 'send',
  verdict: 'ESCALATE',
  reason_code: 'APPROVAL_REQUIRED',
  rule: 'mail',
})

/** When the story's approval ends. */
export const APPROVED_UNTIL = '2026-01-05T10:00:00.000Z'

/** A person's answer. */
export function answer(of: string, answer: 'GRANTED' | 'REFUSED' = 'GRANTED'): Draft {
  const approver = 'operator:bob'
  return { kind: 'approval', decision: of, causes: [of], answer, approver, expires: APPROVED_UNTIL }
}

/** The call that was asked about, allowed because of the answer. */
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

/** A receipt that adds a key, or retires one; for a writer, or without `of` for the ledger itself. */
export function keyChange(key: SigningKey, of?: string, op: 'add' | 'retire' = 'add'): Draft {
  const public_key = toBase64(key.publicKey.bytes)
  return { kind: 'key', op, public_key, ...(of === undefined ? { role: 'ledger' } : { role: 'writer', of }) }
}

/** What may differ from the story. */
export interface StoryOptions extends LedgerOptions {
  /** Tell only this many entries of it. */
  readonly length?: number
  /** Another version of history: the receipt at `at` is this one, or is left out. */
  readonly instead?: { readonly at: number; readonly draft?: Draft }
}

/** The story up to its end, the head not sealed yet: whoever calls may go on. */
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

/** The story with what was added to it, its head sealed. */
export async function told(
  goOn: (ledger: TestLedger) => Promise<unknown> = () => Promise.resolve(),
  options?: StoryOptions,
): Promise<TestLedger> {
  const ledger = await story(options)
  await goOn(ledger)
  await ledger.sealHead()
  return ledger
}

/** An entry that is there. */
export function entryOf({ entries }: TestLedger, at: number): Sealed {
  const entry = entries[at]
  if (!entry) throw new Error(`no entry ${at}`)
  return entry
}

/** A second writer with a key of its own, which the ledger knows from here on. */
export async function addWriter(ledger: TestLedger, writer: string): Promise<SigningKey> {
  const key = await fixedKey(writer)
  await ledger.append(keyChange(key, writer))
  return key
}

/** What an auditor of the ledger pins, unless told otherwise. */
export interface Pins {
  readonly keys?: readonly NoteKey[]
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
