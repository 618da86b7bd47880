// The schema of `gates` in policy files.

import { EFFECT_CLASSES, type JsonObject } from '@tollgate/evidence'
import {
  about,
  between,
  DURATION,
  each,
  EFFECT,
  HOSTS,
  LABEL,
  LABELS,
  mapping,
  NAME,
  NAMES,
  oneOrMore,
  PACE,
  part,
  REASON,
  record,
  RULE_ID,
  TEXT,
  TIER,
  TRUE_OR_FALSE,
  words,
} from './policy-schema-parts.ts'

const ANSWER = ['label', 'ask', 'deny'] as const
const RESULT = ['label', 'redact', 'withhold'] as const
const VALUE_RULE = ['allow', 'ask', 'deny'] as const

/** Parts that `gates` refers to. */
export const GATE_PARTS: Readonly<Record<string, JsonObject>> = {
  'call-answers': severities('What is done about findings, by their severity.', ANSWER),
  'result-answers': severities('What is done with results that hold findings, by severity.', RESULT),
  limit: {
    description: 'So much in a period: for each principal, or for whom a mapping says.',
    anyOf: [
      PACE,
      record(
        'Limits by scope',
        'For whom each limit is counted.',
        {
          principal: about('For each principal.', PACE),
          session: about('For each session.', PACE),
          tool: about('For each tool of a tenant, whoever calls it.', PACE),
          tenant: about('For all calls of a tenant together.', PACE),
        },
        { minProperties: 1 },
      ),
    ],
  },
}

function severities(description: string, answers: readonly string[]): JsonObject {
  return record('By severity', description, {
    high: about('Unmistakable.', words(answers)),
    medium: about('Likely.', words(answers)),
    low: about('A hint.', words(answers)),
  })
}

const EGRESS = record(
  'Where data may go',
  'What no list names is denied. `deny` counts first, then `allow`, then `ask`.',
  {
    allow: about('Hosts that data may go to.', HOSTS),
    ask: about('Hosts for which a person is asked.', HOSTS),
    deny: about('Hosts that data never goes to.', HOSTS),
  },
)

const BROWSER = record(
  'Browser agents',
  'Where a browser agent may be, and what its Sentinel may say of the page.',
  {
    domains: about('Pages that browser calls may be on. Without one every browser call is denied.', HOSTS),
    'max-sentinel-risk': about('The highest risk of a page, from 0 to 100.', between(0, 100, 70)),
    observation: about(
      '`sentinel`: only what the Sentinel itself has posted counts.',
      words(['any', 'sentinel'], 'any'),
    ),
    findings: {
      ...mapping(
        'Findings',
        'What is done about findings of the Sentinel before a side effect, by code; `*` for those that have no row, `escalate` if left out.',
        words(['deny', 'escalate', 'record']),
        { type: 'string', pattern: '^(?:[A-Z][A-Z0-9_]{0,63}|\\*)$' },
      ),
      examples: [{ HIDDEN_TEXT: 'deny', FOREIGN_FORM: 'escalate', '*': 'record' }],
    },
  },
)

const TAINT = record(
  'Labelled data',
  'Which data may not leave, and what values out of tool output may do.',
  {
    deny: about('Data with these labels may not leave; `[secret]` if left out.', LABELS),
    ask: about('Data with these labels leaves if a person agrees.', LABELS),
    internal: about('Hosts that are not outside.', HOSTS),
    follow: about(
      '`session`: once a session has read such data, all that it sends counts as such.',
      words(['values', 'session'], 'values'),
    ),
    provenance: record('Provenance', 'What values may do that only tool output has named.', {
      untrusted: about('Values first seen in tool output, at a sink.', words(VALUE_RULE, 'allow')),
      ordered: about(
        'In calls with a side effect: values that stand where something is asked for, and at a sink those in running text.',
        words(VALUE_RULE, 'ask'),
      ),
      flagged: about('Values seen only in text that was found hostile.', words(VALUE_RULE, 'deny')),
    }),
    results: mapping(
      'Results',
      'What is done with results that carry a label.',
      words(['redact', 'withhold']),
      LABEL,
    ),
  },
)

const THREAT = record('Hostile text', 'What is done about orders to the agent, attacks and disguised text.', {
  arguments: about('Findings in the arguments of a call.', part('call-answers')),
  results: about('Findings in what a tool returns.', part('result-answers')),
  sources: about('Findings in texts that a call brings along.', part('call-answers')),
})

const SESSION_RISK = record('Session risk', 'Calls that are harmless one by one, and together are not.', {
  ask: about('From this risk on, a person is asked about calls that add to it.', between(0.05, 1, 0.28)),
  threshold: about('From this risk on, calls are denied.', between(0.1, 1, 0.38)),
  window: about('How many turns count.', { type: 'integer', minimum: 2, maximum: 1000, default: 8 }),
  baseline: about('What every turn is granted.', between(0, 1, 0.15)),
  'half-life': about('How fast a session is forgiven.', DURATION),
  carry: about('How much of its risk a principal carries into other sessions.', between(0, 1, 0.5)),
})

