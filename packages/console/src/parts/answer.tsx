// The answer to a request: approve exactly this call once, or deny it.

import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ask } from '../api.ts'
import type { ApprovalRequest } from '../model.ts'
import { loadRequests } from '../news.ts'
import { mayAct, person } from '../person.ts'
import { line } from '../text.ts'
import { Always } from './always.tsx'
import { Fault } from './state.tsx'
import { announce } from './words.tsx'

interface AnswerProps {
  readonly request: ApprovalRequest
  readonly onAnswered: () => void
}

const MAX_REASON = 500

/** The form, or why the person cannot answer. */
export function AnswerForm({ request, onAnswered }: AnswerProps): JSX.Element {
  if (request.status !== 'waiting') return <Answered request={request} />
  const why = whyNot(request)
  if (why !== undefined) return <p class="notice">{why}</p>
  return <Form request={request} onAnswered={onAnswered} />
}

/** The gateway checks the same; this only says it before. */
function whyNot({ principal, approvers }: ApprovalRequest): string | undefined {
  const { principal: own = '', groups = [] } = person.value ?? {}
  if (!mayAct()) return 'Your role may look, but not answer.'
  if (principal === own) return 'This is your own call. Another person must answer it.'
  const named = [own, ...groups]
  if (
    approvers.length > 0 &&
    !approvers.includes('others') &&
    !approvers.some((each) => named.includes(each))
  )
    return `The rule names who may answer: ${approvers.map(line).join(', ')}.`
  return undefined
}

function Answered({ request }: { readonly request: ApprovalRequest }): JSX.Element {
  const { status, approver, because } = request
  const words = {
    waiting: '',
    granted: `Approved by ${line(approver ?? 'someone')}. The agent has not used it yet.`,
    refused: `Denied by ${line(approver ?? 'someone')}.`,
    timed_out: 'The request expired without an answer.',
    expired: 'The approval expired.',
    used: `Approved by ${line(approver ?? 'someone')}, and used.`,
  }[status]
  return (
    <section class="block answered" role="status">
      <p>{words}</p>
      {because !== null && <p class="soft">“{line(because)}”</p>}
    </section>
  )
}

function Form({ request, onAnswered }: AnswerProps): JSX.Element {
  const { id, reason_required: required, arguments: args, reason_code: code } = request
  const [because, setBecause] = useState('')
  const [busy, setBusy] = useState<'approve' | 'deny'>()
  const [fault, setFault] = useState<unknown>()
  const [widen, setWiden] = useState(false)
  const [end, hasSeen] = useSeen()
  const missing = required && because.trim() === ''
  const canApprove = args !== undefined && hasSeen

  async function answer(word: 'approve' | 'deny'): Promise<void> {
    if (missing) {
      setFault(new Error('The policy requires a reason for every answer.'))
      return
    }
    setBusy(word)
    setFault(undefined)
    try {
      const reason = because.trim()
      const body = {
        ...(reason !== '' && { because: reason }),
        ...(word === 'approve' && widen && { widen }),
      }
      await ask(`/v1/approvals/${id}/${word}`, { method: 'POST', body })
      announce(word === 'approve' ? 'Approved.' : 'Denied.')
      onAnswered()
      void loadRequests()
    } catch (cause) {
      setFault(cause)
    }
    setBusy(undefined)
  }

  return (
    <section class="block answer" aria-label="Your answer">
      <div ref={end} />
      <label for="because">
        Reason{' '}
        <span class="soft">
          {required ? '(required by the policy)' : '(optional)'}, stored in the receipt for ever
        </span>
      </label>
      <input
        id="because"
        type="text"
        maxLength={MAX_REASON}
        value={because}
        required={required}
        autocomplete="off"
        onInput={(event) => setBecause(event.currentTarget.value)}
      />
      {code === 'TASK_SCOPE_EXCEEDED' && (
        <label class="check">
          <input
            type="checkbox"
            checked={widen}
            onChange={(event) => setWiden(event.currentTarget.checked)}
          />
          Also add this tool and its targets to the scope of the session
        </label>
      )}
      {fault !== undefined && <Fault fault={fault} />}
      <p class="actions">
        <button
          type="button"
          class="button primary"
          data-answer
          disabled={busy !== undefined || !canApprove}
          onClick={() => void answer('approve')}
        >
          {busy === 'approve' ? 'Approving …' : 'Approve once'}
        </button>
        <button
          type="button"
          class="button danger"
          disabled={busy !== undefined}
          onClick={() => void answer('deny')}
        >
          {busy === 'deny' ? 'Denying …' : 'Deny'}
        </button>
      </p>
      <Always id={id} because={because.trim()} disabled={!canApprove || missing} onDone={onAnswered} />
      {args !== undefined && !hasSeen && <p class="soft">Scroll through all arguments to approve.</p>}
    </section>
  )
}

/** Whether the end of what is above was on the screen. */
function useSeen(): readonly [{ current: HTMLDivElement | null }, boolean] {
  const end = useRef<HTMLDivElement>(null)
  const [hasSeen, setSeen] = useState(false)
  useEffect(() => {
    const watch = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true)
    })
    if (end.current) watch.observe(end.current)
    return () => watch.disconnect()
  }, [])
  return [end, hasSeen]
}
