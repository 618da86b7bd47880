// The landing of a link in a message: it leads to a request, if it is genuine and has not expired.

import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ask } from '../api.ts'
import { Fault, Loading } from '../parts/state.tsx'
import { go, hrefOf, place } from '../route.ts'

/** The page of a link. */
export function OpenPage(): JSX.Element {
  const [fault, setFault] = useState<unknown>()
  const { query } = place.value
  useEffect(() => {
    ask<{ readonly request: string }>('/link', { query: Object.fromEntries(query) }).then(
      ({ request }) => go(hrefOf(['approvals', request]), { replace: true }),
      setFault,
    )
  }, [query.toString()])
  return (
    <div class="narrow">
      <header class="page-head">
        <h1>Link</h1>
      </header>
      {fault === undefined ? <Loading rows={2} /> : <Fault fault={fault} />}
      <p>
        <a href={hrefOf(['approvals'])}>All open requests</a>
      </p>
    </div>
  )
}
