// The hosts under `ask` that a person approved: for the call that runs, and for the pages that it opened, until they are left. A new
// policy ends all of them.

import type { Target } from '@tollgate/kernel/detection'
import type { PageLoad } from './pages.ts'

/** One approval. */
interface HostApproval {
  readonly to: Target
  /** The hash of the policy under which it was given. */
  readonly policy: string
}

/** The approvals of one browser. Only those of the policy in force count. */
interface HostApprovals {
  /** Adds the approval of a running call, until the returned function is called. */
  add(approval: HostApproval): () => void
  /** The destinations of running calls. */
  running(): readonly Target[]
  /** The destination that a page load was approved for; empty if it was not. */
  ofLoad(load: PageLoad): readonly Target[]
  /** A page load of an approved host is approved, and so is one that follows it on the same host and port. */
  readonly loaded: (at: Target, load: PageLoad, before: PageLoad) => void
  left(load: PageLoad): void
}

/** Begins without approvals. `policy` returns the hash of the policy in force. */
export function createApprovals(policy: () => string): HostApprovals {
  const calls = new Set<HostApproval>()
  const loads = new Map<PageLoad, HostApproval>()
  const counting = (all: Iterable<HostApproval | undefined>): readonly HostApproval[] =>
    [...all].flatMap((each) => (each?.policy === policy() ? [each] : []))
  return {
    add(approval) {
      const own = { ...approval }
      calls.add(own)
      return () => void calls.delete(own)
    },
    running: () => counting(calls).map(({ to }) => to),
    ofLoad: (load) => counting([loads.get(load)]).map(({ to }) => to),
    loaded: ({ host, port }, load, before) => {
      const all = counting([...calls, loads.get(before)])
      const found = all.find(({ to }) => to.host === host && to.port === port)
      if (found) loads.set(load, found)
    },
    left: (load) => void loads.delete(load),
  }
}
