// Small pieces of text: names, hashes, verdicts, times.

import { signal, type Signal } from '@preact/signals'
import type { JSX } from 'preact'
import { digits, duration, line, moment } from '../text.ts'
import { Icon } from './icon.tsx'

/** A name that may be long: cut on the screen, whole on hover, on focus and for screen readers. */
export function Name({
  text,
  mono = false,
}: {
  readonly text: string
  readonly mono?: boolean
}): JSX.Element {
  return (
    <span class={mono ? 'name mono' : 'name'} title={line(text)}>
      {line(text)}
    </span>
  )
}

const TONES: Readonly<Record<string, string>> = {
  ALLOW: 'good',
  COMPLETED: 'good',
  GRANTED: 'good',
  granted: 'good',
  used: 'good',
  DENY: 'bad',
  FAILED: 'bad',
  REFUSED: 'bad',
  refused: 'bad',
  ESCALATE: 'warn',
  waiting: 'warn',
  UNKNOWN: 'warn',
}

/** A verdict or a status. Its word says what its colour says. */
export function Chip({ word, tone }: { readonly word: string; readonly tone?: string }): JSX.Element {
  return <span class={`chip ${tone ?? TONES[word] ?? 'plain'}`}>{line(word)}</span>
}

/** The first digits of a hash, with a button that copies all of it. */
export function Hash({ hash, label }: { readonly hash: string; readonly label: string }): JSX.Element {
  return (
    <span class="hash">
      <code title={hash}>{digits(hash)}</code>
      <button type="button" class="bare" aria-label={`Copy ${label}`} onClick={() => void copy(hash)}>
        <Icon name="copy" />
      </button>
    </span>
  )
}

async function copy(text: string): Promise<void> {
  await navigator.clipboard.writeText(text)
  announce('Copied.')
}

/** A time, with the exact one on hover. */
export function Time({ time }: { readonly time: string }): JSX.Element {
  return (
    <time dateTime={time} title={line(time)}>
      {moment(time)}
    </time>
  )
}

/** The current second. One clock for all countdowns. */
const now = signal(Date.now())
let clock: ReturnType<typeof setInterval> | undefined

/** The time that is left. */
export function Left({ until }: { readonly until: string }): JSX.Element {
  clock ??= setInterval(() => (now.value = Date.now()), 1000)
  const left = Date.parse(until) - now.value
  if (left <= 0) return <span class="left over">expired</span>
  return (
    <span class={left < 120_000 ? 'left soon' : 'left'} title={`until ${line(until)}`}>
      {duration(left)} left
    </span>
  )
}

/** What a screen reader says next. */
export const announced: Signal<string> = signal('')

/** Tells a change to those who cannot see it. */
export function announce(text: string): void {
  announced.value = ''
  setTimeout(() => (announced.value = text), 50)
}
