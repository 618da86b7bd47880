// The tools of MCP servers: which are pinned, which wait for a person, and how a changed one differs.

import type { Json } from '@tollgate/evidence'
import type { JSX } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { ask } from '../api.ts'
import { stateIndex } from '../news.ts'
import { Field, Fields } from '../parts/fields.tsx'
import { Icon } from '../parts/icon.tsx'
import { JsonText } from '../parts/json.tsx'
import { Empty, Fault, Loading } from '../parts/state.tsx'
import { announce, Chip, Hash, Name } from '../parts/words.tsx'
import { mayAct } from '../person.ts'
import { hrefOf } from '../route.ts'
import { counted, line } from '../text.ts'

interface Finding {
  readonly code: string
  readonly severity: string
  readonly tool: string
  readonly message: string
}

interface ListedTool {
  readonly tool: string
  readonly state: 'pinned' | 'new' | 'changed' | 'gone'
  readonly origin: string | null
  readonly offered: string | null
  readonly pinned: string | null
  readonly findings: readonly Finding[]
}

interface Listing {
  readonly servers: readonly {
    readonly server: string
    readonly findings: readonly Finding[]
    readonly tools: readonly ListedTool[]
    readonly more: number
  }[]
  readonly failed_starts?: readonly {
    readonly server: string
    readonly because: string
    readonly stderr: readonly string[]
  }[]
}

interface ShownTool extends ListedTool {
  readonly offered_definition: Json
  readonly pinned_definition: Json
  readonly diff: readonly string[]
}

const TONE = { pinned: 'good', new: 'warn', changed: 'bad', gone: 'plain' } as const

/** The page of tools. `rest` is the name of the open one. */
export function ToolsPage({ rest }: { readonly rest: readonly string[] }): JSX.Element {
  const name = rest[0]
  const [listing, setListing] = useState<Listing>()
  const [fault, setFault] = useState<unknown>()
  const state = stateIndex.value
  useEffect(() => {
    ask<Listing>('/v1/tools').then(setListing, setFault)
  }, [state])
  return (
    <div class={name === undefined ? 'panes' : 'panes open'}>
      <section class="list-pane" aria-label="Servers">
        <header class="page-head">
          <h1>Tools</h1>
          <p class="soft">New and changed tools are blocked until a person approves them.</p>
        </header>
        {fault !== undefined && <Fault fault={fault} />}
        {!listing && fault === undefined && <Loading />}
        {listing?.failed_starts?.map(({ server, because }) => (
          <p class="notice bad" key={server}>
            {line(server)} did not start: {line(because)}
          </p>
        ))}
        {listing?.servers.length === 0 && (
          <Empty title="No MCP server">Servers of `tollgate.yaml` appear here with their tools.</Empty>
        )}
        {listing?.servers.map(({ server, tools, more }) => (
          <div key={server}>
            <h2 class="server-name">{line(server)}</h2>
            <ul class="queue">
              {tools.map((tool) => (
                <li key={tool.tool}>
                  <a
                    class="queue-row tool-row"
                    href={hrefOf(['tools', tool.tool])}
                    aria-current={tool.tool === name ? 'true' : undefined}
                  >
                    <Name text={tool.tool} mono />
                    {tool.findings.length > 0 && (
                      <Chip word={counted(tool.findings.length, 'finding')} tone="warn" />
                    )}
                    <Chip word={tool.state} tone={TONE[tool.state]} />
                  </a>
                </li>
              ))}
            </ul>
            {more > 0 && <p class="soft more">and {counted(more, 'more tool')}</p>}
          </div>
        ))}
      </section>
      <section class="detail-pane" aria-label="Tool">
        {name === undefined ? (
          <Empty title="Choose a tool">Its definition and what changed in it appear here.</Empty>
        ) : (
          <>
            <a class="back" href={hrefOf(['tools'])}>
              <Icon name="back" />
              All tools
            </a>
            <ToolDetail key={name} name={name} />
          </>
        )}
      </section>
    </div>
  )
}

