// The result of a scan, and the observation that a gateway takes from it.

import { FINDING_CODES, type FindingCode } from './codes.ts'

/** A rectangle in CSS pixels, from the top left corner of the document. */
export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** The place of a finding. */
export interface Place {
  /** The way from the root to the element, such as `html>body>p:2`. It contains no text of the page. */
  readonly path: string
  /** Where a browser draws it; missing if it is not drawn. */
  readonly box?: Box
}

/** One kind of finding on a page. */
export interface Finding {
  readonly code: FindingCode
  /** The risk that it adds, from 0 to 100. */
  readonly risk: number
  readonly count: number
  /** The first places. */
  readonly places: readonly Place[]
}

/** A page as a Sentinel sees it. The projection is text of the page: keep it in memory only. */
export interface PageReading {
  /** `static`: without a browser. Such a reading is weaker. */
  readonly mode: 'rendered' | 'static'
  readonly url: string
  readonly dom_hash: string
  readonly visual_text_hash: string
  /** From 0 to 100. */
  readonly risk: number
  readonly findings: readonly Finding[]
  /** The text that a person could read. */
  readonly projection: string
}

/** The hashes that tell whether a page has changed since a scan. */
export interface PageHash {
  readonly url: string
  readonly dom_hash: string
  /** Changes with the size of the window and of the document, and with the style sheets. */
  readonly layout: string
}

/** How a driver of the browser knows an element. */
export interface ElementSign {
  /** In the window. */
  readonly box: Box
  /** Some of its attributes, with their values; null if it has none of this name. */
  readonly attributes: Readonly<Record<string, string | null>>
}

/** The element that a call acts on, without text of the page. */
export interface PageTarget {
  readonly role: string
  /** SHA-256 of its name, with single spaces. */
  readonly name_hash: string
  /** In the document, in whole pixels. */
  readonly box: Box
  /** The address that a click on it, or its form, leads to; missing for the page itself. */
  readonly destination?: string
}

/** The body of `POST /v1/browser/observations`. */
export interface SentinelObservation {
  readonly url: string
  readonly dom_hash: string
  readonly visual_text_hash: string
  readonly sentinel_risk: number
  readonly sentinel_findings: readonly string[]
}

/**
 * The observation of a reading. It lists only findings that matter for a decision: reasons for risk, and a scan that did not reach the
 * end of the page. Text that was removed from the projection is not one of them.
 */
export function observationOf(reading: PageReading): SentinelObservation {
  const { url, dom_hash, visual_text_hash, risk, findings } = reading
  const codes = findings.filter(matters).map(({ code }) => code)
  return { url, dom_hash, visual_text_hash, sentinel_risk: risk, sentinel_findings: codes.sort() }
}

const LEAST_RISK = 30

function matters({ code, risk }: Finding): boolean {
  return (FINDING_CODES[code].kind === 'risk' && risk >= LEAST_RISK) || code === 'TRUNCATED'
}
