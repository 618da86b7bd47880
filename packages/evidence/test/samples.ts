// Shared by the tests of this package: keys, a valid receipt of every kind, and helpers for errors.

import { toBase64 } from '../src/bytes.ts'
import { codeOf } from '../src/error.ts'
import { sha256Hex } from '../src/hash.ts'
import { importSigningKey, type PublicKey, type SigningKey } from '../src/keys.ts'
import { NO_HASH, type Common, type Kind, type Receipt } from '../src/kinds.ts'

/** The receipt type of a kind. */
export type ReceiptOf<K extends Kind> = Extract<Receipt, { readonly kind: K }>

/** The ledger that all samples belong to. */
export const ORIGIN = 'ledger.example/samples'

/** The writer that all samples come from. */
export const WRITER = 'gateway-1'

/** The SHA-256 of a label. */
export function hashOf(label: string): string {
  return sha256Hex(label)
}

/** The seed of test key `number`, from 1: the same on every machine. */
export function seedOf(number: number): Uint8Array {
  return new Uint8Array(32).fill(number)
}

/** Test key `number`, from 1. */
export function signingKey(number = 1): Promise<SigningKey> {
  return importSigningKey(seedOf(number))
}

/** The code of the EvidenceError of a call, or `accepted`. Rethrows other errors. */
export function outcomeOf(work: () => unknown): string {
  try {
    work()
  } catch (fault) {
    return codeOf(fault)
  }
  return 'accepted'
}

/** As `outcomeOf`, for a promise. */
export async function outcomeOfAsync(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (fault) {
    return codeOf(fault)
  }
  return 'accepted'
}

/**
 * A valid receipt of the kind, with `key` and as many optional fields as possible. `changes` overrides fields, also with invalid
 * values.
 */
export function sampleOf<K extends Kind>(
  kind: K,
  key: PublicKey,
  changes: Readonly<Record<string, unknown>> = {},
): ReceiptOf<K> {
  // Tests of refusals break the type on purpose.
  return { ...commonOf(key), ...samples(key)[kind], ...changes } as unknown as ReceiptOf<K>
}

function commonOf(key: PublicKey): Common {
  return {
    v: 1,
    ledger: ORIGIN,
    tenant: 'tenant-a',
    writer: WRITER,
    seq: 0,
    lamport_clock: 1,
    prev_receipt_hash: NO_HASH,
    causes: [],
    time: '2026-01-31T23:59:59.000Z',
    key: key.id,
  }
}

