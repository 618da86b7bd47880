// The elements that calls name: what the agent saw under each reference, and whether it is still there.

import type { TargetState } from '@tollgate/evidence'
import type { GuardedTarget } from '@tollgate/kernel'
import type { AdapterName } from './adapters.ts'
import type { OpenPage } from './pages.ts'
import type { BrowserRequest } from './request.ts'
import { readSnapshot, type SeenElement } from './snapshot.ts'
import type { Watched } from './watch.ts'

/** Finds an element again and compares it with what the agent saw. Rejects if that is impossible. */
export type Bind = (page: OpenPage, seen: SeenElement) => Promise<{ readonly state: TargetState }>

/** The elements of one call. */
export interface FoundTarget {
  readonly shown: GuardedTarget
  /** The elements as the agent saw them; empty if one is unknown. */
  readonly elements: readonly SeenElement[]
}

/** Knows the elements that the agent of one browser saw. */
export interface Targeting {
  /** Compares the elements that a call names with what the agent saw; undefined if it names none. Never rejects. */
  find(
    page: OpenPage,
    references: readonly string[],
    seen: Watched | undefined,
  ): Promise<FoundTarget | undefined>
  /** Learns from a result what the agent now sees of a page. */
  learn(page: OpenPage, result: string, request: BrowserRequest, adapter: AdapterName): void
}

// More elements in one call are not compared one by one.
const MAX_NAMED = 50
const MAX_SHOWN = 500

/** Creates the memory of what the agent of one browser saw. */
export function createTargeting(bind: Bind): Targeting {
  const known = new WeakMap<OpenPage, ReadonlyMap<string, SeenElement>>()
  return {
    async find(page, references, seen) {
      if (references.length === 0) return undefined
      const elements = references.map((each) => known.get(page)?.get(each))
      const all = elements.filter((each) => each !== undefined)
      const whole = all.length === elements.length && all.length <= MAX_NAMED
      const state = whole ? await worstOf(page, all) : 'unresolved'
      return {
        shown: shownOf(state, whole ? all : [], originOf(seen?.url ?? '')),
        elements: whole ? all : [],
      }
    },
    learn(page, result, { elements }, adapter) {
      const found = readSnapshot(adapter, result)
      if (found.size === 0) return
      // The snapshot of a part leaves the rest as it was.
      const isPart = elements.length > 0
      known.set(page, isPart ? new Map([...(known.get(page) ?? []), ...found]) : found)
    },
  }

  async function worstOf(page: OpenPage, elements: readonly SeenElement[]): Promise<TargetState> {
    for (const each of elements) {
      const { state } = await bind(page, each).catch(() => UNRESOLVED)
      if (state !== 'bound') return state
    }
    return 'bound'
  }
}

const UNRESOLVED = { state: 'unresolved' } as const

/** What receipts and approvers get of the elements of a call. */
function shownOf(state: TargetState, elements: readonly SeenElement[], origin: string): GuardedTarget {
  const [only, ...more] = elements
  if (!only || state === 'unresolved') return { state, role: '', name: '', origin }
  if (more.length === 0) {
    return { state, role: only.role, name: only.name, origin, ...(only.box && { box: only.box }) }
  }
  const names = elements.map(({ role, name }) => `${role} ${name}`).join(', ')
  return { state, role: 'elements', name: names.slice(0, MAX_SHOWN), origin }
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : ''
}
