// The address of the page. Each place of the console has one, so that it can be kept and sent.

import { signal, type Signal } from '@preact/signals'

const BASE = '/console'

/** A place in the console. */
interface Place {
  /** The path after `/console`, without slashes at its ends. */
  readonly path: readonly string[]
  readonly query: URLSearchParams
}

/** The place that is shown. */
export const place: Signal<Place> = signal(read())

/** The address of a place. */
export function hrefOf(
  path: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value]],
  )
  const text = given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
  return [BASE, ...path.map(encodeURIComponent)].join('/') + text
}

/** Goes to an address of the console. */
export function go(href: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', href)
  place.value = read()
}

/** Follows links of the console without loading the page again. */
export function watchLinks(): void {
  addEventListener('popstate', () => (place.value = read()))
  document.addEventListener('click', (event) => {
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (
      !plain ||
      event.defaultPrevented ||
      !link?.href ||
      link.target !== '' ||
      link.hasAttribute('download')
    )
      return
    const { origin, pathname, search } = new URL(link.href)
    if (origin !== location.origin || !(pathname === BASE || pathname.startsWith(`${BASE}/`))) return
    event.preventDefault()
    go(pathname + search)
  })
}

function read(): Place {
  const parts = location.pathname.slice(BASE.length).split('/')
  const path = parts.filter((part) => part !== '').map(decoded)
  return { path, query: new URLSearchParams(location.search) }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
