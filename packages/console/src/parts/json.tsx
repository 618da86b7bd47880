// JSON as text, complete: people decide on exactly these bytes.

import { isList, isObject, type Json } from '@tollgate/evidence'
import type { JSX } from 'preact'
import { shown } from '../text.ts'

/** A JSON value on several lines, with every character visible. */
export function JsonText({ value }: { readonly value: Json }): JSX.Element {
  return (
    <pre class="json">
      <code>
        <Value value={value} depth={0} />
      </code>
    </pre>
  )
}

interface ValueProps {
  readonly value: Json
  readonly depth: number
}

function Value({ value, depth }: ValueProps): JSX.Element {
  if (isList(value))
    return <Block open="[" close="]" depth={depth} items={value.map((item) => [undefined, item])} />
  if (isObject(value)) {
    return (
      <Block
        open="{"
        close="}"
        depth={depth}
        items={Object.entries(value).map(([name, item]) => [name, item ?? null])}
      />
    )
  }
  const kind = value === null ? 'null' : typeof value
  return <span class={`j-${kind}`}>{visible(JSON.stringify(value))}</span>
}

interface BlockProps {
  readonly open: string
  readonly close: string
  readonly depth: number
  readonly items: readonly (readonly [name: string | undefined, value: Json])[]
}

function Block({ open, close, depth, items }: BlockProps): JSX.Element {
  if (items.length === 0) return <>{open + close}</>
  const indent = '  '.repeat(depth + 1)
  return (
    <>
      {open}
      {items.map(([name, value], i) => (
        <>
          {`\n${indent}`}
          {name !== undefined && (
            <>
              <span class="j-name">{visible(JSON.stringify(name))}</span>
              {': '}
            </>
          )}
          <Value value={value} depth={depth + 1} />
          {i < items.length - 1 && ','}
        </>
      ))}
      {`\n${'  '.repeat(depth)}${close}`}
    </>
  )
}

/** `JSON.stringify` escapes control characters, but not those that turn or hide text. */
function visible(text: string): string {
  return shown(
    text.replaceAll(/[\p{Cf}\p{Zl}\p{Zp}]/gu, (each) => `\\u{${(each.codePointAt(0) ?? 0).toString(16)}}`),
  )
}
