// The classes, codes and severities of findings of the threat scanner.

import { sortedLabels } from '../../text/labels.ts'

/** The classes of threats. */
export const THREAT_CLASSES = [
  'instruction',
  'spoofing',
  'exfiltration',
  'secret',
  'command',
  'obfuscation',
] as const

/** The class of a threat. */
export type ThreatClass = (typeof THREAT_CLASSES)[number]

/** The severities, in rising order. A severity says how certain a finding is. */
export const SEVERITIES = ['low', 'medium', 'high'] as const

/** The severity of a finding. */
export type Severity = (typeof SEVERITIES)[number]

/** A finding in a text. It gives a position and never repeats the text at that position. */
export interface ThreatFinding {
  readonly class: ThreatClass
  readonly code: string
  readonly severity: Severity
  /** The first UTF-16 unit of the finding in the original text. */
  readonly start: number
  /** The first UTF-16 unit after the finding. */
  readonly end: number
}

const CODES = {
  IGNORE_INSTRUCTIONS: ['instruction', 'Tells the reader to ignore its instructions.'],
  NEW_INSTRUCTIONS: ['instruction', 'Announces new instructions that replace the given ones.'],
  ROLE_CHANGE: ['instruction', 'Tells the reader that it has a new role or no rules.'],
  AI_ADDRESSED: ['instruction', 'Addresses a language model or an assistant.'],
  SECRECY: ['instruction', 'Asks to hide something from the user.'],
  ORDER_BEFORE_TASK: ['instruction', 'Asks for an action before the answer or before the task continues.'],
  PROMPT_REQUEST: ['instruction', 'Asks for the system prompt or the hidden instructions.'],
  FALSE_AUTHORITY: ['instruction', 'Claims to speak for the system, its makers or its administrators.'],
  DEMAND_IN_TEXT: ['instruction', 'Several cues together demand an action from the reader of the text.'],
  DECODE_AND_FOLLOW: ['instruction', 'Asks to decode text and to follow it.'],
  CHAT_DELIMITER: ['spoofing', 'Contains a marker that chat templates use between messages.'],
  ROLE_TAG: ['spoofing', 'Contains a tag that encloses messages, tool results or system prompts.'],
  ROLE_HEADER: ['spoofing', 'Contains a heading that starts a message of another role.'],
  ROLE_LABEL: ['spoofing', 'Contains a line that starts with the name of a role.'],
  ROLE_MESSAGE: ['spoofing', 'Contains a chat message in JSON.'],
  OUTPUT_END: ['spoofing', 'Claims that the output of a tool or the data ends here.'],
  SEND_DATA: ['exfiltration', 'Asks to send data to an address in the text.'],
  IMAGE_DATA: ['exfiltration', 'Loads an image from an address that contains data.'],
  DATA_IN_URL: ['exfiltration', 'Asks to put data into an address.'],
  PRIVATE_KEY: ['secret', 'A private key in PEM form.'],
  AWS_KEY: ['secret', 'An access key of Amazon Web Services.'],
  GITHUB_TOKEN: ['secret', 'A token of GitHub or GitLab.'],
  SLACK_TOKEN: ['secret', 'A token of Slack.'],
  MODEL_KEY: ['secret', 'A key of a provider of language models.'],
  GOOGLE_KEY: ['secret', 'A key of Google.'],
  STRIPE_KEY: ['secret', 'A live key of Stripe.'],
  NPM_TOKEN: ['secret', 'A token of npm.'],
  JWT: ['secret', 'A JSON web token.'],
  PASSWORD_ASSIGNED: ['secret', 'A password next to its name.'],
  KEY_ASSIGNED: ['secret', 'A long random value next to a name such as `api_key`.'],
  PATH_TRAVERSAL: ['command', 'A path that leaves its folder.'],
  SENSITIVE_FILE: ['command', 'The path of a file with accounts, keys or credentials.'],
  SHELL_CHAIN: ['command', 'A destructive command after another command.'],
  SHELL_SUBSTITUTION: ['command', 'A command that a shell would run and replace by its output.'],
  PIPE_TO_SHELL: ['command', 'Downloaded or decoded content that is piped to a shell.'],
  REVERSE_SHELL: ['command', 'A shell that connects to another machine.'],
  CLOUD_METADATA: ['command', 'The address of a cloud metadata service.'],
  NULL_BYTE: ['command', 'A null byte, which truncates a path or a name.'],
  OPTION_INJECTION: ['command', 'An option that makes a harmless program run another program.'],
  SQL_INJECTION: ['command', 'A quote or a semicolon that continues as SQL.'],
  LOOKUP_INJECTION: ['command', 'An expression that a logger or a template would evaluate.'],
  TAG_CHARACTERS: ['obfuscation', 'Invisible tag characters outside of a flag emoji.'],
  SELECTOR_STREAM: ['obfuscation', 'Consecutive variation selectors, which can encode hidden bytes.'],
  ZERO_WIDTH: ['obfuscation', 'Characters without width inside words, or many in a row.'],
  BIDI_CONTROL: ['obfuscation', 'Characters that change the display order of text.'],
  MIXED_SCRIPT: ['obfuscation', 'A word with letters of two scripts that look alike.'],
  STACKED_MARKS: ['obfuscation', 'Many combining marks on one letter.'],
  LONE_SURROGATE: ['obfuscation', 'Half of a surrogate pair.'],
  PRIVATE_USE: ['obfuscation', 'Many private use characters in a row.'],
  ENCODED_PAYLOAD: ['obfuscation', 'Encoded text that contains another finding.'],
  DISGUISED_TEXT: ['obfuscation', 'Text in disguised letters that contains another finding.'],
  TERMINAL_ESCAPE: ['obfuscation', 'Control characters that control a terminal.'],
  TOO_LONG: ['obfuscation', 'The unscanned rest of a text that is too long.'],
} as const

/** The code of a finding. */
export type ThreatCode = keyof typeof CODES

/** Every code with its class and a one-sentence description. */
export const THREAT_CODES: Readonly<Record<string, { readonly class: ThreatClass; readonly about: string }>> =
  Object.fromEntries(
    Object.entries(CODES).map(([code, [kind, about]]) => [code, Object.freeze({ class: kind, about })]),
  )

/** Returns the class of a code. */
export function classOf(code: ThreatCode): ThreatClass {
  return CODES[code][0]
}

/** Returns the next higher severity; `high` stays `high`. */
export function raised(severity: Severity): Severity {
  return SEVERITIES[SEVERITIES.indexOf(severity) + 1] ?? 'high'
}

// A receipt holds at most this many codes.
const MAX_CODES = 32

/** Returns the codes of findings, sorted and without duplicates. */
export function codesOf(findings: readonly ThreatFinding[]): readonly string[] {
  return sortedLabels(findings.map(({ code }) => code)).slice(0, MAX_CODES)
}
