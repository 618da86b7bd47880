// How a vector is planned: what it is about, what a verifier must say of it, and how its pack is made.

import { AT, told, trustIn, type Pins, type StoryOptions } from '../../packages/evidence/test/audit-story.ts'
import type { PackCase } from '../../packages/evidence/test/case.ts'
import { collect, type TestLedger } from '../../packages/evidence/test/ledger.ts'
import {
  archive,
  bound,
  forge,
  forged,
  wholeOf,
  type ForgeRequest,
  type Members,
} from '../../packages/evidence/test/pack-forge.ts'
import { writePack, type JsonObject, type PackRequest } from '../../packages/evidence/src/index.ts'

/** A pack, and the trust file it is verified with, if it is. */
export type Made = Pick<PackCase, 'pack' | 'trust'>

/** A vector before its pack is made. What is expected is written down by a person, never taken from a verifier. */
export interface Plan extends Omit<PackCase, keyof Made> {
  readonly make: () => Promise<Made>
}

type Make = Plan['make']

/** A pack that passes. */
export function passes(name: string, about: string, make: Make, expect: Plan['expect'] = 'verified'): Plan {
  return { name, about, expect, findings: [], make }
}

/** A pack that can be read and is not true. */
export function fails(name: string, about: string, findings: readonly string[], make: Make): Plan {
  return { name, about, expect: 'failed', findings, make }
}

/** A pack that is not one. */
export function unreadable(name: string, about: string, findings: readonly string[], make: Make): Plan {
  return { name, about, expect: 'malformed', findings, make }
}

/** What an honest exporter writes of a ledger, and what an auditor of it pins. */
export async function exported(ledger: TestLedger, request?: PackRequest, pins?: Pins): Promise<Made> {
  const pack = await collect(writePack(ledger, request ?? wholeOf(ledger)))
  return { pack, trust: trustIn(ledger, pins) }
}

/** A pack of whatever the ledger holds. */
export async function packed(ledger: TestLedger, request?: ForgeRequest, pins?: Pins): Promise<Made> {
  return { pack: await forged(ledger, request), trust: trustIn(ledger, pins) }
}

/** The same pack, verified without a trust file. */
export async function withoutTrust(made: Promise<Made>): Promise<Made> {
  return { pack: (await made).pack }
}

/** The beginning of the story: long enough for most crimes, and small. Its last entry is a decision still open. */
export const BEGINNING: StoryOptions = { length: AT.read + 1 }

/** Index of the receipt that is added to the beginning of the story. */
export const ADDED = AT.read + 1

/** A crime of those who hold the keys: the beginning of the story goes on with it, and the head is signed over it. */
export function sealedCrime(commit: (ledger: TestLedger) => Promise<unknown>): Make {
  return async () => packed(await told(commit, BEGINNING))
}

/** A crime against an honest pack: its members are changed, and the manifest is made to fit. */
export function boundCrime(tamper: (members: Members) => Members, request?: ForgeRequest): Make {
  return async () => {
    const ledger = await told(undefined, request ? {} : BEGINNING)
    return { pack: archive(bound(tamper(await forge(ledger, request)))), trust: trustIn(ledger) }
  }
}

/** A crime that leaves the manifest as it is. */
export function naiveCrime(tamper: (members: Members) => Members): Make {
  return async () => {
    const ledger = await told(undefined, BEGINNING)
    return { pack: archive(tamper(await forge(ledger))), trust: trustIn(ledger) }
  }
}

/** An object without one of its keys. */
export function lacking(object: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key))
}
