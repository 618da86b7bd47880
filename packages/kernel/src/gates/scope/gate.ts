import { isActing } from './sinks.ts'
import { excessOf } from './holds.ts'
import { shownPath } from '../../text/walk.ts'
import { always, escalate, type Gate } from '../gate.ts'

/** Escalates side effects outside the scope that the session was opened with. It compares values and does not interpret text. */
export const scope: Gate = {
  name: 'scope',
  // A session with a scope is always checked against it, whatever the policy says.
  standing: always,
  check(intent, snapshot) {
    const { scope: held } = snapshot.session
    if (!held) {
      const required = snapshot.policy.gates.scope?.required === true
      return required && isActing(snapshot)
        ? escalate('TASK_SCOPE_EXCEEDED', 'the session has no scope', 'none')
        : undefined
    }
    const excess = excessOf(held, intent, snapshot)
    if (!excess) return undefined
    const { parts, at } = excess
    const where = at === undefined || at === '' ? '' : ` of \`${shownPath(at)}\``
    const detail = parts.map((part) => (part === 'sink' ? `the value${where}` : PART_TEXT[part])).join(', ')
    return escalate('TASK_SCOPE_EXCEEDED', `outside the scope: ${detail}`, parts.join(' '))
  },
}

const PART_TEXT = { until: 'the time limit', effect: 'the effect class', tool: 'the tool' } as const
