// The findings in tool definitions. They inform people; a finding alone blocks nothing.

/** The severities, lowest first. */
export const SEVERITIES = ['low', 'medium', 'high'] as const
export type Severity = (typeof SEVERITIES)[number]

/** All findings, by code. */
export const TOOL_FINDINGS = {
  TOOL_NAME_UNUSABLE: 'The name has invalid characters. The tool is not offered to clients.',
  TOOL_NAME_REPEATED: 'The server offers two tools with this name.',
  TOOL_NAME_SHARED: 'Another server offers a tool with the same name.',
  TOOL_NAME_CONFUSABLE: 'The name looks like that of another tool.',
  TOOL_NAME_NEAR: 'The name differs in one letter from that of another tool.',
  SERVER_ELSEWHERE: 'A different program now uses the name of an approved server.',
  OTHER_TOOL_NAMED: 'The text mentions a tool of another server.',
  HIDDEN_CHARACTERS: 'The text has characters that are invisible to people.',
  THREAT_INSTRUCTION: 'The text gives instructions to the model.',
  THREAT_SPOOFING: 'The text pretends to be a message from another sender.',
  THREAT_EXFILTRATION: 'The text asks the model to send or reveal data.',
  THREAT_SECRET: 'The text contains a password, a key or a token.',
  THREAT_COMMAND: 'The text contains an attack on programs or files.',
  THREAT_OBFUSCATION: 'The text is obfuscated.',
  TEXT_VERY_LONG: 'The text is too long for a person to review.',
  DEFINITION_TOO_LARGE: 'The definition is too large to inspect.',
  TOOLS_TOO_MANY: 'There are too many tools to compare their names.',
  SCHEMA_REFUSED: 'The input schema is not usable. The tool cannot be pinned.',
  READ_ONLY_DOUBTFUL: 'The server marks the tool as read-only, but its name or description contradicts that.',
} as const

export type FindingCode = keyof typeof TOOL_FINDINGS

/** Something to know before pinning a tool. */
export interface Finding {
  readonly code: FindingCode
  readonly severity: Severity
  /** The tool, or the server if the finding is about the server's own description. */
  readonly tool: string
  /** One line. Excerpts of the definition have all characters visible. */
  readonly message: string
}

/** Whether a finding has at least this severity. */
export function isAtLeast({ severity }: { readonly severity: Severity }, least: Severity): boolean {
  return SEVERITIES.indexOf(severity) >= SEVERITIES.indexOf(least)
}

/** Sorts findings by severity, highest first. Keeps the order within a severity. */
export function gravestFirst<F extends { readonly severity: Severity }>(
  findings: readonly F[],
): readonly F[] {
  return findings.toSorted((a, b) => SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity))
}
