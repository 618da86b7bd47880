// The policy in force: its text, how often each rule decided lately, and a call to try.

import type { Json } from '@tollgate/evidence'
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ask } from '../api.ts'
import type { Entry } from '../model.ts'
import { stateIndex } from '../news.ts'
import { Fault, Loading } from '../parts/state.tsx'
import { Chip, Hash } from '../parts/words.tsx'
import { loadPolicy, type ShownPolicy } from '../policy.ts'
import { place } from '../route.ts'
import { counted, grouped, line, shown } from '../text.ts'

const COUNTED = 1000

/** The page of the policy. */
export function PolicyPage(): JSX.Element {
  const [policy, setPolicy] = useState<ShownPolicy>()
  const [fault, setFault] = useState<unknown>()
  const state = stateIndex.value
  useEffect(() => {
    loadPolicy().then(setPolicy, setFault)
  }, [state])
  return (
    <div class="narrow">
      <header class="page-head">
        <h1>Policy</h1>
        {policy && (
          <p class="soft">
            {line(policy.name)} <Hash hash={policy.hash} label="the hash of the policy" />
          </p>
        )}
      </header>
      {fault !== undefined && <Fault fault={fault} />}
      {!policy && fault === undefined && <Loading rows={6} />}
      {policy?.pending && (
        <p class="notice">
          The policy file differs from the policy in force. Run <code>tollgate policy diff</code> to compare
          them.
        </p>
      )}
      {policy && <Try />}
      {policy && <Rules policy={policy} />}
      {policy && (
        <section class="block">
          <h2>Text</h2>
          <pre class="json policy" tabIndex={0} aria-label="Text of the policy">
            {policy.text.split('\n').map((text, i) => (
              <span class="policy-line" key={i}>
                <span class="policy-number" aria-hidden="true">
                  {i + 1}
                </span>
                {shown(text)}
              </span>
            ))}
          </pre>
        </section>
      )}
    </div>
  )
}

/** How often each rule decided among the last calls under this policy. */
function Rules({ policy }: { readonly policy: ShownPolicy }): JSX.Element {
  const [entries, setEntries] = useState<readonly Entry[]>()
  useEffect(() => {
    const query = { kind: 'decision', limit: COUNTED }
    ask<{ readonly receipts: readonly Entry[] }>('/v1/receipts', { query }).then(
      ({ receipts }) => setEntries(receipts),
      () => setEntries([]),
    )
  }, [policy.hash])
  const decisions = entries?.flatMap(({ receipt }) => (receipt.kind === 'decision' ? [receipt] : [])) ?? []
  const own = decisions.filter(({ policy_hash: hash }) => hash === policy.hash)
  const counts = new Map<string, number>()
  for (const { rule } of own) if (rule !== undefined) counts.set(rule, (counts.get(rule) ?? 0) + 1)
  const names = [...policy.text.matchAll(/\bid: *['"]?([A-Za-z0-9._-]+)/g)].map(([, name = '']) => name)
  const most = Math.max(1, ...counts.values())
  return (
    <section class="block">
      <h2>Rules</h2>
      <p class="soft">
        How often each rule decided, among the last {counted(own.length, 'call')} under this policy.
      </p>
      {!entries && <Loading rows={2} />}
      <ul class="hits">
        {[...new Set([...names, ...counts.keys()])].map((name) => {
          const count = counts.get(name) ?? 0
          return (
            <li key={name} class={count === 0 ? 'unused' : ''}>
              <span class="name mono">{line(name)}</span>
              <meter min={0} max={most} value={count} aria-label={`${line(name)}: ${count}`} />
              <span>{count === 0 ? 'unused' : grouped(count)}</span>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

interface Explanation {
  readonly verdict: string
  readonly reason_code: string
  readonly message: string
  readonly remedy: string
  readonly rung: string
  readonly rule: string | null
  readonly obstacles: readonly {
    readonly rung: string
    readonly reason_code: string
    readonly message: string
    readonly remedy: string
  }[]
}

/** A call to try. Nothing is recorded. */
function Try(): JSX.Element {
  const { query } = place.value
  const [tool, setTool] = useState(query.get('tool') ?? '')
  const [principal, setPrincipal] = useState(query.get('principal') ?? '')
  const [text, setText] = useState('{}')
  const [answer, setAnswer] = useState<Explanation>()
  const [fault, setFault] = useState<unknown>()

  async function submit(event: Event): Promise<void> {
    event.preventDefault()
    setFault(undefined)
    try {
      const body = { tool, arguments: argumentsIn(text), ...(principal !== '' && { principal }) }
      setAnswer(await ask<Explanation>('/v1/policy/explain', { method: 'POST', body }))
    } catch (cause) {
      setAnswer(undefined)
      setFault(cause)
    }
  }

  return (
    <section class="block">
      <h2>Try a call</h2>
      <form class="try" onSubmit={(event) => void submit(event)}>
        <label>
          Tool
          <input
            type="text"
            required
            value={tool}
            placeholder="server/tool"
            onInput={(event) => setTool(event.currentTarget.value)}
          />
        </label>
        <label>
          Principal
          <input
            type="text"
            required
            value={principal}
            placeholder="agent:name"
            onInput={(event) => setPrincipal(event.currentTarget.value)}
          />
        </label>
        <label class="whole">
          Arguments, as JSON
          <textarea
            rows={3}
            spellcheck={false}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="button">
          Explain
        </button>
      </form>
      {fault !== undefined && <Fault fault={fault} />}
      {answer && (
        <div role="status" class="try-answer">
          <p>
            <Chip word={answer.verdict} /> {line(answer.message)}
          </p>
          <p class="soft">
            <code>{line(answer.reason_code)}</code> by <code>{line(answer.rung)}</code>
            {answer.rule !== null && (
              <>
                , rule <code>{line(answer.rule)}</code>
              </>
            )}
          </p>
          <ul class="asks">
            {answer.obstacles.map(({ rung, reason_code: code, message, remedy }) => (
              <li key={rung + code}>
                <code>{line(rung)}</code> {line(message)} <span class="soft">{line(remedy)}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </section>
  )
}

function argumentsIn(text: string): Json {
  try {
    // Sound: JSON.parse gives JSON.
    return JSON.parse(text) as Json
  } catch {
    throw new Error('The arguments are not JSON.')
  }
}
