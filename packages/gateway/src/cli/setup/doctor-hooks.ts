// Checks the hooks of coding agents: their configured entry asks for a call that must be denied, and the receipt must be there.

import { readText } from './agents/plan.ts'
import { installedHooks, proveHook, type HookProof, type InstalledHook } from './agents/proof.ts'
import { codexHome } from './agents/agent-plan.ts'
import { listHooks } from './agents/codex-trust.ts'
import { faultsOf } from './agents/undo-agent.ts'
import { versionNote, versionOf } from './agents/version.ts'
import { ownSurroundings } from './clients/clients.ts'
import { shown } from '../program/table.ts'
import type { LedgerView } from '../../view.ts'
import type { DoctorFinding } from './doctor-checks.ts'

/** Checks every hook that setup has installed. */
export async function checkHooks(view: LedgerView): Promise<readonly DoctorFinding[]> {
  const findings: DoctorFinding[] = []
  for (const hook of installedHooks()) findings.push(...(await checkHook(hook, view)))
  return findings
}

const LEVELS: Readonly<Record<HookProof['is'], DoctorFinding['level']>> = {
  on: 'ok',
  blocking: 'warn',
  silent: 'fail',
}

async function checkHook(hook: InstalledHook, view: LedgerView): Promise<readonly DoctorFinding[]> {
  const { agent, wanted } = hook
  const { id } = agent
  const about = `${id} hook`
  const { is, why } = await proveHook(hook, view)
  const repair = `\`tollgate setup ${id} repair\``
  const steps = {
    on: [],
    blocking: ['start the gateway: `tollgate up`', `or repair the hook: ${repair}`],
    silent: [`repair it: ${repair}`],
  }[is]
  const proof: DoctorFinding = { level: LEVELS[is], about, found: why, remedy: steps }
  const faults = faultsOf(agent, [wanted.file]).map((found): DoctorFinding => ({
    level: 'fail',
    about,
    found,
    remedy: [`repair it: ${repair}`],
  }))
  const note = versionNote(agent, versionOf(agent))
  const version: readonly DoctorFinding[] = note
    ? [{ level: 'warn', about, found: note[0], remedy: note.slice(1) }]
    : []
  return [proof, ...faults, ...(await switchedOff(hook, about)), ...version]
}

/** Settings by which an agent skips its hooks. */
async function switchedOff(
  { agent, wanted }: InstalledHook,
  about: string,
): Promise<readonly DoctorFinding[]> {
  if (agent.id === 'claude-code' && /"disableAllHooks"\s*:\s*true/.test(readText(wanted.file) ?? '')) {
    const found = `\`disableAllHooks\` in \`${shown(wanted.file)}\` switches the hooks off`
    return [{ level: 'fail', about, found, remedy: ['remove it'] }]
  }
  if (agent.id !== 'codex') return []
  const at = ownSurroundings()
  const listed = await listHooks(codexHome(at), at.project)
  if (!listed) return []
  const ours = listed.filter(({ command }) => command.includes(wanted.mark))
  if (ours.length === agent.events.length && ours.every(({ isTrusted }) => isTrusted)) return []
  return [
    {
      level: 'fail',
      about,
      found: `Codex trusts ${ours.filter(({ isTrusted }) => isTrusted).length} of ${agent.events.length} hooks; it skips the others`,
      remedy: ['run `tollgate setup codex repair`', 'or open Codex, type `/hooks`, and trust them'],
    },
  ]
}
