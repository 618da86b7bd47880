// The closed table of verdicts and reason codes. `docs/reasons.md` is made from it.

/** The three answers on the wire. */
export const VERDICTS = ['ALLOW', 'DENY', 'ESCALATE'] as const
/** An answer to a call. */
export type Verdict = (typeof VERDICTS)[number]

/** What a code means, and what its reader can do. Every code belongs to exactly one verdict. */
export interface Reason {
  readonly verdict: Verdict
  readonly sentence: string
  readonly remedy: string
}

/** Every reason code there is. */
export type ReasonCode =
  | 'RULE_ALLOWED'
  | 'APPROVAL_GRANTED'
  | 'OBSERVE_MODE_ALLOWED'
  | 'APPROVAL_REQUIRED'
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
  | 'AMBIGUOUS_INPUT'
  | 'SYSTEM_FROZEN'
  | 'AGENT_KILLED'
  | 'TOOL_FROZEN'
  | 'SESSION_FROZEN'
  | 'QUOTA_EXCEEDED'
  | 'STORAGE_QUOTA_EXCEEDED'
  | 'DENY_TOOL_NOT_FOUND'
  | 'TOOL_DEFINITION_CHANGED'
  | 'SCHEMA_VIOLATION'
  | 'CONTEXT_MISMATCH'
  | 'IDENTITY_MISSING'
  | 'IDENTITY_ISOLATION_VIOLATION'
  | 'COGNITIVE_FIREWALL_INVALID_URL'
  | 'COGNITIVE_FIREWALL_DOMAIN_DENY'
  | 'COGNITIVE_FIREWALL_SENTINEL_DENY'
  | 'COGNITIVE_FIREWALL_PLANNER_REF_REQUIRED'
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

