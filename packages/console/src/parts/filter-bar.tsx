// The filters of the live page, its search and its pause.

import { DOORS, VERDICTS } from '@tollgate/evidence'
import type { JSX } from 'preact'
import type { CallFilter, Calls } from '../calls.ts'
import { line } from '../text.ts'
import { Icon } from './icon.tsx'

/** The names of the filters in the address. */
export const FILTER_NAMES: readonly (keyof CallFilter)[] = [
  'verdict',
  'door',
  'principal',
  'tool',
  'session',
  'reason',
  'text',
]

interface FilterBarProps {
  readonly calls: Calls
  readonly filter: CallFilter
  readonly onChange: (filter: Readonly<Record<string, string>>) => void
}

/** The bar above the calls. */
export function FilterBar({ calls, filter, onChange }: FilterBarProps): JSX.Element {
  const set = (name: keyof CallFilter, value: string): void => onChange({ ...filter, [name]: value })
  const paused = calls.paused.value
  const exact = (['principal', 'tool', 'session', 'reason'] as const).filter((name) => filter[name] !== '')
  return (
    <div class="filters">
      <label class="search">
        <Icon name="search" />
        <span class="hidden">Search</span>
        <input
          id="live-search"
          type="search"
          placeholder="Search names and reasons"
          value={filter.text}
          onInput={(event) => set('text', event.currentTarget.value)}
        />
      </label>
      <Choice
        label="Verdict"
        value={filter.verdict}
        values={VERDICTS}
        onChange={(value) => set('verdict', value)}
      />
      <Choice label="Door" value={filter.door} values={DOORS} onChange={(value) => set('door', value)} />
      {exact.map((name) => (
        <button
          key={name}
          type="button"
          class="chip filter-chip"
          aria-label={`Remove the filter ${name}`}
          onClick={() => set(name, '')}
        >
          {name}: {line(filter[name])} ×
        </button>
      ))}
      <button
        type="button"
        class="button small pause"
        aria-pressed={paused}
        onClick={() => calls.pause(!paused)}
      >
        <Icon name={paused ? 'play' : 'pause'} />
        {paused ? `Continue${calls.held.value > 0 ? ` (${calls.held.value} new)` : ''}` : 'Pause'}
      </button>
    </div>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly value: string
  readonly values: readonly string[]
  readonly onChange: (value: string) => void
}

function Choice({ label, value, values, onChange }: ChoiceProps): JSX.Element {
  return (
    <select aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      <option value="">{label}: all</option>
      {values.map((each) => (
        <option key={each} value={each}>
          {each}
        </option>
      ))}
    </select>
  )
}