function samples(key: PublicKey): { readonly [K in Kind]: Omit<ReceiptOf<K>, keyof Common> } {
  return {
    genesis: {
      kind: 'genesis',
      public_key: toBase64(key.bytes),
      commit: 'plain',
      succeeds: {
        ledger: 'ledger.example/lost',
        checkpoint_hash: hashOf('last checkpoint'),
        because: 'The disk was lost.',
      },
    },
    decision: {
      kind: 'decision',
      principal: 'agent:ci',
      session: { id: 's1', seq: 3 },
      door: 'browser',
      assurance: 'advised',
      author: 'server:files',
      person: 'oidc-user:olga',
      tool: 'mail/send',
      effect_class: 'send',
      args_hash: hashOf('arguments'),
      commit: 'plain',
      definition_hash: hashOf('definition'),
      verdict: 'ALLOW',
      reason_code: 'APPROVAL_GRANTED',
      rung: 'privilege',
      rule: 'outside',
      policy_hash: hashOf('policy'),
      ladder: hashOf('ladder'),
      state_hash: hashOf('state'),
      next_state_hash: hashOf('next state'),
      evidence: hashOf('inputs'),
      approval: hashOf('approval'),
      delegation: hashOf('delegation'),
      labels: ['personal'],
      findings: ['ROLE_TAG'],
      compliance: ['eu-transfer'],
      elevation: { tier: 'elevated', until: '2026-02-01T00:15:00.000Z' },
      trust: '505.0000',
      provenance_hash: hashOf('provenance'),
      scope_hash: hashOf('scope'),
      next_scope_hash: hashOf('next scope'),
      expires: '2026-02-01T00:00:59.000Z',
      trajectory_risk_score: '0.1250',
      session_centroid_hash: hashOf('centroid'),
      risk_accumulation_window: 8,
      browser: {
        sentinel_risk: 12,
        sentinel_findings: ['HIDDEN_TEXT', 'FOREIGN_FORM'],
        dom_hash: hashOf('dom'),
        visual_text_hash: hashOf('visual text'),
        planner_ref: 'plan-7',
        page_host: 'www.example.com',
        destination_host: 'example.com',
        seen_hash: hashOf('seen'),
        approved_hash: hashOf('approved'),
      },
    },
    effect: {
      kind: 'effect',
      decision: hashOf('decision'),
      status: 'COMPLETED',
      effect_hash: hashOf('output'),
      commit: 'plain',
      reported_by: 'gateway',
      delivery: 'redacted',
      late: true,
      labels: ['flagged'],
      findings: ['IGNORE_INSTRUCTIONS'],
      trust: '499.0000',
      provenance_hash: hashOf('provenance'),
    },
    approval: {
      kind: 'approval',
      decision: hashOf('decision'),
      answer: 'GRANTED',
      widen: true,
      approver: 'user:olga',
      because: 'The invoice is right.',
      seen_hash: hashOf('seen'),
      expires: '2026-02-01T00:15:00.000Z',
    },
    freeze: {
      kind: 'freeze',
      scope: 'principal',
      target: 'agent:ci',
      frozen: false,
      by: 'user:olga',
      because: 'It went too far.',
      denials: 12,
    },
    policy: { kind: 'policy', policy_hash: hashOf('policy'), name: 'workstation', by: 'user:olga' },
    key: { kind: 'key', op: 'add', role: 'writer', of: WRITER, public_key: toBase64(key.bytes) },
    pin: {
      kind: 'pin',
      op: 'pin',
      tool: 'mail/send',
      definition_hash: hashOf('definition'),
      by: 'user:olga',
    },
    token: {
      kind: 'token',
      op: 'issue',
      token_hash: hashOf('token'),
      role: 'agent',
      principal: 'agent:ci',
      groups: ['ops', 'security'],
      expires: '2026-02-02T00:00:00.000Z',
      by: 'user:olga',
    },
    delegation: {
      kind: 'delegation',
      op: 'grant',
      delegation_hash: hashOf('statement'),
      delegator: 'user:olga',
      delegate: 'agent:ci',
      parent: hashOf('parent statement'),
      expires: '2026-02-02T00:00:00.000Z',
      by: 'user:olga',
    },
    session: {
      kind: 'session',
      op: 'scope',
      session: 's1',
      principal: 'agent:ci',
      scope_hash: hashOf('scope'),
      scope: {
        effects: ['send'],
        tools: ['mail/*'],
        sinks: 2,
        looked_up: true,
        until: '2026-02-01T00:15:00.000Z',
        by: 'host',
      },
      next_state_hash: hashOf('next state'),
      by: 'agent:ci',
      decisions: 4,
    },
    observe: {
      kind: 'observe',
      scope: 'principal',
      target: 'agent:scout',
      on: true,
      until: '2026-02-01T06:00:00.000Z',
      by: 'user:olga',
    },
    recovery: { kind: 'recovery', closed: 2, because: 'The process ended without closing its decisions.' },
    quota: { kind: 'quota', of: 'storage', principal: 'agent:ci', day: '2026-02-01', denials: 12 },
    blocked: {
      kind: 'blocked',
      principal: 'agent:ci',
      session: 's1',
      page_host: 'shop.example',
      pages: 1,
      hosts: Array.from({ length: 20 }, (_, i) => `h${i}.collect.example`),
      requests: 25,
      more: 3,
      types: ['image', 'ping'],
    },
  }
}
