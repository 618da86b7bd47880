// The queue of requests for approval, and the one that is open.

import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { Chip, Left, Name } from '../parts/words.tsx'
import { Icon } from '../parts/icon.tsx'
import { Empty, Loading } from '../parts/state.tsx'
import type { ApprovalRequest } from '../model.ts'
import { requests } from '../news.ts'
import { go, hrefOf } from '../route.ts'
import { counted } from '../text.ts'
import { ApprovalDetail } from './approval.tsx'

/** The page of approvals. `rest` is the id of the open request. */
export function ApprovalsPage({ rest }: { readonly rest: readonly string[] }): JSX.Element {
  const [id] = rest
  const all = (requests.value ?? []).filter(({ status }) => status === 'waiting')
  useKeys(all, id)
  return (
    <div class={id === undefined ? 'panes' : 'panes open'}>
      <section class="list-pane" aria-label="Open requests">
        <header class="page-head">
          <h1>Approvals</h1>
          <p class="soft">{requests.value ? counted(all.length, 'open request') : ' '}</p>
        </header>
        {!requests.value && <Loading />}
        {requests.value && all.length === 0 && (
          <Empty title="Nothing waits for you">A call that needs an approval appears here at once.</Empty>
        )}
        <ul class="queue">
          {all.map((each) => (
            <li key={each.id}>
              <Row request={each} open={each.id === id} />
            </li>
          ))}
        </ul>
      </section>
      <section class="detail-pane" aria-label="Request">
        {id === undefined ? (
          <Empty title="Choose a request">
            Keys: <kbd>j</kbd> next, <kbd>k</kbd> previous, <kbd>a</kbd> to the answer.
          </Empty>
        ) : (
          <>
            <a class="back" href={hrefOf(['approvals'])}>
              <Icon name="back" />
              All requests
            </a>
            <ApprovalDetail key={id} id={id} />
          </>
        )}
      </section>
    </div>
  )
}

function Row({ request, open }: { readonly request: ApprovalRequest; readonly open: boolean }): JSX.Element {
  const { id, tool, principal, effect_class: effect, until, reason_code: reason } = request
  return (
    <a class="queue-row" href={hrefOf(['approvals', id])} aria-current={open ? 'true' : undefined}>
      <span class="queue-top">
        <Name text={tool} mono />
        {until !== null && <Left until={until} />}
      </span>
      <span class="queue-bottom">
        <Name text={principal} />
        {effect !== undefined && <Chip word={effect} />}
      </span>
      <span class="queue-reason soft">{reason}</span>
    </a>
  )
}

/** `j` and `k` go through the queue, `a` to the answer. Nothing is answered by a single key. */
function useKeys(all: readonly ApprovalRequest[], id: string | undefined): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { key, target, metaKey, ctrlKey, altKey } = event
      if (
        metaKey ||
        ctrlKey ||
        altKey ||
        (target instanceof HTMLElement && target.matches('input, textarea, select'))
      )
        return
      const at = all.findIndex((each) => each.id === id)
      const next = key === 'j' ? all[at + 1] : key === 'k' ? all[Math.max(0, at - 1)] : undefined
      if (next) go(hrefOf(['approvals', next.id]))
      else if (key === 'a') document.querySelector<HTMLElement>('[data-answer]')?.focus()
      else return
      event.preventDefault()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [all, id])
}
