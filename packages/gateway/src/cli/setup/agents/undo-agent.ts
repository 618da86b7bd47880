// `tollgate setup AGENT undo` and `status`.

import type { DataOptions } from '../../commands.ts'
import { moment, shown, table } from '../../program/table.ts'
import type { Terminal } from '../../program/terminal.ts'
import { journalFolder } from '../changes/journal.ts'
import { statusOf, undoAll } from '../changes/undo.ts'
import { ownSurroundings } from '../clients/clients.ts'
import { DONE, STATES } from '../setup-undo.ts'
import { agentFolder, agentOf, type Agent } from './agents.ts'
import { installedToken, partsIn, uninstall } from './install.ts'
import { limitsOf } from './limits.ts'
import { SCOPES, type AgentId } from './names.ts'
import { isInPlace, readText } from './plan.ts'
import { takeOutHooks } from './take-out.ts'
import { versionNote, versionOf } from './version.ts'

/** Returns the command that restores the files of an agent. */
export function undoOf(id: AgentId): (terminal: Terminal) => Promise<number> {
  return (terminal) => Promise.resolve(undo(terminal, agentOf(id)))
}

function undo(terminal: Terminal, { id, name }: Agent): number {
  const undone = undoAll(journalFolder(), id, takeOutHooks)
  const refused = undone.filter(({ how }) => how === 'refused')
  // The token goes last: while a hook is left, its calls are decided or denied.
  const revoke = refused.length > 0 ? [] : removeParts(id)
  terminal.data({ undone, revoke }, () =>
    undone.length === 0
      ? ''
      : table(
          ['RESULT', 'FILE'],
          undone.map(({ file, how }) => [DONE[how], shown(file)]),
        ),
  )
  for (const { file, backup } of refused) {
    terminal.warn(
      `\`${shown(file)}\` cannot be read or written, so it was not restored`,
      `repair it, or copy \`${shown(backup)}\` over it; then run \`tollgate setup ${id} undo\` again`,
    )
  }
  for (const hash of revoke) {
    terminal.say(`revoke the token of \`agent:${id}\`, too: \`tollgate tokens revoke ${hash.slice(0, 12)}\``)
  }
  if (undone.length === 0) terminal.say('nothing to undo: setup changed no file')
  else if (refused.length === 0)
    terminal.say(`restart ${name}; its calls are no longer decided by the gateway`)
  return refused.length === 0 ? 0 : 1
}

/** Removes the scripts and tokens. Returns the hashes of the tokens. */
function removeParts(id: AgentId): readonly string[] {
  const at = ownSurroundings()
  const folders = new Set(SCOPES.map((scope) => agentFolder(at, scope, id)))
  return [...folders].map((folder) => uninstall(id, folder)).filter((hash) => hash !== undefined)
}

/** Returns the command that shows the state of an agent. It returns 1 if a hook is not as setup wrote it. */
export function statusOfAgent(id: AgentId): (terminal: Terminal, options: DataOptions) => Promise<number> {
  return (terminal) => Promise.resolve(showStatus(terminal, agentOf(id)))
}

function showStatus(terminal: Terminal, agent: Agent): number {
  const { id, name } = agent
  const files = statusOf(journalFolder(), id)
  const version = versionOf(agent)
  const faults =
    files.length === 0
      ? []
      : faultsOf(
          agent,
          files.map(({ file }) => file),
        )
  const limits = limitsOf(id, version)
  terminal.data({ agent: id, version: version ?? null, files, faults, limits }, () =>
    files.length === 0
      ? ''
      : table(
          ['STATE', 'SINCE', 'FILE'],
          files.map(({ file, state, at }) => [STATES[state], moment(at), shown(file)]),
        ),
  )
  if (files.length === 0) {
    terminal.say(`setup has changed no file of ${name}; start with \`tollgate setup ${id}\``)
    return 0
  }
  const note = versionNote(agent, version)
  if (note) terminal.warn(...note)
  else terminal.say(`${name} ${version ?? ''} is a version that was tried`)
  for (const { limit, instead } of limits) terminal.say(`not enforced: ${limit}; instead: ${instead}`)
  for (const fault of faults) terminal.warn(fault, `repair it: \`tollgate setup ${id} repair\``)
  return faults.length === 0 ? 0 : 1
}

/** The faults of the hooks in these files. */
export function faultsOf(agent: Agent, changed: readonly string[]): readonly string[] {
  const at = ownSurroundings()
  return SCOPES.flatMap((scope) => {
    const folder = agentFolder(at, scope, agent.id)
    const { entry, connection } = partsIn(folder, agent.id)
    const wanted = agent.hookFile(at, scope, entry)
    if (!wanted || !changed.includes(wanted.file)) return []
    const text = readText(wanted.file)
    const isThere = text !== undefined && isSafely(() => isInPlace(text, wanted))
    return [
      ...(isThere ? [] : [`\`${shown(wanted.file)}\` does not have the hooks`]),
      ...(readText(entry) === undefined ? [`\`${shown(entry)}\` is missing, so every call is denied`] : []),
      ...(installedToken(agent.id, folder) === undefined
        ? [`\`${shown(connection)}\` has no token, so every call is denied`]
        : []),
    ]
  })
}

function isSafely(check: () => boolean): boolean {
  try {
    return check()
  } catch {
    // An unreadable file has no hooks.
    return false
  }
}
