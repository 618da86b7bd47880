// What the threat scanner can find, and how it says so.

import { sortedLabels } from '../../text/labels.ts'

/** The kinds of threat. */
export const THREAT_CLASSES = [
  'instruction',
  'spoofing',
  'exfiltration',
  'secret',
  'command',
  'obfuscation',
] as const

/** The kind of a threat. */
export type ThreatClass = (typeof THREAT_CLASSES)[number]

/** How sure a finding is, from a hint to unmistakable. */
export const SEVERITIES = ['low', 'medium', 'high'] as const

/** How sure a finding is. */
export type Severity = (typeof SEVERITIES)[number]

/** Something found in a text. It names a place and never repeats what stands there. */
export interface ThreatFinding {
  readonly class: ThreatClass
  /** One of `THREAT_CODES`. */
  readonly code: string
  readonly severity: Severity
  /** Where it starts, in UTF-16 units of the text as it was given. */
  readonly start: number
  /** Where it ends; this unit is no longer part of it. */
  readonly end: number
}

const CODES = {
  IGNORE_INSTRUCTIONS: ['instruction', 'Tells the reader to ignore the instructions it was given.'],
  NEW_INSTRUCTIONS: ['instruction', 'Announces new instructions in place of those that were given.'],
  ROLE_CHANGE: ['instruction', 'Tells the reader that it is now something else, or free of its rules.'],
  AI_ADDRESSED: ['instruction', 'Speaks to a language model or an assistant that reads the text.'],
  SECRECY: ['instruction', 'Asks that something be kept from the user.'],
  ORDER_BEFORE_TASK: ['instruction', 'Asks for an action before the answer, or before the task goes on.'],
  PROMPT_REQUEST: ['instruction', 'Asks for the system prompt or the hidden instructions.'],
  FALSE_AUTHORITY: ['instruction', 'Claims to speak for the system, its makers or its administrators.'],
  DEMAND_IN_TEXT: [
    'instruction',
    'Demands an action of whoever or whatever processes the text, by several signs together.',
  ],
  DECODE_AND_FOLLOW: ['instruction', 'Asks that encoded text be decoded and followed.'],
  CHAT_DELIMITER: ['spoofing', 'Holds a marker that chat templates use between messages.'],
  ROLE_TAG: ['spoofing', 'Holds a tag that frames messages, tool results or system prompts.'],
  ROLE_HEADER: ['spoofing', 'Holds a heading that opens a message of another role.'],
  ROLE_LABEL: ['spoofing', 'Has a line that starts with the name of a role.'],
  ROLE_MESSAGE: ['spoofing', 'Holds a chat message written as JSON.'],
  OUTPUT_END: ['spoofing', 'Claims that the output of a tool, or the data, ends here.'],
  SEND_DATA: ['exfiltration', 'Asks that data be sent to an address that it names.'],
  IMAGE_DATA: ['exfiltration', 'Loads an image from an address that carries data.'],
  DATA_IN_URL: ['exfiltration', 'Asks that data be put into an address.'],
  PRIVATE_KEY: ['secret', 'A private key in PEM form.'],
  AWS_KEY: ['secret', 'An access key of Amazon Web Services.'],
  GITHUB_TOKEN: ['secret', 'A token of GitHub or GitLab.'],
  SLACK_TOKEN: ['secret', 'A token of Slack.'],
  MODEL_KEY: ['secret', 'A key of a provider of language models.'],
  GOOGLE_KEY: ['secret', 'A key of Google.'],
  STRIPE_KEY: ['secret', 'A live key of Stripe.'],
  NPM_TOKEN: ['secret', 'A token of npm.'],
  JWT: ['secret', 'A JSON web token.'],
  PASSWORD_ASSIGNED: ['secret', 'A password written next to its name.'],
  KEY_ASSIGNED: ['secret', 'A long random value written next to a name such as `api_key`.'],
  PATH_TRAVERSAL: ['command', 'A path that climbs out of its folder.'],
  SENSITIVE_FILE: ['command', 'The path of a file that holds accounts, keys or credentials.'],
  SHELL_CHAIN: ['command', 'A destructive command behind another one.'],
  SHELL_SUBSTITUTION: ['command', 'A command that a shell would put in place of the text.'],
  PIPE_TO_SHELL: ['command', 'Something fetched or decoded and handed to a shell.'],
  REVERSE_SHELL: ['command', 'A shell that is connected to another machine.'],
  CLOUD_METADATA: ['command', 'The address of the metadata service of a cloud.'],
  NULL_BYTE: ['command', 'A null byte, which cuts a path or a name short.'],
  OPTION_INJECTION: ['command', 'An option that makes a harmless program run another.'],
  SQL_INJECTION: ['command', 'A quote or a semicolon that continues as SQL.'],
  LOOKUP_INJECTION: ['command', 'An expression that a logger or a template would look up.'],
  TAG_CHARACTERS: ['obfuscation', 'Invisible tag characters outside of a flag.'],
  SELECTOR_STREAM: ['obfuscation', 'Variation selectors in a row, which can carry hidden bytes.'],
  ZERO_WIDTH: ['obfuscation', 'Characters without width inside of words, or many in a row.'],
  BIDI_CONTROL: ['obfuscation', 'Characters that change the order in which text is shown.'],
  MIXED_SCRIPT: ['obfuscation', 'A word with letters of two scripts that look alike.'],
  STACKED_MARKS: ['obfuscation', 'Very many combining marks on one letter.'],
  LONE_SURROGATE: ['obfuscation', 'Half of a character.'],
  PRIVATE_USE: ['obfuscation', 'Many characters in a row that have no meaning of their own.'],
  ENCODED_PAYLOAD: ['obfuscation', 'Encoded text in which something else was found.'],
  DISGUISED_TEXT: ['obfuscation', 'Text in disguised letters in which something else was found.'],
  TERMINAL_ESCAPE: ['obfuscation', 'Control characters that steer a terminal.'],
  TOO_LONG: ['obfuscation', 'The rest of a text that is too long to be read.'],
} as const

/** What a finding can be called. */
export type ThreatCode = keyof typeof CODES

/** Every code with its class and one sentence. */
export const THREAT_CODES: Readonly<Record<string, { readonly class: ThreatClass; readonly about: string }>> =
  Object.fromEntries(
    Object.entries(CODES).map(([code, [kind, about]]) => [code, Object.freeze({ class: kind, about })]),
  )

/** The class of a code. */
export function classOf(code: ThreatCode): ThreatClass {
  return CODES[code][0]
}

const STEPS: readonly Severity[] = ['low', 'medium', 'high']

/** The next severity up. */
export function raised(severity: Severity): Severity {
  return STEPS[STEPS.indexOf(severity) + 1] ?? 'high'
}

// As many as a receipt holds.
const MOST_CODES = 32

/** The codes of findings, each once, in order. */
export function codesOf(findings: readonly ThreatFinding[]): readonly string[] {
  return sortedLabels(findings.map(({ code }) => code)).slice(0, MOST_CODES)
}
