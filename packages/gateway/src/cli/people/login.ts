// `tollgate login`, `tollgate logout` and `tollgate whoami`: the token that is stored on this machine for a gateway.

import process from 'node:process'
import { text as readAll } from 'node:stream/consumers'
import { sha256Hex } from '@tollgate/evidence'
import type { GatewayOptions } from '../commands.ts'
import { ask } from '../program/ask.ts'
import {
  checkedToken,
  connectWith,
  dataOf,
  givenToken,
  localUser,
  runsOn,
  withConnection,
} from '../program/connect.ts'
import { loginFor, loginsFile, placeOf, removeLogin } from '../program/logins.ts'
import { pairs, shown } from '../program/table.ts'
import { CommandError, UsageError, type Terminal } from '../program/terminal.ts'
import { openTty, type Tty } from '../program/tty.ts'
import { newLoginPassphrase, storeToken } from '../program/unlock.ts'

interface TokenOwner {
  readonly principal: string
  readonly role: string
}

/** Stores a token under a passphrase, after the gateway has accepted it. */
export async function runLogin(terminal: Terminal, options: GatewayOptions): Promise<number> {
  const place = placeOf({ url: options.url, data: dataOf(options) })
  const tty = openTty()
  if (!tty) throw new UsageError('a passphrase needs a terminal, and there is none', 'run it in a terminal')
  try {
    const token = await readToken(tty, options)
    const { principal, role } = await ownerOf(options, token)
    refuseAgents(role)
    const passphrase = await newLoginPassphrase(tty)
    if (passphrase === undefined) throw new CommandError('no passphrase was given; nothing was stored')
    await storeToken(place, { token, passphrase, principal, role })
    terminal.data({ place, principal, role, file: loginsFile() }, '')
    terminal.say(`stored the token of \`${shown(principal)}\` (${role}) for \`${shown(place)}\`, encrypted`)
    terminal.say('commands that decide ask for this passphrase now')
    return 0
  } finally {
    tty.close()
  }
}

async function readToken(tty: Tty, options: GatewayOptions): Promise<string> {
  if (options.tokenFile !== undefined) return givenToken(options) ?? ''
  const typed = process.stdin.isTTY
    ? await tty.askHidden('tollgate: token (it is not shown): ')
    : await readAll(process.stdin)
  return checkedToken(typed.trim(), 'the input')
}

/** An agent gets its token from its own variable, and has no terminal to type a passphrase. */
function refuseAgents(role: string): void {
  if (role === 'operator' || role === 'admin' || role === 'auditor') return
  throw new CommandError(
    `this token has the role \`${role}\`, which is not for people; nothing was stored`,
    'give it to its program as TOLLGATE_AGENT_TOKEN',
  )
}

/** Returns the owner of a token: from the running gateway, otherwise from the ledger. @throws if the token is not valid. */
async function ownerOf(options: GatewayOptions, token: string): Promise<TokenOwner> {
  if (options.url !== undefined || (await runsOn(options))) {
    return ask<TokenOwner>(await connectWith(options, token), '/v1/status')
  }
  const { data } = options
  return withConnection(data === undefined ? {} : { data }, 'read', async (connection) => {
    const { tokens } = await ask<{ readonly tokens: readonly (TokenOwner & { hash: string })[] }>(
      connection,
      '/v1/tokens',
    )
    const found = tokens.find(({ hash }) => hash === sha256Hex(token))
    if (found) return found
    throw new CommandError('the token is unknown, revoked or expired; nothing was stored')
  })
}

/** Removes the stored token. */
export function runLogout(terminal: Terminal, options: GatewayOptions): Promise<number> {
  const place = placeOf({ url: options.url, data: dataOf(options) })
  const removed = removeLogin(place)
  terminal.data({ place, removed }, '')
  terminal.say(
    removed
      ? `removed the token for \`${shown(place)}\`; it stays valid until you revoke it with \`tollgate tokens revoke HASH\``
      : `no token is stored for \`${shown(place)}\``,
  )
  return Promise.resolve(removed ? 0 : 1)
}

/** Shows which identity commands use. */
export function runWhoami(terminal: Terminal, options: GatewayOptions): Promise<number> {
  const place = placeOf({ url: options.url, data: dataOf(options) })
  const facts = { gateway: place, ...identityOf(options, place) }
  terminal.data(facts, () => pairs(Object.entries(facts).map(([name, value]) => [name, shown(value)])))
  return Promise.resolve(facts.source === 'none' ? 1 : 0)
}

function identityOf(
  options: GatewayOptions,
  place: string,
): { readonly source: string; readonly principal: string; readonly role: string } {
  const given = givenToken(options)
  if (given !== undefined) {
    const source = options.tokenFile === undefined ? 'TOLLGATE_TOKEN' : 'token file'
    return { source, principal: 'not shown; `tollgate status --json` asks the gateway', role: roleIn(given) }
  }
  const login = loginFor(place)
  if (login) return { source: 'passphrase', principal: login.principal, role: login.role }
  if (options.url !== undefined) return { source: 'none', principal: '-', role: '-' }
  return {
    source: 'file permissions',
    principal: `local:${localUser()}`,
    role: 'admin, while no gateway runs',
  }
}

function roleIn(token: string): string {
  return token.split('_')[1] ?? ''
}
