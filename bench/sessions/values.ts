// Things that occur in everyday calls: people, addresses, accounts, keys, numbers. All of them are made up.

import type { Random } from './random.ts'

const FIRST =
  'Ada Bruno Carla Dmitri Elif Farid Greta Hanna Ivo Jana Kofi Lena Mirko Nadia Oskar Priya Quentin Rosa Sami Tove'
const LAST =
  'Abel Brandt Cole Duarte Engel Fischer Gruber Haas Iwata Jansen Kaya Lund Moreau Novak Okafor Petit Rossi Sato Tran Weiss'
/** Mail providers that anybody may have an account with. */
export const PUBLIC_MAIL: readonly string[] = ['mailbox.example', 'postfach.example', 'inboxly.example']

/** Somebody. */
export interface Person {
  readonly name: string
  readonly mail: string
}

/** Makes things up. */
export interface Values {
  person(host?: string): Person
  /** A number with a prefix, as systems give them. */
  id(prefix: string): string
  iban(): string
  phone(): string
  /** A key of a cloud or a service, in the form that such keys have. */
  key(): string
  /** A line that looks like what encoders make. */
  blob(length?: number): string
  money(least: number, most: number): number
  date(): string
}

/** Things from a source of numbers. */
export function valuesOf(random: Random): Values {
  const digits = (count: number): string => random.text(count, '0123456789')
  return {
    person(host = random.pick(PUBLIC_MAIL)) {
      const [first, last] = [random.pick(FIRST.split(' ')), random.pick(LAST.split(' '))]
      return {
        name: `${first} ${last}`,
        mail: `${first}.${last}${random.between(1, 99)}@${host}`.toLowerCase(),
      }
    },
    id: (prefix) => `${prefix}-${digits(6)}`,
    iban: () => germanIban(digits(18)),
    phone: () => `+49 30 ${digits(7)}`,
    key: () =>
      random.pick([
        `AKIA${random.text(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}`,
        `ghp_${random.text(36, 'abcdefghijkmnopqrstuvwxyzABCDEFGH0123456789')}`,
        `sk_live_${random.text(24)}`,
      ]),
    blob: (length = 96) =>
      `${random.text(length, 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/')}==`,
    money: (least, most) => random.between(least, most),
    date: () =>
      `2026-${String(random.between(1, 12)).padStart(2, '0')}-${String(random.between(1, 28)).padStart(2, '0')}`,
  }
}

/** An account with check digits that hold: D is 13 and E is 14, and then 97 is taken out. */
function germanIban(account: string): string {
  const check = 98n - (BigInt(`${account}131400`) % 97n)
  return `DE${String(check).padStart(2, '0')}${account}`
}
