import { crossPage } from './cross-page.ts'
import { leaves, type Flow } from './flow.ts'
import { acts } from '../../destinations/targets.ts'
import { isHard } from './seen-values.ts'
import type { TaintSettings, ValueRule } from './settings.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import { shownPath } from '../../text/walk.ts'
import { deny, escalate, type Gate } from '../gate.ts'

/** Objects to labelled data that would leave, to text of one page for another, and to values that untrusted text introduced. */
export const taint: Gate = {
  name: 'taint',
  standing: ({ gates }) => (gates.taint ? 'active' : 'not configured'),
  check(intent, snapshot) {
    const settings = snapshot.policy.gates.taint
    if (!settings) return undefined
    const held = intent.author === undefined ? undefined : heldBack(snapshot, settings)
    if (held !== undefined) return deny('TAINTED_DATA_EGRESS_DENY', `the label \`${held}\``)
    const flow = snapshot.flow()
    const leaving = leaves(snapshot)
    const forbidden = leaving ? flow.labels.find((label) => settings.deny.includes(label)) : undefined
    if (forbidden !== undefined) return deny('TAINTED_DATA_EGRESS_DENY', `the label \`${forbidden}\``)
    const value = acts(snapshot) ? ruleFor(flow, settings, snapshot) : NOTHING
    if (value.rule === 'deny') return deny('UNTRUSTED_VALUE_DENY', value.what)
    const other = settings.pages === 'allow' ? undefined : crossPage(intent, snapshot)
    const crossing = other === undefined ? '' : `text of another page goes to \`${other}\``
    if (crossing !== '' && settings.pages === 'deny') return deny('TAINTED_DATA_EGRESS_DENY', crossing)
    const asked = leaving ? flow.labels.filter((label) => settings.ask.includes(label)) : []
    const pages = crossing === '' ? [] : [`page:${other}`]
    const about = [...asked, ...(value.rule === 'ask' ? [value.about] : []), ...pages].join(' ')
    if (about === '') return undefined
    const detail = asked.length > 0 ? `the label \`${asked[0]}\`` : value.what || crossing
    return escalate('TAINT_APPROVAL_REQUIRED', detail, about)
  },
}

/** The label in a server's question for which the policy redacts or withholds results. Such a question is denied. */
function heldBack(snapshot: Snapshot, { results }: TaintSettings): string | undefined {
  if (results.size === 0) return undefined
  const labels = snapshot
    .texts()
    .flatMap(({ marks, findings }) => [
      ...marks.map(({ label }) => label),
      ...(findings.some(isHard) ? ['flagged'] : []),
    ])
  return labels.find((label) => results.has(label))
}

/** The rule for the values of a call, based on their origins. */
interface ValueRuling {
  readonly rule: ValueRule
  readonly about: string
  readonly what: string
}

const NOTHING: ValueRuling = { rule: 'allow', about: '', what: '' }

/** The strictest rule for the values of a call. Among equal rules, the first in the list. */
function ruleFor(
  { from, spelled }: Flow,
  { provenance }: TaintSettings,
  { sideEffect }: Snapshot,
): ValueRuling {
  const { untrusted, ordered, flagged } = provenance
  const rulings = [
    ruling(flagged, 'flagged', from.flagged),
    // Following a link in a text is an ordinary read.
    ruling(sideEffect ? ordered : 'allow', 'ordered', from.ordered),
    ruling(untrusted, 'output', from.output),
    // Equal words are no proof, so they escalate at most.
    ruling(flagged === 'allow' ? 'allow' : 'ask', 'spelled', spelled),
  ]
  return rulings.find(({ rule }) => rule === 'deny') ?? rulings.find(({ rule }) => rule === 'ask') ?? NOTHING
}

function ruling(rule: ValueRule, about: string, path: string | undefined): ValueRuling {
  if (path === undefined) return NOTHING
  return {
    rule,
    about,
    what: path === '' && about === 'spelled' ? 'the tool' : `the argument \`${shownPath(path)}\``,
  }
}
