// Creates the first admin token. On a terminal, a person can store it under a passphrase at once and never sees it.

import process from 'node:process'
import type { Config } from '../../config/config.ts'
import type { Gateway } from '../../open.ts'
import { localUser } from '../program/connect.ts'
import { loginsFile, placeOf } from '../program/logins.ts'
import type { Terminal } from '../program/terminal.ts'
import { openTty } from '../program/tty.ts'
import { newLoginPassphrase, storeToken } from '../program/unlock.ts'
import { firstAdmin, hasAdmin } from './create.ts'

/** The outcome for the first admin token: it existed before, it was stored, or it has to be shown once. */
type FirstToken =
  | { readonly kind: 'none' }
  | { readonly kind: 'stored' }
  | { readonly kind: 'shown'; readonly token: string }

/** Creates the first admin token if there is none, and stores it if a person gives a passphrase. */
export async function firstToken(terminal: Terminal, gateway: Gateway): Promise<FirstToken> {
  if (hasAdmin(gateway)) return { kind: 'none' }
  return newToken(terminal, gateway.config, () => firstAdmin(gateway))
}

/** Issues an admin token, and stores it if a person gives a passphrase. */
export async function newToken(
  terminal: Terminal,
  { data }: Pick<Config, 'data'>,
  issue: () => Promise<string | undefined>,
): Promise<FirstToken> {
  // Asked before the token exists: Ctrl-C here must not lose a token that no one has seen.
  const passphrase = isPerson(terminal) ? await offer(terminal) : undefined
  const token = await issue()
  if (token === undefined) return { kind: 'none' }
  if (passphrase === undefined || !(await isStored(terminal, data, token, passphrase))) {
    return { kind: 'shown', token }
  }
  return { kind: 'stored' }
}

/** Whether a person reads every output. Otherwise a program may want the token. */
function isPerson({ json }: Terminal): boolean {
  return !json && process.stdin.isTTY && process.stdout.isTTY && process.stderr.isTTY
}

async function offer(terminal: Terminal): Promise<string | undefined> {
  const tty = openTty()
  if (!tty) return undefined
  terminal.say('choose a passphrase: it encrypts the admin token on this machine')
  terminal.say('commands that decide ask for it; press Enter to see the token instead, once')
  try {
    return await newLoginPassphrase(tty)
  } finally {
    tty.close()
  }
}

async function isStored(
  terminal: Terminal,
  data: string,
  token: string,
  passphrase: string,
): Promise<boolean> {
  try {
    const who = { principal: `user:${localUser()}`, role: 'admin' }
    await storeToken(placeOf({ data }), { token, passphrase, ...who })
    terminal.say(`stored the admin token, encrypted: \`${loginsFile()}\``)
    return true
  } catch (fault) {
    const why = fault instanceof Error ? fault.message : 'unknown fault'
    terminal.warn(`the admin token could not be stored: ${why}`)
    return false
  }
}
