import { isActing } from './sinks.ts'
import { excessOf } from './holds.ts'
import { shownPath } from '../../text/walk.ts'
import { always, escalate, type Gate } from '../gate.ts'

/** Objects to side effects outside of the scope that the session was opened with. It does not read words: it compares values. */
export const scope: Gate = {
  name: 'scope',
  // Whether a session has a scope is not the policy's to say: one that has is held to it.
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
    const detail = parts.map((part) => (part === 'sink' ? `the value${where}` : TOLD[part])).join(', ')
    return escalate('TASK_SCOPE_EXCEEDED', `outside of the scope: ${detail}`, parts.join(' '))
  },
}

const TOLD = { until: 'its time', effect: 'the class of effect', tool: 'the tool' } as const
