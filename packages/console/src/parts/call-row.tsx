// One call in a list.

import { memo } from 'preact/compat'
import type { FunctionComponent, JSX } from 'preact'
import type { Call } from '../calls.ts'
import { hrefOf } from '../route.ts'
import { line, moment } from '../text.ts'
import { Chip } from './words.tsx'

interface CallRowProps {
  readonly call: Call
  readonly effect: Call['effect']
  readonly top: number
  readonly height: number
  readonly place: number
  readonly of: number
}

function Row({ call, effect, top, height, place, of }: CallRowProps): JSX.Element {
  const { id, decision } = call
  const { time, verdict, tool, principal, reason_code: reason, door } = decision
  return (
    <li
      style={{ transform: `translateY(${top}px)`, height: `${height}px` }}
      aria-setsize={of}
      aria-posinset={place + 1}
    >
      <a class="call-row" href={hrefOf(['call', id])} data-place={place}>
        <time dateTime={time}>{moment(time)}</time>
        <Chip word={verdict} />
        <span class="name mono" title={line(tool)}>
          {line(tool)}
        </span>
        <span class="name" title={line(principal)}>
          {line(principal)} <span class="soft">{door}</span>
        </span>
        <span class="name soft" title={reason}>
          {line(reason)}
        </span>
        <span class="soft effect">{effect === undefined ? '' : effect.toLowerCase()}</span>
      </a>
    </li>
  )
}

/** A row is drawn again only if something in it changes. */
export const CallRow: FunctionComponent<CallRowProps> = memo(Row)
