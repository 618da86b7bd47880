// The frame of all pages, and the page of the current place.

import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { person } from './person.ts'
import { place } from './route.ts'
import { Shell } from './parts/shell.tsx'
import { Empty } from './parts/state.tsx'
import { SignInPage } from './pages/sign-in.tsx'
import { PAGES } from './pages.ts'

/** The whole page. */
export function App(): JSX.Element {
  const { path } = place.value
  const found = PAGES.find(({ name }) => name === (path[0] ?? PAGES[0]?.name))
  useEffect(() => {
    document.title = `${person.value ? (found?.title ?? 'Not found') : 'Sign in'} · Tollgate`
  }, [found, person.value])
  if (person.value === undefined) return <div class="loading" role="status" aria-label="Loading" />
  if (person.value === null) return <SignInPage />
  const Page = found?.page
  return (
    <Shell pages={PAGES} here={found?.of ?? found?.name ?? ''}>
      {Page ? (
        <Page rest={path.slice(1)} />
      ) : (
        <Empty title="There is no such page">Choose another page.</Empty>
      )}
    </Shell>
  )
}
