// The frame: navigation, who is signed in, and what is frozen.

import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { busy } from '../api.ts'
import { connection, freezes, requests, waiting } from '../news.ts'
import { person, signOut } from '../person.ts'
import { hrefOf, place } from '../route.ts'
import { line } from '../text.ts'
import { nextTheme, theme } from '../theme.ts'
import { Icon, Mark, type IconName } from './icon.tsx'
import { announced } from './words.tsx'

/** A page in the navigation. */
export interface NavigationEntry {
  /** The first part of its path. */
  readonly name: string
  readonly title: string
  readonly icon: IconName
  /** The page that it belongs to. It is then not in the navigation itself. */
  readonly of?: string
}

interface ShellProps {
  readonly pages: readonly NavigationEntry[]
  /** The name of the page. */
  readonly here: string
  readonly children: ComponentChildren
}

/** The frame around a page. */
export function Shell({ pages, here, children }: ShellProps): JSX.Element {
  const main = useRef<HTMLElement>(null)
  const first = useRef(true)
  const path = place.value.path.join('/')
  // Another page is read from its beginning, also by a screen reader.
  useEffect(() => {
    if (!first.current) main.current?.focus({ preventScroll: true })
    first.current = false
  }, [path])
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <header class="side">
        <a class="brand" href={hrefOf([])}>
          <Mark />
          <span>Tollgate</span>
        </a>
        <Navigation pages={pages} here={here} />
        <Account />
      </header>
      <div class="body">
        <Standing />
        <main
          id="main"
          ref={main}
          tabIndex={-1}
          data-ready={requests.value !== undefined && busy.value === 0}
        >
          {children}
        </main>
      </div>
      <div class="hidden" role="status" aria-live="polite">
        {announced}
      </div>
    </div>
  )
}

function Navigation({ pages, here }: Pick<ShellProps, 'pages' | 'here'>): JSX.Element {
  return (
    <nav aria-label="Pages">
      <ul>
        {pages
          .filter(({ of }) => of === undefined)
          .map(({ name, title, icon }) => (
            <li key={name}>
              <a href={hrefOf([name])} aria-current={name === here ? 'page' : undefined}>
                <Icon name={icon} />
                <span>{title}</span>
                {name === 'approvals' && waiting.value > 0 && (
                  <span class="count" aria-label={`${waiting.value} waiting`}>
                    {waiting}
                  </span>
                )}
                {name === 'freeze' && (freezes.value?.length ?? 0) > 0 && (
                  <span class="count cold" aria-label={`${freezes.value?.length ?? 0} in force`}>
                    {freezes.value?.length}
                  </span>
                )}
              </a>
            </li>
          ))}
      </ul>
    </nav>
  )
}

function Account(): JSX.Element {
  const { principal = '', role = '' } = person.value ?? {}
  return (
    <div class="account">
      <p class="who">
        <span class="name" title={line(principal)}>
          {line(principal)}
        </span>
        <span class="soft">{role}</span>
      </p>
      <button
        type="button"
        class="bare"
        onClick={nextTheme}
        aria-label={`Theme: ${theme.value}`}
        title={`Theme: ${theme.value}`}
      >
        <Icon name="theme" />
      </button>
      <button
        type="button"
        class="bare"
        onClick={() => void signOut()}
        aria-label="Sign out"
        title="Sign out"
      >
        <Icon name="out" />
      </button>
    </div>
  )
}

/** What concerns every page: freezes, and a lost connection. */
function Standing(): JSX.Element {
  const all = freezes.value ?? []
  const [frozen] = all.filter(({ scope }) => scope === 'all')
  return (
    <div class="standing" aria-live="polite">
      {connection.value === 'lost' && (
        <p class="banner bad">The connection to the gateway is lost. This page shows what it last knew.</p>
      )}
      {frozen ? (
        <p class="banner cold">
          <Icon name="freeze" />
          <span>
            <strong>Everything is frozen.</strong> The gateway denies every call, by order of{' '}
            {line(frozen.by)}
            {frozen.because === null ? '.' : `: ${line(frozen.because)}`}
          </span>
        </p>
      ) : (
        all.length > 0 && (
          <p class="banner cold">
            <Icon name="freeze" />
            <span>
              <strong>Frozen:</strong>{' '}
              {all
                .slice(0, 3)
                .map(({ scope, target }) => `${scope} ${line(target ?? '')}`)
                .join(', ')}
              {all.length > 3 && ` and ${all.length - 3} more`}
            </span>
          </p>
        )
      )}
    </div>
  )
}
