// The proposal to allow a call always: the lines that the policy would get, and what else they would allow.

import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ask } from '../api.ts'
import { loadRequests } from '../news.ts'
import { mayActivate } from '../person.ts'
import { counted, line, shown } from '../text.ts'
import { Fault } from './state.tsx'
import { announce } from './words.tsx'

interface Proposal {
  readonly why: string | null
  readonly remedy: string | null
  readonly edit: {
    readonly text: string
    readonly replaces: string
    readonly rule: string | null
    readonly hosts: readonly string[]
    readonly inserted: readonly { readonly line: number; readonly text: string }[]
    readonly tried: number
    readonly loosened: readonly { readonly calls: number; readonly from: string; readonly to: string }[]
  } | null
}

interface AlwaysProps {
  readonly id: string
  readonly because: string
  readonly disabled: boolean
  readonly onDone: () => void
}

/** The button, and the proposal behind it. */
export function Always({ id, because, disabled, onDone }: AlwaysProps): JSX.Element {
  const [proposal, setProposal] = useState<Proposal>()
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<unknown>()
  const run = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true)
    setFault(undefined)
    try {
      await work()
    } catch (cause) {
      setFault(cause)
    }
    setBusy(false)
  }
  const propose = (): Promise<void> =>
    run(async () => setProposal(await ask<Proposal>(`/v1/approvals/${id}/always`)))
  const activate = ({ text, replaces }: NonNullable<Proposal['edit']>): Promise<void> =>
    run(async () => {
      await ask('/v1/policy', { method: 'POST', body: { text, replaces } })
      const reason = because === '' ? 'always allowed from now on, by a rule' : because
      await ask(`/v1/approvals/${id}/approve`, { method: 'POST', body: { because: reason } })
      announce('The policy is in force, and the call is approved.')
      onDone()
      void loadRequests()
    })
  const { edit } = proposal ?? {}
  return (
    <div class="always-allow">
      {!proposal && (
        <button type="button" class="button" disabled={disabled || busy} onClick={() => void propose()}>
          {busy ? 'Testing …' : 'Always allow …'}
        </button>
      )}
      {proposal && !edit && (
        <p class="notice">
          No rule is proposed: {line(proposal.why ?? '')}. {line(proposal.remedy ?? '')}
        </p>
      )}
      {edit && (
        <>
          <h3>Change of the policy</h3>
          <pre class="json">
            {edit.inserted.map(({ line: at, text }) => (
              <span class="added" key={at}>
                {shown(text)}
              </span>
            ))}
          </pre>
          {edit.hosts.map((host) => (
            <p key={host}>
              {line(host)} then needs no approval as a destination, for any call that a rule allows.
            </p>
          ))}
          <p class="soft">
            Tested with {counted(edit.tried, 'generated call')} and this call. Calls that become allowed:
          </p>
          <ul class="asks">
            {edit.loosened.map(({ calls, from, to }) => (
              <li key={from + to}>
                {counted(calls, 'call')}: {line(from)} becomes {line(to)}
              </li>
            ))}
          </ul>
          {mayActivate() ? (
            <p class="actions">
              <button
                type="button"
                class="button primary"
                disabled={busy}
                onClick={() => void activate(edit)}
              >
                Activate and approve
              </button>
              <button type="button" class="button" onClick={() => setProposal(undefined)}>
                Cancel
              </button>
            </p>
          ) : (
            <p class="notice">
              Only an admin can activate a policy. Send this proposal to an admin, or approve the call once.
            </p>
          )}
        </>
      )}
      {fault !== undefined && <Fault fault={fault} />}
    </div>
  )
}
