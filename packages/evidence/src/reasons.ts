// The closed table of verdicts and reason codes. `npm run docs` generates `docs/reasons.md` from it.

/** The three verdicts, as they are written on the wire. */
export const VERDICTS = ['ALLOW', 'DENY', 'ESCALATE'] as const
/** The verdict on a call. */
export type Verdict = (typeof VERDICTS)[number]

/** The meaning of a code and its remedy. Every code belongs to exactly one verdict. */
export interface Reason {
  readonly verdict: Verdict
  readonly sentence: string
  /** What to do. Agents read it, so it contains no command. */
  readonly remedy: string
  /** Commands for an operator. Only people read them: an agent could run them. */
  readonly operator?: string
}

/** A reason code. */
export type ReasonCode =
  | 'RULE_ALLOWED'
  | 'APPROVAL_GRANTED'
  | 'ASKED_IN_CLIENT'
  | 'OBSERVE_MODE_ALLOWED'
  | 'APPROVAL_REQUIRED'
  | 'CALL_NOT_UNDERSTOOD'
  | 'TOOL_NOT_PINNED'
  | 'EGRESS_APPROVAL_REQUIRED'
  | 'TAINT_APPROVAL_REQUIRED'
  | 'THREAT_APPROVAL_REQUIRED'
  | 'SESSION_RISK_APPROVAL_REQUIRED'
  | 'ELEVATION_REQUIRED'
  | 'TASK_SCOPE_EXCEEDED'
  | 'TEMPORAL_INTERVENTION'
  | 'COMPLIANCE_APPROVAL_REQUIRED'
  | 'COGNITIVE_FIREWALL_APPROVAL_REQUIRED'
  | 'COGNITIVE_FIREWALL_TARGET_UNRESOLVED'
  | 'AMBIGUOUS_INPUT'
  | 'SYSTEM_FROZEN'
  | 'AGENT_KILLED'
  | 'TOOL_FROZEN'
  | 'SESSION_FROZEN'
  | 'QUOTA_EXCEEDED'
  | 'STORAGE_QUOTA_EXCEEDED'
  | 'DENY_TOOL_NOT_FOUND'
  | 'TOOL_NOT_DECLARED'
  | 'TOOL_DEFINITION_CHANGED'
  | 'SCHEMA_VIOLATION'
  | 'CONTEXT_MISMATCH'
  | 'IDENTITY_MISSING'
  | 'IDENTITY_ISOLATION_VIOLATION'
  | 'COGNITIVE_FIREWALL_INVALID_URL'
  | 'COGNITIVE_FIREWALL_DOMAIN_DENY'
  | 'COGNITIVE_FIREWALL_SENTINEL_DENY'
  | 'COGNITIVE_FIREWALL_PLANNER_REF_REQUIRED'
  | 'COGNITIVE_FIREWALL_TARGET_DENY'
  | 'DATA_EGRESS_BLOCKED'
  | 'TAINTED_DATA_EGRESS_DENY'
  | 'UNTRUSTED_VALUE_DENY'
  | 'PROMPT_INJECTION_DETECTED'
  | 'UNICODE_OBFUSCATION_DETECTED'
  | 'COMMAND_ATTACK_DETECTED'
  | 'DELEGATION_INVALID'
  | 'DELEGATION_SCOPE_VIOLATION'
  | 'SESSION_RISK_MEMORY_DENY'
  | 'TRUST_INSUFFICIENT'
  | 'INSUFFICIENT_PRIVILEGE'
  | 'NO_POLICY_DEFINED'
  | 'NO_RULE_MATCHED'
  | 'POLICY_VIOLATION'
  | 'POLICY_EVALUATION_ERROR'
  | 'OUTSIDE_HOURS'
  | 'RATE_EXCEEDED'
  | 'BUDGET_EXCEEDED'
  | 'COMPLIANCE_VIOLATION'
  | 'APPROVAL_TIMEOUT'
  | 'APPROVAL_REFUSED'
  | 'APPROVAL_INVALID'
  | 'APPROVAL_TOO_LARGE'
  | 'GATE_FAILED'
  | 'STATE_MISMATCH'
  | 'LEDGER_UNAVAILABLE'

