// Freezes: what is frozen, and how to freeze or lift. Every change needs a typed confirmation.

import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ask } from '../api.ts'
import type { Entry, Frozen } from '../model.ts'
import { freezes } from '../news.ts'
import { Icon } from '../parts/icon.tsx'
import { Empty, Fault, Loading } from '../parts/state.tsx'
import { announce, Time } from '../parts/words.tsx'
import { mayAct } from '../person.ts'
import { counted, line } from '../text.ts'

/** The page of freezes. */
export function FreezePage(): JSX.Element {
  const all = freezes.value
  return (
    <div class="narrow">
      <header class="page-head">
        <h1>Freeze</h1>
        <p class="soft">A freeze denies every call at every door, at once.</p>
      </header>
      <section class="block" aria-label="In force">
        <h2>In force</h2>
        {!all && <Loading rows={2} />}
        {all?.length === 0 && <Empty title="Nothing is frozen">Agents work as the policy allows.</Empty>}
        <ul class="frozen">
          {all?.map((each) => (
            <FrozenRow key={`${each.scope} ${each.target ?? ''}`} frozen={each} />
          ))}
        </ul>
      </section>
      {mayAct() && <FreezeForm />}
    </div>
  )
}

function FrozenRow({ frozen }: { readonly frozen: Frozen }): JSX.Element {
  const { scope, target, by, because, since } = frozen
  const [isOpen, setOpen] = useState(false)
  return (
    <li>
      <p class="frozen-line">
        <span class="chip cold">{scope}</span>
        <strong class="name" title={line(target ?? 'everything')}>
          {line(target ?? 'everything')}
        </strong>
        {mayAct() && (
          <button type="button" class="button small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            Lift
          </button>
        )}
      </p>
      <p class="soft">
        by {line(by)} since <Time time={since} />
        {because !== null && `: ${line(because)}`}
      </p>
      {isOpen && (
        <Change
          order={{ scope, ...(target !== null && { target }), frozen: false }}
          onDone={() => setOpen(false)}
        />
      )}
    </li>
  )
}

const SCOPES = [
  { scope: 'principal', title: 'An agent', about: 'all calls of one principal' },
  { scope: 'tool', title: 'A tool', about: 'all calls of one tool, by every agent' },
  { scope: 'session', title: 'A session', about: 'all calls of one session' },
  { scope: 'all', title: 'Everything', about: 'every call of every agent' },
] as const
type Scope = (typeof SCOPES)[number]['scope']

function FreezeForm(): JSX.Element {
  const [scope, setScope] = useState<Scope>('principal')
  const [target, setTarget] = useState('')
  const isReady = scope === 'all' || target.trim() !== ''
  return (
    <section class="block" aria-label="New freeze">
      <h2>New freeze</h2>
      <fieldset class="scopes">
        <legend class="hidden">Scope</legend>
        {SCOPES.map(({ scope: each, title, about }) => (
          <label key={each} class={each === scope ? 'scope chosen' : 'scope'}>
            <input type="radio" name="scope" checked={each === scope} onChange={() => setScope(each)} />
            <span>
              <strong>{title}</strong>
              <span class="soft"> {about}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {scope !== 'all' && (
        <>
          <label for="target">{{ principal: 'Principal', tool: 'Tool', session: 'Session' }[scope]}</label>
          <input
            id="target"
            type="text"
            autocomplete="off"
            spellcheck={false}
            placeholder={{ principal: 'agent:name', tool: 'server/tool', session: 'session id' }[scope]}
            value={target}
            onInput={(event) => setTarget(event.currentTarget.value)}
          />
        </>
      )}
      {isReady && <Stops scope={scope} target={target.trim()} />}
      {isReady && (
        <Change
          key={scope}
          order={{ scope, ...(scope !== 'all' && { target: target.trim() }), frozen: true }}
          onDone={() => setTarget('')}
        />
      )}
    </section>
  )
}

/** What a freeze will stop, from what happened lately. */
function Stops({ scope, target }: { readonly scope: Scope; readonly target: string }): JSX.Element {
  const [found, setFound] = useState<readonly Entry[]>()
  useEffect(() => {
    const timer = setTimeout(() => {
      const query = { kind: 'decision', limit: 200, ...(scope !== 'all' && { [scope]: target }) }
      ask<{ readonly receipts: readonly Entry[] }>('/v1/receipts', { query }).then(
        ({ receipts }) => setFound(receipts),
        () => setFound(undefined),
      )
    }, 250)
    return () => clearTimeout(timer)
  }, [scope, target])
  if (!found) return <p class="soft"> </p>
  const decisions = found.flatMap(({ receipt }) => (receipt.kind === 'decision' ? [receipt] : []))
  const agents = new Set(decisions.map(({ principal }) => principal))
  const tools = new Set(decisions.map(({ tool }) => tool))
  const newest = decisions[0]?.time
  return (
    <p class="notice" role="status">
      {decisions.length === 0 || newest === undefined ? (
        'No call of this name is among the last ones. Check the name: the freeze also stops later calls.'
      ) : (
        <>
          It stops what made the last {counted(decisions.length, 'call')}: {counted(agents.size, 'agent')}{' '}
          with {counted(tools.size, 'tool')}, the newest at <Time time={newest} />. A call that was allowed
          before still completes.
        </>
      )}
    </p>
  )
}

interface Order {
  readonly scope: Scope
  readonly target?: string
  readonly frozen: boolean
}

/** The reason, the typed confirmation, and the button. */
function Change({ order, onDone }: { readonly order: Order; readonly onDone: () => void }): JSX.Element {
  const { target = 'everything', frozen } = order
  const [because, setBecause] = useState('')
  const [typed, setTyped] = useState('')
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<unknown>()
  const word = frozen ? 'Freeze' : 'Lift the freeze'

  async function submit(event: Event): Promise<void> {
    event.preventDefault()
    if (typed !== target) return
    setBusy(true)
    setFault(undefined)
    try {
      const reason = because.trim()
      await ask('/v1/freeze', {
        method: 'POST',
        body: { ...order, ...(reason !== '' && { because: reason }) },
      })
      announce(frozen ? 'Frozen.' : 'The freeze is lifted.')
      setTyped('')
      setBecause('')
      onDone()
    } catch (cause) {
      setFault(cause)
    }
    setBusy(false)
  }

  const id = `${frozen ? 'freeze' : 'lift'}-${order.scope}`
  return (
    <form class="change" onSubmit={(event) => void submit(event)}>
      <label for={`${id}-because`}>
        Reason <span class="soft">(optional), stored in the receipt for ever</span>
      </label>
      <input
        id={`${id}-because`}
        type="text"
        maxLength={500}
        autocomplete="off"
        value={because}
        onInput={(event) => setBecause(event.currentTarget.value)}
      />
      <label for={`${id}-typed`}>
        To confirm, type <code>{line(target)}</code>
      </label>
      <input
        id={`${id}-typed`}
        type="text"
        autocomplete="off"
        spellcheck={false}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      {fault !== undefined && <Fault fault={fault} />}
      <p class="actions">
        <button type="submit" class={frozen ? 'button freeze' : 'button'} disabled={busy || typed !== target}>
          <Icon name="freeze" />
          {word}
        </button>
      </p>
    </form>
  )
}
