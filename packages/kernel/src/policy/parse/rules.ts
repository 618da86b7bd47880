// Parses `rules` in a policy file. Only rules allow calls.

import { DOORS, OBSERVE_RULE, type Door, type JsonObject } from '@tollgate/evidence/core'
import { conditionEnvironment, type Condition, type ConditionVariables } from '../condition.ts'
import { glob, type Glob } from '../glob.ts'
import { checkId, readNames, readShort } from '../reader/names.ts'
import {
  about,
  DURATION,
  examples,
  keysOf,
  NAMES,
  oneOrMore,
  REASON,
  record,
  RULE_ID,
  words,
} from '../reader/schema.ts'
import type { Place, Reader } from '../reader/read.ts'

/** The action of a rule on a matching call. `require` asks a person. */
export type Action = 'allow' | 'deny' | 'require'

const ANSWERERS = ['approver', 'client'] as const
type Answerer = (typeof ANSWERERS)[number]

/** One rule. */
export interface Rule {
  readonly id: string
  readonly line: number
  readonly action: Action
  readonly tools: readonly Glob[]
  readonly principals: readonly Glob[]
  readonly sessions: readonly Glob[]
  readonly doors: readonly Door[]
  readonly when: Condition | undefined
  readonly because: string | undefined
  /** The allowed approvers; empty means any. */
  readonly approvers: readonly string[]
  /** An approver answers escalations by this rule, or the person at the client where the client can ask. */
  readonly answer: Answerer
  /** How long a request waits and an approval is valid, in milliseconds. */
  readonly expires: number
}

/** The variables of conditions. */
export const CONDITION_VARIABLES: ConditionVariables = {
  args: 'dyn',
  destinations: { list: { scheme: 'string', host: 'string', port: 'int' } },
  door: 'string',
  effect: 'string',
  environment: 'string',
  files: {
    record: {
      ...lists('reads', 'writes', 'deletes', 'secrets', 'startup', 'gate', 'unresolved'),
      cwd: 'string',
      project: 'string',
      home: 'string',
    },
  },
  labels: 'list<string>',
  principal: 'string',
  risk: 'double',
  session: 'string',
  shell: {
    record: {
      ...lists(
        'programs',
        'reads',
        'writes',
        'deletes',
        'hosts',
        'secrets',
        'installs',
        'publishes',
        'pushes',
        'kills',
      ),
      ...lists('runs_other_code', 'unknown_programs', 'unknown'),
      privileged: 'bool',
      background: 'bool',
    },
  },
  tenant: 'string',
  tier: 'string',
  time: 'timestamp',
  tool: 'string',
  trust: 'double',
  workspace: 'string',
}

/** Returns fields that are lists of texts. */
function lists(...names: readonly string[]): Readonly<Record<string, 'list<string>'>> {
  return Object.fromEntries(names.map((name) => [name, 'list<string>']))
}

/** Maximum rules of a policy. */
export const MAX_RULES = 10_000
const DAY = 86_400_000

const TOOL_NAMES = { ...NAMES, ...examples('fs/read_file', 'fs/*', ['mail/send', 'crm/*']) }

const FIELDS = record(
  'Rule',
  'One rule: exactly one of `allow`, `deny` and `require`, with the tools that it applies to.',
  {
    id: about('Its name, which appears in receipts.', { ...RULE_ID, not: { const: OBSERVE_RULE } }),
    allow: about('Allows calls of these tools. `*` matches any characters.', TOOL_NAMES),
    deny: about('Denies calls of these tools.', TOOL_NAMES),
    require: about('Escalates calls of these tools: a person must approve them.', TOOL_NAMES),
    principal: about('Only for these principals.', NAMES),
    session: about('Only for these sessions.', NAMES),
    door: about('Only through these doors.', oneOrMore(words(DOORS))),
    when: about('A condition in CEL. If it fails, the call is denied.', {
      type: 'string',
      minLength: 1,
      maxLength: 4096,
      ...examples('args.amount > 100.0', 'destinations.all(d, d.host == "example.com")', 'risk > 0.3'),
    }),
    because: about('The reason, shown to the denied caller.', REASON),
    approvers: about(
      'The allowed approvers: people, or groups of their tokens. By default any operator. `others` excludes the person behind the agent.',
      NAMES,
    ),
    answer: about(
      '`client` lets a coding agent ask the person at its own prompt, if it can ask and a person is there. This is no approval: the receipt says `ASKED_IN_CLIENT`. By default an approver answers.',
      words(ANSWERERS),
    ),
    expires: about('How long a request waits and an answer is valid: 15m by default, at most 7d.', DURATION),
  },
  {
    required: ['id'],
    not: {
      anyOf: [
        { required: ['answer', 'deny'] },
        { required: ['answer', 'approvers'], properties: { answer: { const: 'client' } } },
      ],
    },
    oneOf: [{ required: ['allow'] }, { required: ['deny'] }, { required: ['require'] }],
    dependentRequired: { approvers: ['require'], expires: ['require'] },
    ...examples({ id: 'reading', allow: 'fs/read_file' }),
  },
)
/** The schema of a rule. */
export const RULE: JsonObject = FIELDS

type RuleFields = Partial<Record<keyof typeof FIELDS.properties, Place>>