/** The meaning of each code. */
export const REASONS: Readonly<Record<ReasonCode, Reason>> = {
  RULE_ALLOWED: allow('A policy rule allows this call.', 'Nothing to do. The receipt names the rule.'),
  APPROVAL_GRANTED: allow(
    'A person approved exactly this call.',
    'Nothing to do. The same call needs a new approval. If this approval raised the tier, the session keeps the tier for some time.',
  ),
  ASKED_IN_CLIENT: allow(
    'The policy leaves the answer to the person at the client, which asks with its own prompt. No approval is recorded.',
    'Answer the prompt of the client. Only the effect of the call shows that it ran.',
  ),
  OBSERVE_MODE_ALLOWED: allow(
    'No rule matches this call. Observe mode allowed and recorded it.',
    'Add a rule before observe mode ends.',
    '`tollgate policy learn` proposes one.',
  ),

  APPROVAL_REQUIRED: escalate(
    'The policy requires a person to approve this call.',
    'Wait for the approval, then send the same call again.',
  ),
  CALL_NOT_UNDERSTOOD: escalate(
    'A part of the command or a path of the call cannot be known ahead, and the rule that matches does not name this.',
    'Write the command plainly, without values that only the shell knows, or wait for the approval.',
  ),
  TOOL_NOT_PINNED: escalate(
    'The definition of this tool is not pinned yet.',
    'Ask an operator to review and pin it, then send the call again.',
    '`tollgate mcp approve NAME` pins it.',
  ),
  EGRESS_APPROVAL_REQUIRED: escalate(
    'The call sends data to a destination that needs approval.',
    'Wait for the approval, or add the destination to `gates.egress.allow`.',
  ),
  TAINT_APPROVAL_REQUIRED: escalate(
    'Data from an untrusted source would flow into this call.',
    'Ask a person to check the data and approve, or leave the data out.',
  ),
  THREAT_APPROVAL_REQUIRED: escalate(
    'Text in the call or in its sources looks like an attack.',
    'Ask a person to check the text and approve, or leave the text out.',
  ),
  SESSION_RISK_APPROVAL_REQUIRED: escalate(
    'The call acts on a target that the user never mentioned, or its session has become risky.',
    'Ask a person to review the session and approve, or act only on targets that the user mentioned.',
  ),
  ELEVATION_REQUIRED: escalate(
    'The tier of the principal is too low for this effect class. A person can raise it for a time.',
    'Wait for the approval. It raises the tier in this session for the time that the policy sets.',
  ),
  TASK_SCOPE_EXCEEDED: escalate(
    'The call has a side effect outside the scope of its session.',
    'Wait for the approval, which can widen the scope, or open the session with a wider scope.',
  ),
  TEMPORAL_INTERVENTION: escalate(
    'This principal sends calls in a burst.',
    'Slow down. Ask a person to review what the agent does, and to approve the call if it is wanted.',
  ),
  COMPLIANCE_APPROVAL_REQUIRED: escalate(
    'A compliance rule requires approval before this class of data is handled this way.',
    'Wait for the approval, or leave the data out.',
  ),
  COGNITIVE_FIREWALL_APPROVAL_REQUIRED: escalate(
    'The Sentinel found something on the page that a person must check before a side effect.',
    'Wait for the approval, or ask an operator to change the answer to this finding under `gates.browser.findings`.',
  ),
  COGNITIVE_FIREWALL_TARGET_UNRESOLVED: escalate(
    'The call names an element of a page, but no snapshot that the agent saw contains this element.',
    'Take a snapshot of the page and use its reference, or wait for the approval.',
  ),

  AMBIGUOUS_INPUT: deny(
    'The call is malformed, or can be read in more than one way.',
    'Send plain JSON: UTF-8, no duplicate keys, no numbers beyond 2^53-1, at most 64 levels.',
  ),
  SYSTEM_FROZEN: deny(
    'All calls are frozen.',
    'Wait, or ask an operator to lift the freeze.',
    '`tollgate unfreeze all` lifts it.',
  ),
  AGENT_KILLED: deny(
    'This principal is frozen.',
    'Stop the agent. Ask an operator to check its receipts and, if it is safe, to lift the freeze.',
    '`tollgate unfreeze principal NAME` lifts it.',
  ),
  TOOL_FROZEN: deny('This tool is frozen.', 'Use another tool, or ask an operator to lift the freeze.'),
  SESSION_FROZEN: deny('This session is frozen.', 'Ask an operator to lift the freeze.'),
  QUOTA_EXCEEDED: deny(
    'This principal was denied too often. The gateway now counts its denials and writes no receipts for them.',
    'Stop the agent, and ask an operator to read its last receipts and to lift the freeze.',
    '`tollgate unfreeze principal NAME` lifts it.',
  ),
  STORAGE_QUOTA_EXCEEDED: deny(
    'The principal has used up its storage for today (UTC).',
    'Stop the agent, and ask an operator to read its receipts. The limit resets at midnight UTC.',
    '`tollgate unfreeze principal NAME` sets the count of today back to zero; `limits.storage` sets the limit.',
  ),
  DENY_TOOL_NOT_FOUND: deny(
    'The tool is not in the catalogue.',
    'Check the name, or add the tool under `tools` in the policy.',
  ),
  TOOL_NOT_DECLARED: deny(
    'The policy does not declare this tool, so its effect class is unknown.',
    'Declare the tool with its effect class under `tools` in the policy, and add a rule for it.',
    '`tollgate policy draft` proposes both.',
  ),
  TOOL_DEFINITION_CHANGED: deny(
    'The definition of the tool differs from its pin.',
    'Ask an operator to compare the definitions and, if the change is wanted, to pin the new one.',
    '`tollgate mcp show NAME` shows the definitions; `tollgate mcp approve NAME` pins the new one.',
  ),
  SCHEMA_VIOLATION: deny(
    'The arguments do not match the schema of the tool.',
    'Correct the arguments. The detail names the place.',
  ),
  CONTEXT_MISMATCH: deny(
    'The policy does not cover the environment, tenant or workspace of this call.',
    'Send the call to the gateway of its environment, or widen `context` in the policy.',
  ),
  IDENTITY_MISSING: deny('The call has no principal.', 'Use a token that is bound to a principal.'),
  IDENTITY_ISOLATION_VIOLATION: deny(
    'The token does not belong to the principal that the call names.',
    'Use the token of that principal.',
  ),
  COGNITIVE_FIREWALL_INVALID_URL: deny(
    'The URL of the page or of the action is invalid.',
    'Send an absolute http or https URL without credentials.',
  ),
  COGNITIVE_FIREWALL_DOMAIN_DENY: deny(
    'The page or the action is outside the domains that the browser may use.',
    'Use an allowed domain, or add this one to `gates.browser.domains`.',
  ),
  COGNITIVE_FIREWALL_SENTINEL_DENY: deny(
    'The Sentinel rates the page as too risky for a side effect, or its report is missing or unreadable.',
    'Read the findings in the receipt. Use another page, or have this page scanned again.',
  ),
  COGNITIVE_FIREWALL_PLANNER_REF_REQUIRED: deny(
    'A side effect in the browser needs a planner reference: the digest of the plan behind it.',
    'Send the call again with the digest of its plan as `planner_ref`.',
  ),
  COGNITIVE_FIREWALL_TARGET_DENY: deny(
    'The element of the call is covered, has moved, or is not the one that the agent saw.',
    'Take a new snapshot of the page, and look at it before you act.',
  ),
  DATA_EGRESS_BLOCKED: deny(
    'The call sends data to a destination that the policy does not allow.',
    'Use an allowed destination, or add the hostname to `gates.egress.allow`. An empty list denies all.',
  ),
  TAINTED_DATA_EGRESS_DENY: deny(
    'The call would send labelled or suspicious data out.',
    'Leave the data out, or change the rule for its label under `gates.taint`.',
  ),
  UNTRUSTED_VALUE_DENY: deny(
    'The call would act on a value that only untrusted text contains.',
    'Check the value in another source. If it is right, give it to the agent in the first message of a new session. Find out where the agent read it.',
  ),
  PROMPT_INJECTION_DETECTED: deny(
    'Untrusted text in the call gives instructions to the agent.',
    'Find the source of the text before you let the agent continue.',
  ),
  UNICODE_OBFUSCATION_DETECTED: deny(
    'The call hides text in invisible, reordered or look-alike characters.',
    'Send the text without these characters.',
  ),
  COMMAND_ATTACK_DETECTED: deny(
    'The arguments contain an attack on a command line, a path or a query.',
    'Find the source of the argument. Send plain values, without shell syntax or path tricks.',
  ),
  DELEGATION_INVALID: deny(
    'The delegation is missing, expired, revoked or wrongly signed.',
    'Ask the delegator for a new delegation.',
  ),
  DELEGATION_SCOPE_VIOLATION: deny(
    'The call exceeds its delegation.',
    'Use only the delegated tools, or ask the delegator for a wider delegation.',
  ),
  SESSION_RISK_MEMORY_DENY: deny(
    'The session as a whole has become too risky. This call alone may be harmless.',
    'Wait: risk falls with time. Ask an operator to inspect the session.',
    '`tollgate sessions show ID` shows it; `tollgate sessions reset ID --because REASON` clears its risk.',
  ),
  TRUST_INSUFFICIENT: deny(
    'The trust of the principal, a number for its past behaviour, is too low for this effect class.',
    'Use a tool with a milder effect, or ask an operator. Trust recovers with time and good outcomes.',
    '`tollgate trust reset PRINCIPAL --because REASON` resets it.',
  ),
  INSUFFICIENT_PRIVILEGE: deny(
    'The tier of the principal is too low for this effect class.',
    'Use a tool with a milder effect, or raise the tier under `principals` in the policy.',
  ),
  NO_POLICY_DEFINED: deny(
    'No policy is in force, so every call is denied.',
    'Ask an operator to put a policy in force.',
    '`tollgate policy draft` writes a first one; `tollgate policy activate` puts it in force.',
  ),
  NO_RULE_MATCHED: deny(
    'No rule of the policy matches this call.',
    'Ask an operator to add a rule for it.',
    '`tollgate policy draft` writes a first one; `tollgate policy explain` shows why no rule matched.',
  ),
  POLICY_VIOLATION: deny(
    'A policy rule denies this call.',
    'Do not repeat the call. The receipt names the rule. The rule gives its reason in its member `because`.',
  ),
  POLICY_EVALUATION_ERROR: deny(
    'The condition of a policy rule failed with an error.',
    'Correct the rule that the receipt names. In conditions, numbers from arguments are doubles: compare them with `1.0`, not with `1`.',
  ),
  OUTSIDE_HOURS: deny(
    'The policy does not allow this call at this time of the day or week.',
    'Try again later. The detail says when.',
  ),
  RATE_EXCEEDED: deny('The rate limit is reached.', 'Try again later. The detail says when.'),
  BUDGET_EXCEEDED: deny('The budget is used up.', 'Wait for the next period, or raise the budget.'),
  COMPLIANCE_VIOLATION: deny(
    'A compliance rule forbids handling this class of data in this way or in this place.',
    'Use a tool in an allowed jurisdiction, or leave the data out.',
  ),
  APPROVAL_TIMEOUT: deny('The request for approval had no answer.', 'Send the call again to ask again.'),
  APPROVAL_REFUSED: deny('A person denied this call.', 'Do not repeat it. Ask the approver in the receipt.'),
  APPROVAL_INVALID: deny(
    'The approval is for another call, has expired, was already used, or was given by the requester.',
    'Send exactly the approved call, once, before the approval expires.',
  ),
  APPROVAL_TOO_LARGE: deny(
    'This call needs approval, but its arguments are too long to show to a person.',
    'Send arguments of at most 64 KiB. Store longer content where a tool can read it.',
  ),
  GATE_FAILED: deny(
    'A gate failed with an error, and a failed gate denies.',
    'Read the log of the gateway. `rung` of the receipt names the gate.',
  ),
  STATE_MISMATCH: deny(
    'The state of the session is missing or does not match its receipts.',
    'Start a new session, and ask an operator to check the ledger.',
    '`tollgate fsck` checks it.',
  ),
  LEDGER_UNAVAILABLE: deny(
    'The ledger cannot record, so every call is denied.',
    'Ask an operator to free or repair the storage and to restart the gateway.',
    '`tollgate doctor` finds the fault.',
  ),
}

/** The meaning of a code, or undefined for an unknown code. */
export function reasonOf(code: string): Reason | undefined {
  // Sound: `hasOwn` has found the key.
  return Object.hasOwn(REASONS, code) ? REASONS[code as ReasonCode] : undefined
}

/** The remedy with the commands of an operator, for people. Never show it to an agent. */
export function adviceOf({ remedy, operator }: Reason): string {
  return operator === undefined ? remedy : `${remedy} ${operator}`
}

function allow(...texts: Texts): Reason {
  return row('ALLOW', texts)
}

function deny(...texts: Texts): Reason {
  return row('DENY', texts)
}

function escalate(...texts: Texts): Reason {
  return row('ESCALATE', texts)
}

type Texts = readonly [sentence: string, remedy: string, operator?: string]

function row(verdict: Verdict, [sentence, remedy, operator]: Texts): Reason {
  return { verdict, sentence, remedy, ...(operator !== undefined && { operator }) }
}
