// The outline of a document: its nodes in order, each text with the part that a person can read.

import { PAGE_SCRIPT } from '@tollgate/sentinel/page'
import { asObject, type Cdp, type CdpResult } from '../cdp.ts'

/** A text: all of it, and the part that a person can read. */
export type TextPiece = readonly [text: string, shown: string]

/** The outline of a document, by the numbers of its nodes. */
export interface PageOutline {
  /** Equal only if the nodes are the same and the texts have the same lengths. */
  readonly check: number
  readonly size: number
  /** The text of a node; undefined for an element. */
  textAt(at: number): string | undefined
  /** The number after the last node inside of a node. */
  endOf(at: number): number
  /** Whether a person can see an element. A text is seen if a part of it can be read. */
  isSeen(at: number): boolean
  /** Whether a text contains one that a person cannot read anywhere. */
  hides(text: string): boolean
  /** The texts in a range of nodes, in order. */
  piecesIn(from: number, to: number): readonly TextPiece[]
}

const READING = 15_000
const WORLD = 'tollgate-sentinel'
const MOST_ENTRIES = 200_000

/** Reads the outline of a frame. Rejects if it cannot be read in time. */
export async function readOutline(cdp: Cdp, session: string, frameId: unknown): Promise<PageOutline> {
  const ask = (method: string, params: object): Promise<CdpResult> =>
    cdp.send(method, params, { session, timeout: READING })
  const { executionContextId: contextId } = await ask('Page.createIsolatedWorld', {
    frameId,
    worldName: WORLD,
  })
  const evaluate = async (expression: string): Promise<unknown> => {
    const answer = await ask('Runtime.evaluate', { expression, contextId, returnByValue: true })
    if (answer['exceptionDetails'] !== undefined) throw new Error('the page could not be read')
    return asObject(answer['result'])['value']
  }
  const known = await evaluate('globalThis.tollgateSentinel?.outline()')
  return outlineOf(known ?? (await evaluate(`${PAGE_SCRIPT};tollgateSentinel.outline()`)))
}

/** The same document if a person can read nothing of it. */
export function withoutText(outline: PageOutline): PageOutline {
  return {
    ...outline,
    isSeen: () => false,
    piecesIn: (from, to) => outline.piecesIn(from, to).map(([text]) => [text, '']),
  }
}

type ElementEntry = readonly [seen: number, end: number, own: readonly TextPiece[]]

/** Checks an outline. Its world is not the page's, but its process is. */
function outlineOf(value: unknown): PageOutline {
  const { check, entries: listed } = asObject(value)
  if (typeof check !== 'number' || !Array.isArray(listed) || listed.length > MOST_ENTRIES) {
    throw new Error('the page returned no outline')
  }
  const entries = listed.map((each: unknown, at) => entryOf(each, at, listed.length))
  const at = (index: number): ElementEntry | TextPiece => {
    const entry = entries[index]
    if (!entry) throw new Error('the outline has no such node')
    return entry
  }
  const hidden = lazily(() => hiddenIn(entries))
  return {
    check,
    size: entries.length,
    textAt: (index) => {
      const [first] = at(index)
      return typeof first === 'string' ? first : undefined
    },
    endOf: (index) => {
      const entry = at(index)
      return isElement(entry) ? entry[1] : index + 1
    },
    isSeen: (index) => {
      const entry = at(index)
      return isElement(entry) ? entry[0] === 1 : entry[1] !== ''
    },
    hides: (text) => hidden().some((part) => text.includes(part)),
    piecesIn: (from, to) =>
      entries.slice(from, to).flatMap((entry) => (isElement(entry) ? entry[2] : [entry])),
  }
}

const LEAST_HIDDEN = 4

/** The texts that are hidden everywhere. */
function hiddenIn(entries: readonly (ElementEntry | TextPiece)[]): readonly string[] {
  const pieces = entries.flatMap((entry) => (isElement(entry) ? entry[2] : [entry]))
  const shown = new Set(pieces.filter(([, part]) => part !== '').map(([text]) => text.trim()))
  const away = pieces.filter(([, part]) => part === '').map(([text]) => text.trim())
  return [...new Set(away)].filter((text) => text.length >= LEAST_HIDDEN && !shown.has(text))
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

function isElement(entry: ElementEntry | TextPiece): entry is ElementEntry {
  return typeof entry[0] === 'number'
}

function entryOf(value: unknown, at: number, size: number): ElementEntry | TextPiece {
  if (isPiece(value)) return value
  const given: readonly unknown[] = Array.isArray(value) ? value : []
  const [seen, end, own] = given
  const whole =
    (seen === 0 || seen === 1) &&
    typeof end === 'number' &&
    end > at &&
    end <= size &&
    Array.isArray(own) &&
    own.every(isPiece)
  if (!whole) throw new Error('the page returned a wrong outline')
  return [seen, end, own]
}

function isPiece(value: unknown): value is TextPiece {
  return Array.isArray(value) && value.length === 2 && value.every((each) => typeof each === 'string')
}