const ACTIONS: readonly Action[] = ['allow', 'deny', 'require']
const FIFTEEN_MINUTES = 900_000

/** Variables that need a configured gate, and whether it is configured. */
type Configured = Readonly<Record<string, boolean>>

// A rule that can never match would give a false sense of protection.
const DEAD: Readonly<Record<string, string>> = {
  labels:
    '`labels` is always empty without `gates.taint`, `gates.threat` or `gates.compliance`; configure one',
  trust: '`trust` never changes without `gates.trust`; configure it',
}

/** Parses `rules`. */
export function readRules(reader: Reader, place: Place, configured: Configured): readonly Rule[] {
  const items = reader.items(place, '`rules`')
  if (items.length > MAX_RULES) reader.note(place, `more than ${MAX_RULES} rules; use \`*\` in names`)
  const conditions = conditionEnvironment(CONDITION_VARIABLES)
  const seen = new Set<string>()
  return items.slice(0, MAX_RULES).flatMap((item) => {
    const fields = reader.fields(item, keysOf(FIELDS))
    if (!fields) return []
    const id = readId(reader, item, fields, seen)
    const action = readAction(reader, item, fields)
    if (action === undefined) return []
    const patterns = (...of: readonly [Place | undefined, string, string, string?]): Glob[] =>
      readNames(reader, ...of).map((name) => glob(name))
    return [
      {
        id,
        line: reader.line(item),
        action,
        tools: patterns(
          fields[action],
          `\`${action}\``,
          'the name of a tool',
          'names no tool; write `"*"` for all',
        ),
        principals: patterns(fields.principal, '`principal`', 'the name of a principal'),
        sessions: patterns(fields.session, '`session`', 'the name of a session'),
        doors: readDoors(reader, fields.door),
        when: fields.when && readCondition(reader, fields.when, conditions, configured),
        because: fields.because && readShort(reader, fields.because, '`because`', 500),
        approvers: readApprovers(reader, fields, action),
        answer: readAnswer(reader, fields, action),
        expires: readExpiry(reader, fields, action),
      },
    ]
  })
}

function readId(reader: Reader, item: Place, { id }: RuleFields, seen: Set<string>): string {
  if (!id) {
    reader.note(item, 'the rule has no `id`; add one, because receipts name the rule that decided')
    return ''
  }
  const name = reader.text(id, '`id`') ?? ''
  if (name === OBSERVE_RULE)
    reader.note(id, `\`${OBSERVE_RULE}\` is reserved for observe mode in receipts; use another \`id\``)
  checkId(reader, id, name, seen)
  return name
}

function readAction(reader: Reader, item: Place, fields: RuleFields): Action | undefined {
  const actions = ACTIONS.filter((action) => fields[action] !== undefined)
  if (actions.length === 1) return actions[0]
  reader.note(
    item,
    'a rule needs exactly one of `allow`, `deny`, `require`, with the tools that it applies to',
  )
  return undefined
}

function readDoors(reader: Reader, place: Place | undefined): readonly Door[] {
  if (!place) return []
  if (reader.isEmptyList(place)) reader.note(place, '`door` is an empty list; remove it to match any door')
  return reader.texts(place, 'a door').flatMap((each) => {
    const door = reader.word(each.place, '`door`', DOORS)
    return door === undefined ? [] : [door]
  })
}

function readCondition(
  reader: Reader,
  place: Place,
  conditions: ReturnType<typeof conditionEnvironment>,
  configured: Configured,
): Condition | undefined {
  const source = reader.text(place, '`when`')
  if (source === undefined) return undefined
  const compiled = conditions.compile(source)
  if ('test' in compiled) {
    const dead = [...compiled.uses].find((name) => configured[name] === false)
    if (dead !== undefined) reader.note(place, DEAD[dead] ?? '')
    return compiled
  }
  // One more for the opening quote. In a folded text the place is approximate.
  reader.note(place, `\`when\`: ${compiled.message}`, quoteLength(place) + compiled.offset)
  return undefined
}

function quoteLength({ node }: Place): number {
  const type = node && 'type' in node ? node.type : undefined
  return type === 'QUOTE_SINGLE' || type === 'QUOTE_DOUBLE' ? 1 : 0
}

function readApprovers(reader: Reader, { approvers }: RuleFields, action: Action): readonly string[] {
  if (approvers && action !== 'require') {
    reader.note(approvers, '`approvers` is only valid with `require`; remove it here')
  }
  return readNames(reader, approvers, '`approvers`', 'an approver')
}

function readAnswer(reader: Reader, { answer, approvers }: RuleFields, action: Action): Answerer {
  if (!answer) return 'approver'
  if (action === 'deny')
    reader.note(answer, '`answer` is not valid with `deny`, which asks no person; remove it here')
  const answerer = reader.word(answer, '`answer`', ANSWERERS) ?? 'approver'
  if (answerer === 'client' && approvers)
    reader.note(answer, 'a client cannot tell who answers its prompt; remove `approvers` or `answer: client`')
  return answerer
}

function readExpiry(reader: Reader, { expires }: RuleFields, action: Action): number {
  if (!expires) return FIFTEEN_MINUTES
  if (action !== 'require') reader.note(expires, '`expires` is only valid with `require`; remove it here')
  return reader.duration(expires, '`expires`', 7 * DAY) ?? FIFTEEN_MINUTES
}