const GOOD = { type: 'integer', minimum: 0, maximum: 1000 } as const
const BAD = { type: 'integer', minimum: -1000, maximum: 0 } as const

const TRUST = record(
  'Earned trust',
  'What earns trust, what loses it, and what needs it. Scores go from 0 to 1000.',
  {
    'half-life': about('How fast a score goes back to the middle, 500.', DURATION),
    deltas: record('Outcomes', 'By how much each outcome moves the score.', {
      completed: about('A call that was done.', GOOD),
      approved: about('A call that a person approved.', GOOD),
      failed: about('A call that failed.', BAD),
      unknown: about('A call of which nobody knows what came.', BAD),
      denied: about('A call that was denied.', BAD),
      refused: about('A call that a person refused.', BAD),
      hostile: about('A call that was an attack.', BAD),
    }),
    needs: record(
      'Needs',
      'The score that each class of effect needs. Said at all, it says everything.',
      each(EFFECT_CLASSES, (effect) => about(`The score that \`${effect}\` needs.`, GOOD)),
      { minProperties: 1 },
    ),
  },
)

const PRIVILEGE = record(
  'Privilege',
  'Which tier each class of effect needs, and how far a person may raise one.',
  {
    needs: record(
      'Needs',
      'The tier that each class of effect needs.',
      each(EFFECT_CLASSES, (effect) => about(`The tier that \`${effect}\` needs.`, TIER)),
    ),
    elevation: record(
      'Elevation',
      'How far a person may raise a session, and for how long.',
      { 'up-to': about('The highest tier.', TIER), for: about('How long, at most a day.', DURATION) },
      { required: ['up-to', 'for'] },
    ),
  },
)

const TEMPORAL = record('How often and when', 'How often, how much, when.', {
  rate: mapping('Rates', 'How often tools may be called, by patterns of their names.', part('limit'), NAME),
  budget: record('Budgets', 'How much is left in each period.', {
    calls: about('Calls.', part('limit')),
    cost: about('Units of `cost` of tools.', part('limit')),
  }),
  hours: mapping(
    'Hours',
    'When tools may be called, by patterns of their names.',
    { ...TEXT, examples: ['mon-fri 08:00-18:00 +01:00'] },
    NAME,
  ),
  burst: record('Bursts', 'Too many calls at once, whatever becomes of them.', {
    ask: about('From here on a person is asked.', PACE),
    deny: about('From here on calls are denied.', PACE),
  }),
})

const PLACES = oneOrMore(TEXT, { minItems: 1, maxItems: 200 })

const COMPLIANCE = record(
  'Compliance',
  'Which classes of data may be handled how and where.',
  {
    jurisdictions: {
      ...mapping('Jurisdictions', 'Hosts that lie in one place, by the name of the place.', HOSTS, NAME),
      maxProperties: 100,
    },
    rules: about('The rules. All that apply count, the strongest decides.', {
      type: 'array',
      maxItems: 200,
      items: record(
        'Compliance rule',
        'One rule; what is left out means any.',
        {
          id: about('Its name, which stands in receipts.', RULE_ID),
          labels: about('The call carries data with one of these labels.', {
            anyOf: [LABEL, { type: 'array', items: LABEL, minItems: 1, uniqueItems: true }],
          }),
          tools: about('The tools it is for.', NAMES),
          effects: about('The classes of effect it is for.', oneOrMore(EFFECT)),
          inside: about('Some destination lies in one of these jurisdictions.', PLACES),
          outside: about('Some destination lies in none of these jurisdictions.', PLACES),
          then: about('What is done; `allow` only notes that the rule applied.', words(VALUE_RULE)),
          because: about('Why, for whoever is denied.', REASON),
        },
        { required: ['id', 'then'] },
      ),
    }),
  },
  { required: ['rules'] },
)

const SCOPE = record(
  'Scopes of tasks',
  'Whether every session must be opened with a scope. One that was is held to it, whatever stands here.',
  {
    required: about('Side effects of a session without a scope are asked about.', TRUE_OR_FALSE),
  },
)

/** The schema of `gates`. */
export const GATES: JsonObject = record(
  'Gates',
  'What watches over every call, whatever the rules say. A rung that is not here has nothing to say, or its defaults.',
  {
    browser: BROWSER,
    egress: EGRESS,
    taint: TAINT,
    threat: THREAT,
    'session-risk': SESSION_RISK,
    trust: TRUST,
    privilege: PRIVILEGE,
    scope: SCOPE,
    temporal: TEMPORAL,
    compliance: COMPLIANCE,
  },
)
