// Compares the installed version of an agent with the versions that were tried.

import { spawnSync } from 'node:child_process'
import type { Agent } from './agents.ts'

const TIMEOUT_MS = 15_000

/** The version of the installed agent; undefined if it is not on the PATH, or prints none. */
export function versionOf({ program }: Agent): string | undefined {
  const ran = spawnSync(program, ['--version'], {
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return ran.error ? undefined : /\d+\.\d+\.\d+/.exec(ran.stdout)?.[0]
}

/** A warning about a version that was not tried; undefined if there is nothing to say. */
export function versionNote(
  { name, program, tried, needs }: Agent,
  installed: string | undefined,
): readonly [sentence: string, ...hints: string[]] | undefined {
  if (tried === undefined) {
    return [`${name} was only tested with recorded payloads`, 'try one call that must be denied']
  }
  const [first, last] = tried
  if (installed === undefined)
    return [
      `\`${program}\` is not on the PATH, so its version is not known`,
      `tried: ${[...new Set(tried)].join(' to ')}`,
    ]
  if (needs !== undefined && compare(installed, needs) < 0) {
    return [
      `${name} ${installed} is older than ${needs}, and may run a call although its hook failed`,
      `install ${needs} or newer`,
    ]
  }
  if (compare(installed, first) >= 0 && compare(installed, last) <= 0) return undefined
  return [
    `${name} ${installed} was not tried (tried: ${[...new Set(tried)].join(' to ')})`,
    'the hook denies what it does not understand; run `tollgate doctor` after the setup',
  ]
}

/** Compares two versions: negative if the first is older. */
export function compare(one: string, other: string): number {
  const [a, b] = [one, other].map((text) => text.split('.').map(Number))
  for (let i = 0; i < 3; i++) {
    const difference = (a?.[i] ?? 0) - (b?.[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
