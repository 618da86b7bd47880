// One request for approval: everything that a person needs to decide.

import { REASONS, type ReasonCode } from '@tollgate/evidence'
import type { JSX } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { ask } from '../api.ts'
import type { ApprovalRequest, Entry } from '../model.ts'
import { stateIndex, requests } from '../news.ts'
import { AnswerForm } from '../parts/answer.tsx'
import { Field, Fields } from '../parts/fields.tsx'
import { JsonText } from '../parts/json.tsx'
import { PageOfCall } from '../parts/page-of-call.tsx'
import { SessionBefore } from '../parts/session-before.tsx'
import { Fault, Loading } from '../parts/state.tsx'
import { Chip, Hash, Left, Time } from '../parts/words.tsx'
import { line } from '../text.ts'

/** A request with its answer form. */
export function ApprovalDetail({ id }: { readonly id: string }): JSX.Element {
  const [request, setRequest] = useState<ApprovalRequest>()
  const [entry, setEntry] = useState<Entry>()
  const [fault, setFault] = useState<unknown>()
  const load = useCallback(async (): Promise<void> => {
    try {
      setRequest(await ask<ApprovalRequest>(`/v1/approvals/${id}`))
      setEntry(await ask<Entry>(`/v1/receipts/${id}`))
      setFault(undefined)
    } catch (cause) {
      setFault(cause)
    }
  }, [id])
  // Another person may answer it, or it may expire: the queue then changes.
  const known = requests.value?.find((each) => each.id === id)?.status
  useEffect(() => void load(), [load, known, stateIndex.value])
  if (fault !== undefined) return <Fault fault={fault} again={() => void load()} />
  if (!request) return <Loading rows={6} />
  return (
    <article class="request">
      <Head request={request} />
      <Why request={request} />
      {request.page && <PageOfCall page={request.page} />}
      <Arguments request={request} />
      <AnswerForm request={request} onAnswered={() => void load()} />
      <Facts request={request} entry={entry} />
      <SessionBefore request={request} />
    </article>
  )
}

function Head({ request }: { readonly request: ApprovalRequest }): JSX.Element {
  const { tool, principal, status, until, effect_class: effect } = request
  return (
    <header class="request-head">
      <p class="request-line">
        <Chip word={status} />
        {effect !== undefined && <Chip word={effect} />}
        {status === 'waiting' && until !== null && <Left until={until} />}
      </p>
      <h1 class="title mono">{line(tool)}</h1>
      <p class="soft">called by {line(principal)}</p>
    </header>
  )
}

function Why({ request }: { readonly request: ApprovalRequest }): JSX.Element {
  const { reason_code: code, rung, rule, asks } = request
  return (
    <section class="block">
      <h2>Why it waits</h2>
      <p>{sentenceOf(code) ?? line(code)}</p>
      <p class="soft">
        <code>{line(code)}</code> by <code>{line(rung)}</code>
        {rule !== null && (
          <>
            , rule <code>{line(rule)}</code>
          </>
        )}
      </p>
      {asks.length > 0 && (
        <>
          <h3>An approval overrides</h3>
          <ul class="asks">
            {asks.map((each) => (
              <Objection key={each} text={each} />
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

/** An objection: its step, its reason code, and details. */
function Objection({ text }: { readonly text: string }): JSX.Element {
  const [step = '', code = '', ...rest] = text.split(' ')
  const sentence = sentenceOf(code)
  if (sentence === undefined) return <li>{line(text)}</li>
  return (
    <li>
      <code>{line(step)}</code> {sentence}
      {rest.length > 0 && <span class="soft"> {line(rest.join(' '))}</span>}
    </li>
  )
}

function sentenceOf(code: string): string | undefined {
  // Sound: an unknown code gives no sentence.
  return Object.hasOwn(REASONS, code) ? REASONS[code as ReasonCode].sentence : undefined
}

function Arguments({ request }: { readonly request: ApprovalRequest }): JSX.Element {
  const { arguments: args, status } = request
  return (
    <section class="block">
      <h2>Arguments</h2>
      {args !== undefined && <JsonText value={args} />}
      {args === undefined && status !== 'waiting' && (
        <p class="soft">The gateway shows the arguments only while the request waits.</p>
      )}
      {args === undefined && status === 'waiting' && (
        <p class="soft">
          You cannot see the arguments: your role may not read them, or they were erased. Without them the
          request can only be denied.
        </p>
      )}
    </section>
  )
}

function Facts({
  request,
  entry,
}: {
  readonly request: ApprovalRequest
  readonly entry: Entry | undefined
}): JSX.Element {
  const { id, session, opened, approvers, delegation, args_hash: hash } = request
  const decision = entry?.receipt.kind === 'decision' ? entry.receipt : undefined
  return (
    <section class="block">
      <h2>The call</h2>
      <Fields>
        <Field name="Session">{line(session)}</Field>
        {decision?.person !== undefined && <Field name="On behalf of">{line(decision.person)}</Field>}
        {decision?.author !== undefined && <Field name="Arguments written by">{line(decision.author)}</Field>}
        {decision && <Field name="Door">{decision.door}</Field>}
        {decision?.labels && <Field name="Data in the call">{decision.labels.map(line).join(', ')}</Field>}
        {decision?.findings && <Field name="Findings">{decision.findings.map(line).join(', ')}</Field>}
        {opened !== undefined && (
          <Field name="Opened">
            <Time time={opened} />
          </Field>
        )}
        <Field name="Who may answer">
          {approvers.length === 0 ? 'any operator except the requester' : approvers.map(line).join(', ')}
        </Field>
        {delegation !== null && (
          <Field name="Delegation">
            <Hash hash={delegation} label="the delegation" />
          </Field>
        )}
        {decision?.definition_hash !== undefined && (
          <Field name="Definition of the tool">
            <Hash hash={decision.definition_hash} label="the hash of the definition" />
          </Field>
        )}
        <Field name="Hash of the arguments">
          <Hash hash={hash} label="the hash of the arguments" />
        </Field>
        <Field name="Receipt">
          <Hash hash={id} label="the id of the receipt" />
          {entry && <span class="soft"> entry {entry.index}</span>}
        </Field>
      </Fields>
    </section>
  )
}
