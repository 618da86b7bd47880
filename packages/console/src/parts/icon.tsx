// Icons: a few strokes each, in the colour of the text beside them.

import type { JSX } from 'preact'

const PATHS = {
  approvals: 'M4 8.5 7 11.5 12 5M2.5 2.5h11v11h-11z',
  live: 'M1.5 8h3l2-5 3 10 2-5h3',
  freeze: 'M8 1.5v13M2.4 4.75l11.2 6.5M13.6 4.75 2.4 11.25',
  tools: 'M2.5 5.5 8 2.5l5.5 3v5L8 13.5l-5.5-3zM2.5 5.5 8 8.5l5.5-3M8 8.5v5',
  policy: 'M4 1.5h5.5L12.5 4.5v10H4zM6.5 7h3.5M6.5 9.5h3.5M6.5 12h2',
  evidence: 'M8 1.5 13 3.5v4c0 3.5-2 5.5-5 7-3-1.5-5-3.5-5-7v-4zM5.8 8l1.6 1.6 3-3.2',
  health: 'M8 13.5 2.8 8.3a3.3 3.3 0 0 1 4.7-4.7l.5.5.5-.5a3.3 3.3 0 0 1 4.7 4.7z',
  out: 'M6.5 2.5h-4v11h4M6 8h8M11 5l3 3-3 3',
  theme: 'M8 2.2a5.8 5.8 0 1 0 0 11.6zM8 2.2a5.8 5.8 0 0 1 0 11.6',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  back: 'M10 3 5 8l5 5',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3l3.5 3.5',
  pause: 'M5 3v10M11 3v10',
  play: 'M4.5 2.8v10.4L13 8z',
} as const

/** The name of an icon. */
export type IconName = keyof typeof PATHS

/** An icon. It is decoration: the text beside it, or the label of its button, says what it means. */
export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  )
}

/** The mark of the product. */
export function Mark(): JSX.Element {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <path d="M5 4h5v24H5zM12 9h15v5H12z" />
    </svg>
  )
}
