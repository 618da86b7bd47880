// Health: the gateway, its ledger and its doors.

import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ask, askText } from '../api.ts'
import { Field, Fields } from '../parts/fields.tsx'
import { Fault, Loading } from '../parts/state.tsx'
import { Chip, Time } from '../parts/words.tsx'
import { duration, grouped, line } from '../text.ts'

interface Status {
  readonly version: string
  readonly ledger: string
  readonly size: number
  readonly poisoned: string | null
  readonly since: string
}

interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const EVERY_MS = 5000

/** The page of health. */
export function HealthPage(): JSX.Element {
  const [status, setStatus] = useState<Status>()
  const [samples, setSamples] = useState<readonly Sample[]>([])
  const [fault, setFault] = useState<unknown>()
  useEffect(() => {
    const load = async (): Promise<void> => {
      try {
        setStatus(await ask<Status>('/v1/status'))
        setSamples(samplesIn(await askText('/metrics')))
        setFault(undefined)
      } catch (cause) {
        setFault(cause)
      }
    }
    void load()
    const timer = setInterval(() => {
      if (!document.hidden) void load()
    }, EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  return (
    <div class="narrow">
      <header class="page-head">
        <h1>Health</h1>
      </header>
      {fault !== undefined && <Fault fault={fault} />}
      {!status && fault === undefined && <Loading rows={5} />}
      {status && <Ledger status={status} samples={samples} />}
      {status && <Doors samples={samples} />}
    </div>
  )
}

function Ledger({
  status,
  samples,
}: {
  readonly status: Status
  readonly samples: readonly Sample[]
}): JSX.Element {
  const { version, ledger, size, poisoned, since } = status
  const value = (name: string): number | undefined =>
    samples.find((each) => each.name === `tollgate_${name}`)?.value
  const age = value('checkpoint_age_seconds')
  return (
    <section class="block">
      <h2>Ledger</h2>
      <p>
        {poisoned === null ? <Chip word="writes" tone="good" /> : <Chip word="poisoned" tone="bad" />}{' '}
        {poisoned === null ? 'Decisions are recorded.' : `Every call is denied: ${line(poisoned)}`}
      </p>
      <Fields>
        <Field name="Name">{line(ledger)}</Field>
        <Field name="Entries">{grouped(size)}</Field>
        <Field name="Newest checkpoint">
          {age === undefined ? 'unknown' : `${duration(age * 1000)} old`}
        </Field>
        <Field name="Calls without an effect">{grouped(value('effects_open') ?? 0)}</Field>
        <Field name="Open connections">{grouped(value('connections_open') ?? 0)}</Field>
        <Field name="Version">{line(version)}</Field>
        <Field name="Running since">
          <Time time={since} />
        </Field>
      </Fields>
    </section>
  )
}

/** The decisions of each door since the start. */
function Doors({ samples }: { readonly samples: readonly Sample[] }): JSX.Element {
  const doors = new Map<string, Record<string, number>>()
  for (const { name, labels, value } of samples) {
    if (name !== 'tollgate_decisions_total') continue
    const { door = '', verdict = '' } = labels
    const counts = doors.get(door) ?? {}
    counts[verdict] = (counts[verdict] ?? 0) + value
    doors.set(door, counts)
  }
  return (
    <section class="block">
      <h2>Doors</h2>
      {doors.size === 0 && <p class="soft">No call has been decided since the start.</p>}
      {doors.size > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Door</th>
              {VERDICTS.map((verdict) => (
                <th scope="col" key={verdict}>
                  {verdict}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {[...doors].map(([door, counts]) => (
              <tr key={door}>
                <th scope="row">{line(door)}</th>
                {VERDICTS.map((verdict) => (
                  <td key={verdict}>{grouped(counts[verdict] ?? 0)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

const VERDICTS = ['ALLOW', 'DENY', 'ESCALATE']

/** The samples of a text in the Prometheus format. */
function samplesIn(text: string): readonly Sample[] {
  return text.split('\n').flatMap((each) => {
    const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? ([-+0-9.e]+)$/.exec(each) ?? []
    if (name === undefined || value === undefined) return []
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text2 = '']) => [
      key,
      text2,
    ])
    return [{ name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) }]
  })
}
