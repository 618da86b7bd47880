// What the session did before a call.

import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ask } from '../api.ts'
import type { ApprovalRequest, Entry } from '../model.ts'
import { line } from '../text.ts'
import { Chip, Name, Time } from './words.tsx'

const SHOWN = 6

/** The last decisions of a session. */
export function SessionBefore({ request }: { readonly request: ApprovalRequest }): JSX.Element | null {
  const { session, principal, id } = request
  const [entries, setEntries] = useState<readonly Entry[]>()
  useEffect(() => {
    const query = { session, principal, kind: 'decision', limit: SHOWN + 1 }
    ask<{ readonly receipts: readonly Entry[] }>('/v1/receipts', { query })
      .then(({ receipts }) => setEntries(receipts))
      .catch(() => setEntries(undefined))
  }, [session, principal])
  const before = entries?.filter((each) => each.id !== id).slice(0, SHOWN) ?? []
  if (before.length === 0) return null
  return (
    <section class="block">
      <h2>The session before</h2>
      <ul class="steps">
        {before.map(({ id: each, receipt }) =>
          receipt.kind === 'decision' ? (
            <li key={each}>
              <Time time={receipt.time} />
              <Chip word={receipt.verdict} />
              <Name text={receipt.tool} mono />
              <span class="soft">{line(receipt.reason_code)}</span>
            </li>
          ) : null,
        )}
      </ul>
    </section>
  )
}
