import type { ReasonCode } from '@tollgate/evidence'
import type { ReadText } from '../texts.ts'
import { raised } from './finding.ts'
import { sortedLabels } from '../../text/labels.ts'
import { acts } from '../../destinations/targets.ts'
import type { CallAnswer, ThreatSettings } from './settings.ts'
import type { Severity, ThreatClass, ThreatFinding } from './finding.ts'
import { shownPath } from '../../text/walk.ts'
import { deny, escalate, type Gate, type Objection } from '../gate.ts'

/**
 * Objects to hostile text in the arguments of a call and in texts that came with it. The severity rises one level if the
 * agent relays a value that untrusted text introduced. Secrets are not attacks; the taint gate handles them.
 */
export const threat: Gate = {
  name: 'threat',
  standing: ({ gates }) => (gates.threat ? 'active' : 'not configured'),
  check({ author }, snapshot) {
    const settings = snapshot.policy.gates.threat
    if (!settings) return undefined
    const actions = author === undefined ? settings.arguments : forQuestions(settings)
    const words = [
      ...snapshot.texts().flatMap((text) => objectionsIn(text, actions, snapshot.relays(text))),
      // Text that the agent has read is only dangerous when it acts.
      ...(acts(snapshot) ? snapshot.untrusted() : []).flatMap((text) =>
        objectionsIn(text, settings.sources, false),
      ),
    ]
    const denial = words.find(({ verdict }) => verdict === 'DENY')
    const [first] = words
    if (denial || !first) return denial
    return { ...first, about: sortedLabels(words.flatMap(({ about }) => about ?? [])).join(' ') }
  },
}

const DENIALS: Readonly<Record<Exclude<ThreatClass, 'secret'>, ReasonCode>> = {
  instruction: 'PROMPT_INJECTION_DETECTED',
  spoofing: 'PROMPT_INJECTION_DETECTED',
  exfiltration: 'PROMPT_INJECTION_DETECTED',
  command: 'COMMAND_ATTACK_DETECTED',
  obfuscation: 'UNICODE_OBFUSCATION_DETECTED',
}

/** A question of a server is output of a tool. A finding that would change a result denies the question. */
function forQuestions({ arguments: given, results }: ThreatSettings): ThreatSettings['arguments'] {
  const action = (severity: Severity): CallAnswer =>
    results[severity] === 'label' ? given[severity] : 'deny'
  return { low: action('low'), medium: action('medium'), high: action('high') }
}

function objectionsIn(
  { path, findings }: ReadText,
  actions: ThreatSettings['arguments'],
  relayed: boolean,
): readonly Objection[] {
  return findings.flatMap((finding) => {
    const objection = objectionTo(finding, actions, relayed)
    const at = path === '' ? '' : ` in \`${shownPath(path)}\``
    return objection ? [{ ...objection, detail: finding.code + at, about: finding.code }] : []
  })
}

function objectionTo(
  { class: kind, severity }: ThreatFinding,
  actions: ThreatSettings['arguments'],
  relayed: boolean,
): Objection | undefined {
  if (kind === 'secret') return undefined
  switch (actions[relayed ? raised(severity) : severity]) {
    case 'label':
      return undefined
    case 'ask':
      return escalate('THREAT_APPROVAL_REQUIRED')
    case 'deny':
      return deny(DENIALS[kind])
  }
}
