// Derives effect classes from the words of a tool's name and description. It splits words without regular expressions,
// because the texts come from servers and must not cause slow matching.

import { EFFECT_CLASSES, type EffectClass } from '@tollgate/evidence'

// Verbs in names and descriptions. Other words have no effect class.
const VERBS: Readonly<Record<EffectClass, string>> = {
  read:
    'get list read search find fetch query show describe view lookup count check inspect retrieve return browse ' +
    'download display summarize analyze compare validate verify',
  write:
    'write create add update edit set put insert append save modify patch rename move copy toggle replace overwrite ' +
    'store upsert merge commit assign change generate close resolve import mark mkdir reserve book schedule register',
  delete: 'delete remove drop purge wipe destroy erase truncate clear unlink rm uninstall discard reset',
  execute: 'execute exec run eval evaluate spawn invoke trigger start stop restart kill launch click',
  send: 'send post publish upload email notify share forward reply submit broadcast push invite tweet export',
  pay: 'pay charge refund purchase buy withdraw',
  admin: 'grant revoke deploy provision impersonate authorize install chmod chown sudo disable enable',
}
// Verbs in names only: in sentences they often mean something else.
const IN_NAMES: Readonly<Record<EffectClass, string>> = {
  read:
    'look peek preview examine explain calculate compute estimate locate scan poll tail print dump diff identify detect trace ' +
    'recall watch',
  write:
    'subscribe unsubscribe enroll enrol join leave approve reject decide accept decline confirm complete finish reopen release ' +
    'restore archive activate deactivate extend renew apply attach detach tag label flag pin swap split tick reschedule adjust',
  delete: 'trash cancel terminate shred prune void',
  execute: 'rerun',
  send: 'compose respond answer announce redirect dispatch',
  pay: 'reimburse remit disburse',
  admin: 'unlock suspend promote demote whitelist allowlist',
}
// Nouns that imply an action, if a name has no verb or only one of creating.
const NOUNS: Readonly<Record<EffectClass, string>> = {
  read:
    'info status history tree stats details contents lookup card queue slots entry entries profile overview summary balance prices ' +
    'rates weather forecast calendar agenda roster rota directory catalog inventory stock members logs timeline metrics notes',
  write: 'writer editor creation',
  delete: 'deletion removal',
  execute: 'shell bash terminal command script sandbox subprocess code sql',
  send: 'mail webhook sms message notification',
  pay: 'order invoice',
  admin: '',
}
// Nouns that are serious with any verb except reading.
const GRAVE: Readonly<Partial<Record<EffectClass, string>>> = {
  pay: 'payment payout checkout transfer money transaction transactions',
  admin:
    'admin permission permissions acl iam policy root access privilege privileges rights password passwords passcode credential ' +
    'credentials mfa',
}
const MAKING = new Set('create make new place initiate issue start perform process write'.split(' '))
// Verbs that count anywhere in a description. Others, such as "set", often mean something else.
const STRONG =
  'delete remove overwrite erase destroy wipe purge truncate execute send upload publish pay purchase charge transmit'

const spoken = lexicon(VERBS)
const verbs: ReadonlyMap<string, EffectClass> = new Map([...lexicon(IN_NAMES), ...spoken])
const nouns = lexicon(NOUNS)
const grave = lexicon(GRAVE)
const strong = new Set(STRONG.split(' '))

function lexicon(words: Readonly<Partial<Record<EffectClass, string>>>): ReadonlyMap<string, EffectClass> {
  return new Map(
    EFFECT_CLASSES.flatMap((effect) => (words[effect] ?? '').split(' ').map((word) => [word, effect])),
  )
}

// The classes by possible damage. In doubt the stricter one counts.
const ORDER: readonly EffectClass[] = ['read', 'write', 'delete', 'send', 'execute', 'pay', 'admin']

/** The stricter of two classes. */
export function stricter(a: EffectClass, b: EffectClass): EffectClass {
  return ORDER.indexOf(a) >= ORDER.indexOf(b) ? a : b
}

/** A word that implies an effect class. */
interface EffectWord {
  readonly word: string
  readonly effect: EffectClass
}

