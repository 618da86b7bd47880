// The pages, in the order of the navigation.

import type { JSX } from 'preact'
import type { NavigationEntry } from './parts/shell.tsx'
import { ApprovalsPage } from './pages/approvals.tsx'

interface PageEntry extends NavigationEntry {
  readonly page: (props: { readonly rest: readonly string[] }) => JSX.Element
}

export const PAGES: readonly PageEntry[] = [
  { name: 'approvals', title: 'Approvals', icon: 'approvals', page: ApprovalsPage },
]
