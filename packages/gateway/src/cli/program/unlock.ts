// Passphrases of stored tokens: asks for one to read a token, or for a new one to store a token.

import { loginFor, saveLogin, type Login } from './logins.ts'
import { openToken, sealToken } from './sealed-token.ts'
import { shown } from './table.ts'
import { CommandError } from './terminal.ts'
import { openTty, type Tty } from './tty.ts'

const MAX_TRIES = 3
const MIN_LENGTH = 8

/**
 * Returns the stored token for a place, after a person has typed its passphrase; undefined if none is stored.
 *
 * @throws CommandError without a terminal, or after three wrong passphrases.
 */
export async function unlockToken(place: string): Promise<string | undefined> {
  const login = loginFor(place)
  if (!login) return undefined
  const tty = openTty()
  if (!tty) throw needsPerson(login)
  try {
    return await tries(tty, place, login)
  } finally {
    tty.close()
  }
}

async function tries(tty: Tty, place: string, login: Login): Promise<string> {
  for (let i = 0; i < MAX_TRIES; i++) {
    const typed = await tty.askHidden(
      `tollgate: passphrase of ${shown(login.principal)} for ${shown(place)}: `,
    )
    if (typed === '') break
    const token = await openToken(login.sealed, place, typed)
    if (token !== undefined) return token
    tty.say('tollgate: wrong passphrase')
  }
  throw new CommandError(
    'the passphrase is missing or wrong; nothing was changed',
    'if you forgot it, store the token again with `tollgate login`',
  )
}

function needsPerson({ principal }: Login): CommandError {
  return new CommandError(
    `this command asks for the passphrase of \`${shown(principal)}\`, and there is no terminal; nothing was changed`,
    'a person has to run it in a terminal',
    'for a program such as a CI job, use a token of its own with `--token-file FILE`',
  )
}

/** Asks twice for a new passphrase; undefined if the person gives none. */
export async function newLoginPassphrase(tty: Tty): Promise<string | undefined> {
  for (let i = 0; i < MAX_TRIES; i++) {
    const first = await tty.askHidden('tollgate: new passphrase for the token: ')
    if (first === '') return undefined
    if (first.length < MIN_LENGTH) {
      tty.say(`tollgate: use at least ${MIN_LENGTH} characters`)
      continue
    }
    if (first === (await tty.askHidden('tollgate: the same passphrase again: '))) return first
    tty.say('tollgate: the two passphrases differ')
  }
  return undefined
}

/** Encrypts a token and stores it for a place. */
export async function storeToken(
  place: string,
  {
    token,
    passphrase,
    ...who
  }: Omit<Login, 'sealed'> & { readonly token: string; readonly passphrase: string },
): Promise<void> {
  saveLogin(place, { ...who, sealed: await sealToken(token, place, passphrase) })
}
