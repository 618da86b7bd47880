// Pairs of a name and a value.

import type { ComponentChildren, JSX } from 'preact'

/** A list of pairs. */
export function Fields({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <dl class="fields">{children}</dl>
}

/** One pair. */
export function Field({
  name,
  children,
}: {
  readonly name: string
  readonly children: ComponentChildren
}): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