/** The row of each code. */
export const REASONS: Readonly<Record<ReasonCode, Reason>> = {
  RULE_ALLOWED: allow('A policy rule allows this call.', 'Nothing to do. The receipt names the rule.'),
  APPROVAL_GRANTED: allow(
    'A person approved exactly this call.',
    'Nothing to do. The approval is used up; but for a raised tier, which lasts, the same call needs a new one.',
  ),
  OBSERVE_MODE_ALLOWED: allow(
    'No rule matches this call; observe mode let it pass, on the record.',
    'Write a rule for it before observe mode ends, for example with `tollgate policy learn`.',
  ),

  APPROVAL_REQUIRED: escalate(
    'The policy asks a person before this call.',
    'Wait for the approval, then send the same call again.',
  ),
  TOOL_NOT_PINNED: escalate(
    'The tool is known, but nobody has pinned its definition yet.',
    'Have an operator review and pin the definition, then send the call again.',
  ),
  EGRESS_APPROVAL_REQUIRED: escalate(
    'The call sends data to a destination that a person must approve.',
    'Wait for the approval, or add the destination to `gates.egress.allow`.',
  ),
  TAINT_APPROVAL_REQUIRED: escalate(
    'Data from an untrusted source would flow into this call.',
    'Have a person look at the data and approve, or leave the data out.',
  ),
  THREAT_APPROVAL_REQUIRED: escalate(
    'Text in the call, or that came with it, looks like an attack.',
    'Have a person look at the text and approve, or leave it out.',
  ),
  SESSION_RISK_APPROVAL_REQUIRED: escalate(
    'The call acts on something that the user has not named, or adds to a session that has become risky.',
    'Have a person look at the call and at what the session did before, and approve; or act on what the user has named.',
  ),
  ELEVATION_REQUIRED: escalate(
    'The tier of the principal is too low for this class of effect, and a person may raise it for a time.',
    'Wait for the approval; it raises the tier in this session for as long as the policy says.',
  ),
  TASK_SCOPE_EXCEEDED: escalate(
    'The call has a side effect outside of the scope that its session was opened with.',
    'Wait for the approval, which can widen the scope, or open the session with a scope that has it.',
  ),
  TEMPORAL_INTERVENTION: escalate(
    'The calls of this principal come in a burst.',
    'Slow down; have a person look at what the agent is doing, and approve if it is wanted.',
  ),
  COMPLIANCE_APPROVAL_REQUIRED: escalate(
    'A compliance rule asks a person before this class of data is handled this way.',
    'Wait for the approval, or leave the data out.',
  ),
  COGNITIVE_FIREWALL_APPROVAL_REQUIRED: escalate(
    'The Sentinel found something on the page that a person must look at before a side effect.',
    'Wait for the approval, or give the finding its row in `gates.browser.findings`.',
  ),

  AMBIGUOUS_INPUT: deny(
    'The call could be read in more than one way.',
    'Send plain JSON: UTF-8, no duplicate keys, no numbers beyond 2^53-1, at most 64 levels.',
  ),
  SYSTEM_FROZEN: deny('The whole gateway is frozen.', 'An operator lifts it with `tollgate unfreeze all`.'),
  AGENT_KILLED: deny(
    'This principal is frozen.',
    'An operator looks at its receipts and, if it is safe, lifts the freeze with `tollgate unfreeze principal NAME`.',
  ),
  TOOL_FROZEN: deny('This tool is frozen.', 'Use another tool, or ask an operator to lift the freeze.'),
  SESSION_FROZEN: deny('This session is frozen.', 'Start over in a new session once an operator agrees.'),
  QUOTA_EXCEEDED: deny(
    'The principal was denied so often that its denials are only counted.',
    'Stop the agent, read its last receipts, and ask an operator to lift the freeze.',
  ),
  STORAGE_QUOTA_EXCEEDED: deny(
    'The principal has stored as much as it may on one day (UTC).',
    'Stop the agent and read its receipts. The next day is free; `tollgate unfreeze principal NAME` frees it now, `limits.storage` sets the limit.',
  ),
  DENY_TOOL_NOT_FOUND: deny(
    'The tool is not in the catalogue.',
    'Check the name, or add the tool under `tools` in the policy.',
  ),
  TOOL_DEFINITION_CHANGED: deny(
    'The tool no longer has the definition that was pinned.',
    'Compare the definitions; if the change is wanted, pin the new one.',
  ),
  SCHEMA_VIOLATION: deny(
    'The arguments do not fit the schema of the tool.',
    'Correct the arguments; the answer names the place.',
  ),
  CONTEXT_MISMATCH: deny(
    'The call comes from an environment, tenant or workspace the policy is not for.',
    'Send it to the gateway of its own environment, or widen `context` in the policy.',
  ),
  IDENTITY_MISSING: deny('The call has no principal.', 'Use a token that is bound to a principal.'),
  IDENTITY_ISOLATION_VIOLATION: deny(
    'The credential does not belong to the principal that the call names.',
    "Use the principal's own token.",
  ),
  COGNITIVE_FIREWALL_INVALID_URL: deny(
    'The URL of the page or of the action cannot be read safely.',
    'Send an absolute http or https URL without credentials in it.',
  ),
  COGNITIVE_FIREWALL_DOMAIN_DENY: deny(
    'The page or the action is outside the domains the browser may use.',
    'Add the domain to `gates.browser.domains` if it is wanted.',
  ),
  COGNITIVE_FIREWALL_SENTINEL_DENY: deny(
    'The Sentinel found the page too risky for a side effect, or said nothing readable about it.',
    'Look at the findings in the receipt; act on another page, or have the page scanned again.',
  ),
  COGNITIVE_FIREWALL_PLANNER_REF_REQUIRED: deny(
    'A side effect in the browser came without a planner reference.',
    'Send `planner_ref` with the plan.',
  ),
  DATA_EGRESS_BLOCKED: deny(
    'The call sends data to a destination that is not allowed.',
    'Add the host to `gates.egress.allow`; an empty list denies all.',
  ),
  TAINTED_DATA_EGRESS_DENY: deny(
    'Labelled or suspicious data would leave through this call.',
    'Leave the data out, or change its label in the policy.',
  ),
  UNTRUSTED_VALUE_DENY: deny(
    'The call would act on a value that only untrusted text has named.',
    'Check the value by another way and name it yourself; look at where the agent has read it.',
  ),
  PROMPT_INJECTION_DETECTED: deny(
    'Untrusted text in the call gives instructions to the agent.',
    'Look at where the text came from before you let the agent go on.',
  ),
  UNICODE_OBFUSCATION_DETECTED: deny(
    'The call hides text in invisible, reordered or look-alike characters.',
    'Send the text without such characters.',
  ),
  COMMAND_ATTACK_DETECTED: deny(
    'The arguments carry an attack on a command line, a path or a query.',
    'Look at where the argument came from; write plain values, without shell or path tricks.',
  ),
  DELEGATION_INVALID: deny(
    'The delegation is missing, expired, revoked or wrongly signed.',
    'Ask the delegator for a new one.',
  ),
  DELEGATION_SCOPE_VIOLATION: deny(
    'The call goes beyond what the delegation grants.',
    'Stay within the delegated tools, or ask for a wider delegation.',
  ),
  SESSION_RISK_MEMORY_DENY: deny(
    'The session as a whole has become too risky, though this call alone may be harmless.',
    'Risk falls with time. An operator can look at the session with `tollgate sessions show ID` and lift it with `tollgate sessions reset ID --because REASON`.',
  ),
  TRUST_INSUFFICIENT: deny(
    'The behaviour of the principal so far does not earn this class of effect.',
    'Use a milder tool; trust recovers with time and good outcomes. An operator can run `tollgate trust reset PRINCIPAL --because REASON`.',
  ),
  INSUFFICIENT_PRIVILEGE: deny(
    'The tier of the principal is too low for this class of effect.',
    'Raise the tier under `principals` in the policy, or use a milder tool.',
  ),
  NO_POLICY_DEFINED: deny(
    'No policy is active, so nothing is allowed.',
    'Write a policy, or begin with `tollgate policy draft`, and activate it with `tollgate policy activate`.',
  ),
  NO_RULE_MATCHED: deny(
    'No rule of the policy mentions this call.',
    'Add a rule, or begin with `tollgate policy draft`; `tollgate policy explain` shows why the others did not match.',
  ),
  POLICY_VIOLATION: deny(
    'A policy rule forbids this call.',
    'The receipt names the rule; its `because` says why.',
  ),
  POLICY_EVALUATION_ERROR: deny(
    'The condition of a rule failed while it was evaluated.',
    'Correct the rule that the receipt names; numbers in arguments are doubles (`1.0`).',
  ),
  OUTSIDE_HOURS: deny(
    'The policy does not permit this call at this time of the day or week.',
    'Try again when the hours open; the answer says when.',
  ),
  RATE_EXCEEDED: deny('The calls come faster than a rate permits.', 'Try again later; the answer says when.'),
  BUDGET_EXCEEDED: deny('The budget for this is used up.', 'Wait for the next period, or raise the budget.'),
  COMPLIANCE_VIOLATION: deny(
    'The class of the data may not be handled this way or in this place.',
    'Use a tool in the right jurisdiction, or leave the data out.',
  ),
  APPROVAL_TIMEOUT: deny('Nobody answered in time.', 'Send the call again to ask once more.'),
  APPROVAL_REFUSED: deny('A person refused this call.', 'Ask the approver that the receipt names.'),
  APPROVAL_INVALID: deny(
    'The approval is for another call, is used up, or comes from the requester.',
    'Send exactly the call that was approved, once, before the approval expires.',
  ),
  APPROVAL_TOO_LARGE: deny(
    'A person must approve this call, and its arguments are too long to be shown to one.',
    'Send arguments of at most 64 KiB; put what is longer where a tool can read it.',
  ),
  GATE_FAILED: deny(
    'A gate failed, and a gate that fails denies.',
    'Look at the log of the gateway; the receipt names the rung.',
  ),
  STATE_MISMATCH: deny(
    'The state of the session is missing or is not what its receipts say.',
    'Run `tollgate fsck`; start a new session.',
  ),
  LEDGER_UNAVAILABLE: deny(
    'The ledger cannot record, so nothing may pass.',
    'Run `tollgate doctor`; free or repair the storage and restart.',
  ),
}

/** The table's row for a code, or undefined if there is no such code. */
export function reasonOf(code: string): Reason | undefined {
  // Sound: the key was just seen to be there.
  return Object.hasOwn(REASONS, code) ? REASONS[code as ReasonCode] : undefined
}

function allow(sentence: string, remedy: string): Reason {
  return { verdict: 'ALLOW', sentence, remedy }
}

function deny(sentence: string, remedy: string): Reason {
  return { verdict: 'DENY', sentence, remedy }
}

function escalate(sentence: string, remedy: string): Reason {
  return { verdict: 'ESCALATE', sentence, remedy }
}
