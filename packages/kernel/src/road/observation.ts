// Parses the observations of a Sentinel strictly, and keeps them for the call that refers to them.

import type { JsonObject, Json } from '@tollgate/evidence'
import { KernelError } from '../error.ts'
import type { Kernel } from '../kernel.ts'
import { copyOf } from '../plain.ts'

/**
 * Keeps an observation for one call that refers to it within ten seconds. Returns its id.
 *
 * @throws KernelError `REQUEST_INVALID` if it is not an observation.
 */
export function postObservation(kernel: Kernel, tenant: string, observation: unknown): string {
  const copied = copyOf(observation)
  if (!copied) throw new KernelError('REQUEST_INVALID', 'an observation must be an object of at most 64 KiB')
  return kernel.observations.post(tenant, readObservation(copied), kernel.host.now())
}

/** A Sentinel's observation of a page. */
export interface Observation {
  readonly url: string | undefined
  readonly dom_hash: string | undefined
  readonly visual_text_hash: string | undefined
  readonly sentinel_risk: number | undefined
  readonly sentinel_findings: readonly string[] | undefined
}

/** Parses an observation. Invalid members become undefined, so that they cannot count as harmless. */
export function readObservation(value: JsonObject): Observation {
  const { url, dom_hash, visual_text_hash, sentinel_risk, sentinel_findings } = value
  const risk = sentinel_risk
  const readable = typeof risk === 'number' && Number.isInteger(risk) && risk >= 0 && risk <= 100
  return {
    url: typeof url === 'string' && url.length <= MAX_URL ? url.toWellFormed() : undefined,
    dom_hash: isHash(dom_hash) ? dom_hash : undefined,
    visual_text_hash: isHash(visual_text_hash) ? visual_text_hash : undefined,
    sentinel_risk: readable ? risk : undefined,
    sentinel_findings: isFindings(sentinel_findings) ? sentinel_findings : undefined,
  }
}

export const MAX_URL = 2048

const HASH = /^[0-9a-f]{64}$/

const FINDING = /^[A-Z][A-Z0-9_]{0,63}$/

function isHash(value: Json | undefined): value is string {
  return typeof value === 'string' && HASH.test(value)
}

function isFindings(value: Json | undefined): value is readonly string[] {
  if (!Array.isArray(value)) return false
  const items = value as readonly Json[]
  const each = items.every((item) => typeof item === 'string' && FINDING.test(item))
  return each && items.length <= 32 && new Set(items).size === items.length
}