function ToolDetail({ name }: { readonly name: string }): JSX.Element {
  const [tool, setTool] = useState<ShownTool>()
  const [fault, setFault] = useState<unknown>()
  const load = useCallback(() => {
    ask<ShownTool>('/v1/tools/definition', { query: { tool: name } }).then(setTool, setFault)
  }, [name])
  const state = stateIndex.value
  useEffect(load, [load, state])
  if (fault !== undefined) return <Fault fault={fault} />
  if (!tool) return <Loading rows={5} />
  const definition = tool.offered_definition ?? tool.pinned_definition
  return (
    <article class="request">
      <header class="request-head">
        <p class="request-line">
          <Chip word={tool.state} tone={TONE[tool.state]} />
        </p>
        <h1 class="title mono">{line(tool.tool)}</h1>
        {tool.origin !== null && <p class="soft">{line(tool.origin)}</p>}
      </header>
      {tool.findings.length > 0 && <Findings findings={tool.findings} />}
      {tool.diff.length > 0 && tool.state === 'changed' && <Diff lines={tool.diff} />}
      {mayAct() && <Answer tool={tool} onDone={load} />}
      <section class="block">
        <h2>Definition</h2>
        {definition === null ? (
          <p class="soft">The definition cannot be read.</p>
        ) : (
          <JsonText value={definition} />
        )}
      </section>
      <section class="block">
        <h2>Hashes</h2>
        <Fields>
          <Field name="Offered now">
            {tool.offered === null ? 'not offered' : <Hash hash={tool.offered} label="the offered hash" />}
          </Field>
          <Field name="Pinned">
            {tool.pinned === null ? 'not pinned' : <Hash hash={tool.pinned} label="the pinned hash" />}
          </Field>
        </Fields>
      </section>
    </article>
  )
}

function Findings({ findings }: { readonly findings: readonly Finding[] }): JSX.Element {
  return (
    <section class="block">
      <h2>Findings of the scanner</h2>
      <ul class="asks">
        {findings.map(({ code, severity, message }) => (
          <li key={code + message}>
            <code>{line(code)}</code> {line(severity)}: {line(message)}
          </li>
        ))}
      </ul>
    </section>
  )
}

function Diff({ lines }: { readonly lines: readonly string[] }): JSX.Element {
  return (
    <section class="block">
      <h2>What changed since the approval</h2>
      <pre class="json">
        {lines.map((text, i) => (
          <span key={i} class={kindOf(text)}>
            {line(text)}
          </span>
        ))}
      </pre>
    </section>
  )
}

/** Lines of a diff begin with their sign, after an indentation. */
function kindOf(text: string): 'added' | 'removed' | 'same' {
  const sign = text.trimStart().charAt(0)
  return sign === '+' ? 'added' : sign === '-' ? 'removed' : 'same'
}

function Answer({
  tool,
  onDone,
}: {
  readonly tool: ShownTool
  readonly onDone: () => void
}): JSX.Element | null {
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<unknown>()
  const change = async (path: string, body: object, word: string): Promise<void> => {
    setBusy(true)
    setFault(undefined)
    try {
      await ask(path, { method: 'POST', body })
      announce(word)
      onDone()
    } catch (cause) {
      setFault(cause)
    }
    setBusy(false)
  }
  const { tool: name, offered, state } = tool
  const canPin = offered !== null && (state === 'new' || state === 'changed')
  return (
    <section class="block answer" aria-label="Your answer">
      {canPin && (
        <p>
          The approval is for exactly this definition. If the server changes it again, the tool is blocked
          again.
        </p>
      )}
      {fault !== undefined && <Fault fault={fault} />}
      <p class="actions">
        {canPin && (
          <button
            type="button"
            class="button primary"
            disabled={busy}
            onClick={() =>
              void change('/v1/tools/pin', { tool: name, hash: offered }, 'The tool is approved.')
            }
          >
            Approve this definition
          </button>
        )}
        {state !== 'new' && (
          <button
            type="button"
            class="button danger"
            disabled={busy}
            onClick={() => void change('/v1/tools/unpin', { tool: name }, 'The tool is blocked.')}
          >
            Block this tool
          </button>
        )}
      </p>
    </section>
  )
}
