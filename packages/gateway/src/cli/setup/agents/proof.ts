// Proves for each agent that setup has changed that its hook is on: the canary is denied, and its receipt is in the ledger.

import { parseReceipt } from '@tollgate/evidence'
import { CANARY } from '../../../hooks/tools.ts'
import type { LedgerView } from '../../../view.ts'
import { journalFolder } from '../changes/journal.ts'
import { statusOf } from '../changes/undo.ts'
import { ownSurroundings } from '../clients/clients.ts'
import { agentFolder, agentOf, type Agent, type HookFile } from './agents.ts'
import { askCanary } from './canary.ts'
import { partsIn } from './install.ts'
import { AGENTS, SCOPES, type AgentId, type SetupScope } from './names.ts'

/** A hook that setup has installed. */
export interface InstalledHook {
  readonly agent: Agent
  readonly scope: SetupScope
  readonly wanted: HookFile
  /** The folder of its script and its token. */
  readonly folder: string
}

/** The hooks that setup has installed for this user, by its journal. */
export function installedHooks(): readonly InstalledHook[] {
  const at = ownSurroundings()
  return AGENTS.flatMap((id) => {
    const changed = statusOf(journalFolder(), id).map(({ file }) => file)
    return SCOPES.flatMap((scope) => {
      const agent = agentOf(id)
      const folder = agentFolder(at, scope, id)
      const wanted = agent.hookFile(at, scope, partsIn(folder, id).entry)
      return wanted && changed.includes(wanted.file) ? [{ agent, scope, wanted, folder }] : []
    })
  })
}

/** The state of a hook, for people and for alerts. */
export interface HookProof {
  readonly agent: AgentId
  /** `on`: proved. `blocking`: it denies every call, without the gateway. `silent`: it lets calls run. */
  readonly is: 'on' | 'blocking' | 'silent'
  readonly why: string
}

/** Asks the canary of one hook, and looks for its receipt. Never throws because of the hook. */
export async function proveHook({ agent, wanted }: InstalledHook, view: LedgerView): Promise<HookProof> {
  const { is, receipt, text } = await askCanary(agent, wanted)
  const of = (state: HookProof['is'], why: string): HookProof => ({ agent: agent.id, is: state, why })
  if (is === 'missing') return of('silent', `\`${wanted.file}\` has no hook of Tollgate`)
  if (is === 'open') return of('silent', 'the hook did not deny a call that must be denied')
  if (receipt === undefined) return of('blocking', reasonIn(text))
  const entry = await view.find(receipt)
  const found = entry && parseReceipt(entry.envelope).receipt
  const isProof = found?.kind === 'decision' && found.verdict === 'DENY' && found.tool === CANARY.tool
  if (isProof) return of('on', `the call was denied; receipt ${receipt.slice(0, 8)}`)
  return of(
    'blocking',
    `the receipt ${receipt.slice(0, 8)} is not in this ledger; the hook asks another gateway`,
  )
}

/** The reason in a denial without a receipt. */
function reasonIn(text: string): string {
  const [, because = 'it names no receipt'] =
    /(?:Blocked, because |was not run \()([^.)]{1,120})/.exec(text) ?? []
  return `it denies every call: ${because}`
}
