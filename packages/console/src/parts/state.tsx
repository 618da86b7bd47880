// What a page shows when it has nothing, waits or failed.

import type { ComponentChildren, JSX } from 'preact'
import { Refusal } from '../api.ts'
import { messageOf } from '../person.ts'
import { shown } from '../text.ts'

interface EmptyProps {
  readonly title: string
  readonly children?: ComponentChildren
}

/** There is nothing, and why. */
export function Empty({ title, children }: EmptyProps): JSX.Element {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children !== undefined && <p class="soft">{children}</p>}
    </div>
  )
}

/** Bars in place of rows that load. */
export function Loading({ rows = 4 }: { readonly rows?: number }): JSX.Element {
  return (
    <div class="bones" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, i) => (
        <div class="bone" key={i} />
      ))}
    </div>
  )
}

/** What failed, and what to do. */
export function Fault({
  fault,
  again,
}: {
  readonly fault: unknown
  readonly again?: () => void
}): JSX.Element {
  const remedy = fault instanceof Refusal ? fault.remedy : undefined
  return (
    <div class="fault" role="alert">
      <p>
        <strong>{shown(messageOf(fault))}</strong>
      </p>
      {remedy !== undefined && <p>{shown(remedy)}</p>}
      {again && (
        <button type="button" class="button small" onClick={again}>
          Try again
        </button>
      )}
    </div>
  )
}
