// What can be found in the definitions of tools. A finding is for people: it refuses nothing by itself.

/** How much a finding matters, the least first. */
export const SEVERITIES = ['low', 'medium', 'high'] as const
/** How much a finding matters. */
export type Severity = (typeof SEVERITIES)[number]

/** What is found, by code. */
export const TOOL_FINDINGS = {
  TOOL_NAME_UNUSABLE: 'The name has characters that no tool may have; the tool is not offered to anybody.',
  TOOL_NAME_REPEATED: 'The server offers two tools of this name.',
  TOOL_NAME_SHARED: 'Another server offers a tool of the same name.',
  TOOL_NAME_CONFUSABLE: 'The name looks like that of another tool.',
  TOOL_NAME_NEAR: 'The name differs in one letter from that of another tool.',
  SERVER_ELSEWHERE: 'Another program now goes by the name of a server that was approved.',
  OTHER_TOOL_NAMED: 'The text speaks of a tool of another server.',
  HIDDEN_CHARACTERS: 'The text has characters that a person does not see.',
  THREAT_INSTRUCTION: 'The text gives orders to the model that reads it.',
  THREAT_SPOOFING: 'The text pretends to be a message of somebody else.',
  THREAT_EXFILTRATION: 'The text asks that data be sent or shown somewhere.',
  THREAT_SECRET: 'The text holds a password, a key or a token.',
  THREAT_COMMAND: 'The text holds what attacks programs and files.',
  THREAT_OBFUSCATION: 'The text hides what it says.',
  TEXT_VERY_LONG: 'The text is longer than anybody reads.',
  DEFINITION_TOO_LARGE: 'The definition is too large to be looked through.',
  TOOLS_TOO_MANY: 'There are too many tools for their names to be compared.',
  SCHEMA_REFUSED: 'The schema of the arguments cannot be used; the tool cannot be pinned.',
  READ_ONLY_DOUBTFUL: 'The server says that the tool only reads, and its words say otherwise.',
} as const

/** The code of a finding. */
export type FindingCode = keyof typeof TOOL_FINDINGS

/** Something that a person should know before pinning a tool. */
export interface Finding {
  readonly code: FindingCode
  readonly severity: Severity
  /** The tool, or the server if it is about what the server says of itself. */
  readonly tool: string
  /** One line in which nothing is hidden, whatever of the definition it repeats. */
  readonly message: string
}

/** Whether a finding matters at least so much. */
export function isAtLeast({ severity }: { readonly severity: Severity }, least: Severity): boolean {
  return SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(least)
}

/** The gravest first; what matters as much stays in its order. */
export function gravestFirst<F extends { readonly severity: Severity }>(
  findings: readonly F[],
): readonly F[] {
  return findings.toSorted((a, b) => SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity))
}
