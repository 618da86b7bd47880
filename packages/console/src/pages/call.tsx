// One receipt: for a call, the gates that it passed, the rule that decided, its effect, and the proof.

import { REASONS, type Decision, type Json } from '@tollgate/evidence'
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ask } from '../api.ts'
import type { Entry } from '../model.ts'
import { Field, Fields } from '../parts/fields.tsx'
import { Gates } from '../parts/gates.tsx'
import { Icon } from '../parts/icon.tsx'
import { JsonText } from '../parts/json.tsx'
import { Proof } from '../parts/proof.tsx'
import { RuleText } from '../parts/rule-text.tsx'
import { Fault, Loading } from '../parts/state.tsx'
import { Chip, Time } from '../parts/words.tsx'
import { hrefOf } from '../route.ts'
import { line } from '../text.ts'

interface FullEntry extends Entry {
  readonly envelope: string
}

/** The page of a receipt. `rest` is its id. */
export function CallPage({ rest }: { readonly rest: readonly string[] }): JSX.Element {
  const id = rest[0] ?? ''
  const [entry, setEntry] = useState<FullEntry>()
  const [related, setRelated] = useState<readonly Entry[]>([])
  const [fault, setFault] = useState<unknown>()
  useEffect(() => {
    setEntry(undefined)
    setFault(undefined)
    ask<FullEntry>(`/v1/receipts/${encodeURIComponent(id)}`).then(setEntry, setFault)
    ask<{ readonly receipts: readonly Entry[] }>('/v1/receipts', {
      query: { decision: id, direction: 'on' },
    }).then(
      ({ receipts }) => setRelated(receipts.filter((each) => each.id !== id)),
      () => setRelated([]),
    )
  }, [id])
  return (
    <div class="call">
      <a class="back always" href={hrefOf(['live'])}>
        <Icon name="back" />
        Live
      </a>
      {fault !== undefined && (
        <>
          <h1>Receipt</h1>
          <Fault fault={fault} />
        </>
      )}
      {!entry && fault === undefined && <Loading rows={6} />}
      {entry && <Shown entry={entry} related={related} />}
    </div>
  )
}

function Shown({
  entry,
  related,
}: {
  readonly entry: FullEntry
  readonly related: readonly Entry[]
}): JSX.Element {
  const { receipt, id, index, envelope } = entry
  const decision = receipt.kind === 'decision' ? receipt : undefined
  return (
    <article class="call-body">
      <header class="request-head">
        <p class="request-line">
          {decision ? <Chip word={decision.verdict} /> : <Chip word={receipt.kind} />}
          {decision && <Chip word={decision.effect_class} />}
          <span class="soft">
            <Time time={receipt.time} /> · entry {index}
          </span>
        </p>
        <h1 class="title mono">{decision ? line(decision.tool) : receipt.kind}</h1>
        {decision && <Names decision={decision} />}
      </header>
      {decision && <Why decision={decision} />}
      {decision && <Gates decision={decision} />}
      {decision?.rule !== undefined && <RuleText rule={decision.rule} hash={decision.policy_hash} />}
      {decision && <Facts decision={decision} />}
      <Related related={related} />
      <Proof id={id} envelope={envelope} origin={receipt.ledger} />
      <section class="block">
        <h2>Receipt</h2>
        {/* Sound: a receipt is JSON. */}
        <JsonText value={receipt as unknown as Json} />
      </section>
    </article>
  )
}

function Names({ decision }: { readonly decision: Decision }): JSX.Element {
  const { principal, session, tool } = decision
  return (
    <p class="soft">
      <a href={hrefOf(['live'], { principal })}>{line(principal)}</a> · session{' '}
      <a href={hrefOf(['live'], { session: session.id })}>{line(session.id)}</a> ·{' '}
      <a href={hrefOf(['live'], { tool })}>calls of this tool</a>
    </p>
  )
}

function Why({ decision }: { readonly decision: Decision }): JSX.Element {
  const { reason_code: code, rung, asks = [] } = decision
  const { sentence, remedy } = REASONS[code]
  return (
    <section class="block">
      <h2>Why</h2>
      <p>{sentence}</p>
      <p class="soft">
        <code>{code}</code> by <code>{rung}</code>
      </p>
      {asks.length > 0 && (
        <ul class="asks">
          {asks.map((each) => (
            <li key={each}>{line(each)}</li>
          ))}
        </ul>
      )}
      {decision.verdict !== 'ALLOW' && (
        <>
          <h3>How to allow it</h3>
          <p>{remedy}</p>
        </>
      )}
    </section>
  )
}

function Facts({ decision }: { readonly decision: Decision }): JSX.Element {
  const {
    door,
    assurance,
    person,
    author,
    labels,
    findings,
    compliance,
    trajectory_risk_score: risk,
    browser,
  } = decision
  const lists = { 'Data in the call': labels, Findings: findings, 'Compliance rules': compliance }
  return (
    <section class="block">
      <h2>The call</h2>
      <Fields>
        <Field name="Door">
          {door}, {assurance}
        </Field>
        {person !== undefined && <Field name="On behalf of">{line(person)}</Field>}
        {author !== undefined && <Field name="Arguments written by">{line(author)}</Field>}
        {Object.entries(lists).map(
          ([name, values]) =>
            values && (
              <Field key={name} name={name}>
                {values.map(line).join(', ')}
              </Field>
            ),
        )}
        <Field name="Risk of the session">{risk}</Field>
        {browser && (
          <Field name="Web page">
            {line(browser.page_host ?? 'unknown')}
            {browser.sentinel_risk !== undefined && `, risk ${browser.sentinel_risk} of 100`}
            {browser.sentinel_findings.length > 0 && `, ${browser.sentinel_findings.map(line).join(', ')}`}
          </Field>
        )}
        <Field name="Arguments">only their hash is in the receipt</Field>
      </Fields>
    </section>
  )
}

function Related({ related }: { readonly related: readonly Entry[] }): JSX.Element | null {
  if (related.length === 0) return null
  return (
    <section class="block">
      <h2>What followed</h2>
      <ul class="steps">
        {related.map(({ id, receipt }) => (
          <li key={id}>
            <Time time={receipt.time} />
            <Chip word={wordOf(receipt)} />
            <a href={hrefOf(['call', id])}>{receipt.kind}</a>
            <span class="soft">{detailOf(receipt)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function wordOf(receipt: Entry['receipt']): string {
  if (receipt.kind === 'effect') return receipt.status
  if (receipt.kind === 'approval') return receipt.answer
  return receipt.kind === 'decision' ? receipt.verdict : receipt.kind
}

function detailOf(receipt: Entry['receipt']): string {
  if (receipt.kind === 'approval')
    return `by ${line(receipt.approver)}${receipt.because === undefined ? '' : `: ${line(receipt.because)}`}`
  if (receipt.kind !== 'effect') return ''
  return [receipt.delivery, ...(receipt.findings ?? []), ...(receipt.labels ?? [])].map(line).join(', ')
}
