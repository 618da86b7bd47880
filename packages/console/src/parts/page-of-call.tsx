// The page of a browser call, as an approver must see it.

import type { JSX } from 'preact'
import type { ShownPage } from '../model.ts'
import { line } from '../text.ts'
import { Field, Fields } from './fields.tsx'

/** The page that a browser call acts on. */
export function PageOfCall({ page }: { readonly page: ShownPage }): JSX.Element {
  const {
    url,
    page_host: host,
    destination,
    destination_host: goal,
    target,
    sentinel_findings: findings,
  } = page
  const { sentinel_risk: risk, planner_derived: derived, without_egress: free, target_state: state } = page
  return (
    <section class="block">
      <h2>Web page</h2>
      <Fields>
        <Field name="Address">{line(url ?? host ?? 'unknown')}</Field>
        {(destination ?? goal) !== undefined && (
          <Field name="Sends to">{line(destination ?? goal ?? 'unknown')}</Field>
        )}
        {target && (
          <Field name="Element">
            {line(target.role)} “{line(target.name)}” of {line(target.origin)}
          </Field>
        )}
        {state !== undefined && <Field name="Element now">{line(state)}</Field>}
        {risk !== undefined && <Field name="Risk">{risk} of 100</Field>}
        <Field name="Findings">{findings.length === 0 ? 'none' : findings.map(line).join(', ')}</Field>
        {derived === true && <Field name="Plan">derived from the call, no planner gave one</Field>}
        {free === true && <Field name="Network">not controlled by the gateway</Field>}
      </Fields>
    </section>
  )
}