/** The words of a tool's name that imply an effect class. */
export function effectWordsInName(name: string): readonly EffectWord[] {
  const words = wordsOf(name.slice(0, 256))
  const done = words.filter((word, i) => isOpening(words, i) || verbs.has(stem(word))).map(stem)
  // With a reading verb the noun is only an object: `get_order` and `order_list` order nothing.
  const isRead = done.every(readsBy) && (done.length > 0 || nouns.get(words.at(-1) ?? '') === 'read')
  const isMade = done.every((verb) => readsBy(verb) || MAKING.has(verb))
  const thingOf = (word: string): EffectClass | undefined => {
    const noun = isMade ? nouns.get(word) : undefined
    return isRead ? (noun === 'read' ? noun : undefined) : (grave.get(word) ?? noun)
  }
  return words.flatMap((word, i) =>
    isOpening(words, i) ? effectWord(word, 'read') : effectWord(word, verbs.get(stem(word)) ?? thingOf(word)),
  )
}

function readsBy(verb: string): boolean {
  return verb === OPEN || verbs.get(verb) === 'read'
}

const OPEN = 'open'
const OPENED = new Set('file files page url link document mail message email site attachment'.split(' '))

/** Whether something is opened for reading, as in `mail_open` and `open_page`. Opening a ticket or an account creates one. */
function isOpening(words: readonly string[], i: number): boolean {
  if (words[i] !== OPEN) return false
  return i > 0 ? i === words.length - 1 : OPENED.has(words[1] ?? '')
}

const MAX_READ = 4000

/** The words of a description that imply an effect class: any verb in its first sentence, and strong verbs in the rest. */
export function effectWordsInDescription(description: string): readonly EffectWord[] {
  const text = description.slice(0, MAX_READ)
  const end = sentenceEnd(text)
  const first = wordsOf(text.slice(0, end)).flatMap((word) => effectWord(word, spoken.get(stem(word))))
  const rest = wordsOf(text.slice(end)).flatMap((word) =>
    strong.has(stem(word)) ? effectWord(word, spoken.get(stem(word))) : [],
  )
  return [...first, ...rest]
}

function effectWord(word: string, effect: EffectClass | undefined): readonly EffectWord[] {
  return effect === undefined ? [] : [{ word, effect }]
}

function sentenceEnd(text: string): number {
  const ends = ['. ', '.\n', '\n'].map((mark) => text.indexOf(mark)).filter((at) => at !== -1)
  return Math.min(300, text.length, ...ends)
}

/** The words of a text in lower case: "getFile", "get_file" and "get file" give the same two words. */
export function wordsOf(text: string): readonly string[] {
  const words: string[] = []
  let word = ''
  let wasLower = false
  const end = (): void => {
    if (word !== '') words.push(word.toLowerCase())
    word = ''
  }
  for (const letter of text) {
    const isUpper = letter >= 'A' && letter <= 'Z'
    const isLetter = isUpper || (letter >= 'a' && letter <= 'z') || letter > '\u007f'
    if (!isLetter || (isUpper && wasLower)) end()
    if (isLetter) word += letter
    wasLower = isLetter && !isUpper
  }
  end()
  return words
}

/** A verb without the endings `s`, `es` and `ing`. "Created" stays: it describes an object, not an action. */
function stem(word: string): string {
  const forms = [
    word,
    without(word, 's'),
    without(word, 'es'),
    without(word, 'ing'),
    `${without(word, 'ing')}e`,
  ]
  return forms.find((form) => verbs.has(form)) ?? word
}

function without(word: string, ending: string): string {
  return word.endsWith(ending) ? word.slice(0, -ending.length) : word
}

const SECRETS = new Set(
  'env environment secret secrets password passwords credential credentials token tokens apikey keychain vault'.split(
    ' ',
  ),
)

/** Whether the name or the first sentence of the description mentions secrets. */
export function mentionsSecrets(name: string, description: string): boolean {
  const text = description.slice(0, MAX_READ)
  const words = [...wordsOf(name.slice(0, 256)), ...wordsOf(text.slice(0, sentenceEnd(text)))]
  return words.some((word) => SECRETS.has(word))
}
