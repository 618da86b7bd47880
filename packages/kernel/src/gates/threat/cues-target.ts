// Decides whether a demand names its target: an address, a number, a name. "Please confirm" does not.

import { isAlphanumeric, isSpace } from './characters.ts'
import { matches } from './scan-state.ts'
import { targetAt } from './target.ts'
import { codeAt, type View } from './view.ts'

const REACH_AFTER = 120
const REACH_BEFORE = 90

// The units that can be part of a target or end a sentence. All others are skipped.
const RELEVANT = new Uint8Array(65_536)
for (let code = 48; code <= 57; code++) RELEVANT[code] = 1
for (let code = 65; code <= 90; code++) RELEVANT[code] = 1
for (const sign of '@/."«“「。|!?\n') RELEVANT[sign.charCodeAt(0)] = 1

/** Returns whether the sentence names a target after the verb, or before it if `last` allows a verb at the end. */
export function namesTarget(view: View, start: number, end: number, last: boolean): boolean {
  const { codes } = view
  const to = Math.min(view.length, end + REACH_AFTER)
  for (let i = end; i < to; i++) {
    if (RELEVANT[codes[i] ?? 0] === 0) continue
    if (isNamed(view, i)) return true
    if (endsSentence(view, i)) break
  }
  const from = last ? Math.max(0, start - REACH_BEFORE) : start
  for (let i = start - 1; i >= from; i--) {
    if (RELEVANT[codes[i] ?? 0] === 0) continue
    if (endsSentence(view, i)) return false
    if (isNamed(view, i)) return true
  }
  return false
}

/** Returns whether the sentence of a verb contains a mail or web address. */
export function namesAddress(view: View, end: number): boolean {
  for (let i = end; i < Math.min(view.length, end + REACH_AFTER) && !endsSentence(view, i); i++) {
    const code = codeAt(view, i)
    if ((code === 0x3a || code === 0x40) && targetAt(view, i) !== 0) return true
  }
  return false
}

/** A sign inside an address, two digits, a quotation mark, or a capital letter within a sentence. */
function isNamed(view: View, i: number): boolean {
  const code = codeAt(view, i)
  const before = i === 0 ? 32 : codeAt(view, i - 1)
  const next = codeAt(view, i + 1)
  if (code === 0x40 || code === 0x2f || code === 0x2e) return isAlphanumeric(before) && isAlphanumeric(next)
  if (isDigit(code)) return isDigit(next)
  if (code === 0x22 || code === 0xab || code === 0x201c || code === 0x300c) return true
  return isCapital(code) && isSpace(before) && continues(view, i - 2) && !isDate(view, i)
}

const DATES = 'mon tue wed thu fri sat sun jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')

/** A day or a month is a time, not a target. */
function isDate(view: View, i: number): boolean {
  return DATES.some((date) => matches(view, i, date))
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

function isCapital(code: number): boolean {
  return code >= 65 && code <= 90
}

/** Returns whether a position is in the middle of a sentence. */
function continues(view: View, i: number): boolean {
  const code = i < 0 ? 0x2e : codeAt(view, i)
  return code !== 0x2e && code !== 0x21 && code !== 0x3f && code !== 0x3a && code !== 0x0a
}

function endsSentence(view: View, i: number): boolean {
  const code = codeAt(view, i)
  if (code === 0x3002 || code === 0x7c) return true
  if (code === 0x0a) return codeAt(view, i + 1) === 0x0a
  return (code === 0x2e || code === 0x21 || code === 0x3f) && isSpace(codeAt(view, i + 1) || 32)
}
