// The pages, in the order of the navigation.

import type { JSX } from 'preact'
import { ApprovalsPage } from './pages/approvals.tsx'
import { CallPage } from './pages/call.tsx'
import { EvidencePage } from './pages/evidence.tsx'
import { FreezePage } from './pages/freeze.tsx'
import { HealthPage } from './pages/health.tsx'
import { LivePage } from './pages/live.tsx'
import { OpenPage } from './pages/open.tsx'
import { PolicyPage } from './pages/policy.tsx'
import { ToolsPage } from './pages/tools.tsx'
import type { NavigationEntry } from './parts/shell.tsx'

interface PageEntry extends NavigationEntry {
  readonly page: (props: { readonly rest: readonly string[] }) => JSX.Element
}

export const PAGES: readonly PageEntry[] = [
  { name: 'live', title: 'Live', icon: 'live', page: LivePage },
  { name: 'approvals', title: 'Approvals', icon: 'approvals', page: ApprovalsPage },
  { name: 'freeze', title: 'Freeze', icon: 'freeze', page: FreezePage },
  { name: 'tools', title: 'Tools', icon: 'tools', page: ToolsPage },
  { name: 'policy', title: 'Policy', icon: 'policy', page: PolicyPage },
  { name: 'evidence', title: 'Evidence', icon: 'evidence', page: EvidencePage },
  { name: 'health', title: 'Health', icon: 'health', page: HealthPage },
  // A part of the live page for the navigation.
  { name: 'call', title: 'Call', of: 'live', icon: 'live', page: CallPage },
  { name: 'open', title: 'Link', of: 'approvals', icon: 'approvals', page: OpenPage },
]
