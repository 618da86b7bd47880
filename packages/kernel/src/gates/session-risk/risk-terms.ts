// Words that carry risk, as whole words: never parts of them. "diamond" holds no "iam", "tokenizer" no "token".

/** What a word speaks of. */
export type Topic =
  | 'credentials'
  | 'personal'
  | 'movement'
  | 'packing'
  | 'authority'
  | 'rules'
  | 'operation'
  | 'regime'
  | 'audit'

/** Bits of the topics that occur, so that a text's topics are one number. */
export type Topics = number

const LEXICON: Readonly<Record<Topic, string>> = {
  credentials:
    'credential credentials password passwords passwd passphrase secret secrets token tokens apikey keychain ' +
    'keystore htpasswd kubeconfig netrc oauth jwt dotenv ed+25519 api+key api+keys private+key private+keys ssh+key ' +
    'ssh+keys access+key access+keys secret+key id+rsa authorized+keys etc+shadow',
  personal:
    'pii ssn passport passports iban ibans customer customers patient patients employee employees payroll salary ' +
    'salaries dob birthdate medical personal+data customer+data user+data credit+card credit+cards card+number ' +
    'bank+account social+security home+address phone+numbers',
  movement:
    'export exports exported upload uploads uploaded webhook webhooks external exfiltrate exfil pastebin ngrok ' +
    'egress outbound offsite curl wget scp rsync requestbin',
  packing:
    'archive archived zip tar gzip compress compressed base+64 encrypt encrypted encode encoded obfuscate chunk ' +
    'chunks dump mysqldump snapshot',
  authority:
    'sudo admin admins administrator administrators root superuser setuid privileged privilege privileges ' +
    'elevate elevated elevation impersonate chmod chown sudoers god+mode',
  rules:
    'policy policies iam rbac acl permission permissions grant grants firewall whitelist allowlist iam+role admin+role ' +
    'security+group trust+policy branch+protection',
  operation:
    'delete deletes deleted drop truncate purge wipe destroy deploy deploys deployed deployment publish ' +
    'published exec execute executes executed shell revoke terminate shutdown disable disabled rm kill force',
  regime:
    'hipaa gdpr sox pci ccpa ferpa glba phi regulated regulation compliance compliant jurisdiction legal+hold ' +
    'data+residency',
  audit: 'audit audits auditor auditing retention logging audit+log audit+trail siem',
}

/** The bit of each topic. */
export const BIT: Readonly<Record<Topic, number>> = {
  credentials: 1,
  personal: 2,
  movement: 4,
  packing: 8,
  authority: 16,
  rules: 32,
  operation: 64,
  regime: 128,
  audit: 256,
}

const SINGLE = new Map<string, number>()
const PAIRS = new Map<string, number>()
// By first letter, the lengths there are: most words of a text are told apart without being cut out of it.
const LENGTHS = new Uint32Array(128)

for (const [topic, entries] of Object.entries(LEXICON)) {
  // Sound: the lexicon's own keys.
  for (const entry of entries.split(' ')) learn(entry, BIT[topic as Topic])
}

function learn(entry: string, bit: number): void {
  const table = entry.includes('+') ? PAIRS : SINGLE
  table.set(entry, (table.get(entry) ?? 0) | bit)
  for (const word of entry.split('+')) {
    const first = word.charCodeAt(0)
    LENGTHS[first] = (LENGTHS[first] ?? 0) | (1 << word.length)
  }
}

// "max_tokens" counts words of a model, not keys to a door.
const COUNTING = new Set(['max', 'min', 'num', 'total', 'count', 'prompt', 'completion', 'input', 'output'])
for (const word of COUNTING) learn(`${word}+`, 0)

/**
 * The topics of a text. Linear in its length. A word ends where its kind of character does: "api_key", "apiKey", "APIKey"
 * and "apikey1" are all read as their words.
 */
export function topicsIn(text: string): Topics {
  let topics = 0
  let before = ''
  let start = 0
  let kind = kindAt(text, 0)
  for (let i = 1; i <= text.length; i++) {
    const next = i < text.length ? kindAt(text, i) : 0
    // "Key" goes on; in "APIKey" the K belongs to what follows, and is seen to when the e comes.
    if (next === kind || (kind === UPPER && next === LOWER && i - start === 1)) {
      kind = next
      continue
    }
    const end = kind === UPPER && next === LOWER ? i - 1 : i
    if (kind !== 0) {
      const word = wordAt(text, start, end)
      if (word !== '') topics |= topicOf(word, before)
      before = word
    }
    start = end
    kind = next
  }
  return topics
}

const LOWER = 1
const UPPER = 2
const DIGIT = 3
const KINDS = new Uint8Array(128)
for (let code = 0; code < 26; code++) {
  KINDS[97 + code] = LOWER
  KINDS[65 + code] = UPPER
}
for (let digit = 48; digit < 58; digit++) KINDS[digit] = DIGIT

function kindAt(text: string, at: number): number {
  return KINDS[text.charCodeAt(at)] ?? 0
}

/** The word between two places in lower case; empty if the lexicon has none that looks like it. */
function wordAt(text: string, start: number, end: number): string {
  const length = end - start
  if (length > 31 || length < 2) return ''
  const first = text.charCodeAt(start) | 32
  return ((LENGTHS[first] ?? 0) & (1 << length)) === 0 ? '' : text.slice(start, end).toLowerCase()
}

function topicOf(word: string, before: string): number {
  const pair = before === '' ? 0 : (PAIRS.get(`${before}+${word}`) ?? 0)
  const counted = (word === 'token' || word === 'tokens') && COUNTING.has(before)
  return pair | (counted ? 0 : (SINGLE.get(word) ?? 0))
}
