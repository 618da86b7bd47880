// Finds words that indicate risk. Only whole words count: "diamond" does not match "iam".

/** The topic of a word. */
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

/** The topics of a text as bits of one number. */
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
// The word lengths of the lexicon by first letter. Most words of a text are skipped by length, without a copy.
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

// In "max_tokens", a token is a unit of model text, not a credential.
const COUNTING = new Set(['max', 'min', 'num', 'total', 'count', 'prompt', 'completion', 'input', 'output'])
for (const word of COUNTING) learn(`${word}+`, 0)

/**
 * The topics of a text, in linear time. A word ends where the kind of character changes, so "api_key", "apiKey" and "APIKey" are
 * read as the same two words, and "apikey1" as "apikey" and "1".
 */
export function topicsIn(text: string): Topics {
  let topics = 0
  let before = ''
  let start = 0
  let kind = kindAt(text, 0)
  for (let i = 1; i <= text.length; i++) {
    const next = i < text.length ? kindAt(text, i) : 0
    // In "Key" the capital starts the word. In "APIKey" the word "Key" starts one character before the first small letter.
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

/** The word between two positions in lower case; empty if the lexicon has no word with its length and first letter. */
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
