// What the words of a name or a description say that a tool does. Words are told apart without regular expressions that could
// take long: names and descriptions are a stranger's.

import { EFFECT_CLASSES, type EffectClass } from '@tollgate/evidence'

// Verbs, and for names also the things that stand for them. What is not here says nothing.
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
const NOUNS: Readonly<Record<EffectClass, string>> = {
  read: 'info status history tree stats details contents lookup',
  write: 'writer editor creation',
  delete: 'deletion removal',
  execute: 'shell bash terminal command script sandbox subprocess code sql',
  send: 'mail webhook sms message notification',
  pay: 'payment payout checkout transfer order invoice money transaction transactions',
  admin: 'admin permission permissions acl iam policy root',
}
// Words that are meant wherever they stand in a description; others, such as "set" or "order", are often something else.
const STRONG =
  'delete remove overwrite erase destroy wipe purge truncate execute send upload publish pay purchase charge transmit'

const verbs = lexicon(VERBS)
const nouns = lexicon(NOUNS)
const strong = new Set(STRONG.split(' '))

function lexicon(words: Readonly<Record<EffectClass, string>>): ReadonlyMap<string, EffectClass> {
  return new Map(EFFECT_CLASSES.flatMap((effect) => words[effect].split(' ').map((word) => [word, effect])))
}

// The classes by how much can go wrong. A doubt is settled upwards.
const ORDER: readonly EffectClass[] = ['read', 'write', 'delete', 'send', 'execute', 'pay', 'admin']

/** The stricter of two classes. */
export function stricter(a: EffectClass, b: EffectClass): EffectClass {
  return ORDER.indexOf(a) >= ORDER.indexOf(b) ? a : b
}

/** A word that says what a tool does. */
export interface Saying {
  readonly word: string
  readonly effect: EffectClass
}

/** What the words of a tool's name say. */
export function sayingsOfName(name: string): readonly Saying[] {
  const words = wordsOf(name.slice(0, 256))
  // What is got is a thing: `get_order` orders nothing.
  const isRead = verbs.get(stem(words[0] ?? '')) === 'read'
  return words.flatMap((word) =>
    saying(word, verbs.get(stem(word)) ?? (isRead ? undefined : nouns.get(word))),
  )
}

const MOST_READ = 4000

/** What a description says: any verb of its first sentence, and of the rest the unmistakable ones. */
export function sayingsOfDescription(description: string): readonly Saying[] {
  const text = description.slice(0, MOST_READ)
  const end = sentenceEnd(text)
  const first = wordsOf(text.slice(0, end)).flatMap((word) => saying(word, verbs.get(stem(word))))
  const rest = wordsOf(text.slice(end)).flatMap((word) =>
    strong.has(stem(word)) ? saying(word, verbs.get(stem(word))) : [],
  )
  return [...first, ...rest]
}

function saying(word: string, effect: EffectClass | undefined): readonly Saying[] {
  return effect === undefined ? [] : [{ word, effect }]
}

function sentenceEnd(text: string): number {
  const ends = ['. ', '.\n', '\n'].map((mark) => text.indexOf(mark)).filter((at) => at !== -1)
  return Math.min(300, text.length, ...ends)
}

/** The words of a text in lower case: "getFile", "get_file" and "get file" are the same two. */
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

/** A verb without what its person or its tense adds. "Created" is left: it tells of a thing, not of what is done. */
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

/** Whether the name or the first sentence of the description speaks of secrets. */
export function speaksOfSecrets(name: string, description: string): boolean {
  const text = description.slice(0, MOST_READ)
  const words = [...wordsOf(name.slice(0, 256)), ...wordsOf(text.slice(0, sentenceEnd(text)))]
  return words.some((word) => SECRETS.has(word))
}
