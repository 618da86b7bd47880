// `tollgate setup mcp undo` and `status`.

import type { DataOptions } from '../commands.ts'
import { shown, table, moment } from '../program/table.ts'
import type { Terminal } from '../program/terminal.ts'
import { journalFolder } from './changes/journal.ts'
import { statusOf, undoAll, type FileStatus, type TakeOut, type Undone } from './changes/undo.ts'
import { unwrapped } from './clients/edits.ts'

/** The name of this target in the journal. */
export const TARGET = 'mcp'

/** Takes the wrapper off our entries in a file that changed since. */
export const takeOut: TakeOut = (file, bytes, places) => {
  const text = Buffer.from(bytes).toString('utf8')
  if (!Buffer.from(text).equals(bytes)) return undefined
  const result = unwrapped(text, file.endsWith('.toml') ? 'toml' : 'json', places)
  return result === undefined ? undefined : Buffer.from(result)
}

/** The outcomes for people. */
export const DONE: Readonly<Record<Undone['how'], string>> = {
  restored: 'restored, byte for byte',
  removed: 'removed; setup had created it',
  'taken-out': 'unwrapped; your later changes are kept',
  'as-before': 'was as before already',
  kept: 'you changed it since, so it stays as it is',
  missing: 'is gone',
  refused: 'left as it is',
}

/** Restores the files. Returns 1 if one could not be restored. */
export function runSetupUndo(terminal: Terminal): Promise<number> {
  const undone = undoAll(journalFolder(), TARGET, takeOut)
  terminal.data({ undone }, () =>
    undone.length === 0
      ? ''
      : table(
          ['RESULT', 'FILE'],
          undone.map(({ file, how }) => [DONE[how], shown(file)]),
        ),
  )
  const refused = undone.filter(({ how }) => how === 'refused')
  for (const { file, backup } of refused) {
    terminal.warn(
      `\`${shown(file)}\` cannot be read or written, so it was not restored`,
      `repair it, or copy \`${shown(backup)}\` over it; then run \`tollgate setup mcp undo\` again`,
    )
  }
  if (undone.length === 0) terminal.say('nothing to undo: setup changed no file')
  else if (refused.length === 0) sayRest(terminal, undone)
  return Promise.resolve(refused.length === 0 ? 0 : 1)
}

function sayRest(terminal: Terminal, undone: readonly Undone[]): void {
  terminal.say('restart the clients; their servers are no longer behind the gateway')
  if (undone.some(({ file, how }) => how === 'restored' && file.endsWith('policy.yaml'))) {
    terminal.say(
      'the drafted policy is still in force; `tollgate policy activate` puts the earlier one in force',
    )
  }
}

/** The states for people. */
export const STATES: Readonly<Record<FileStatus['state'], string>> = {
  'in-place': 'in place',
  'changed-since': 'changed since; undo keeps your changes',
  'as-before': 'as before setup',
  missing: 'is gone',
  interrupted: 'interrupted',
}

/** Shows the files that setup changed. Returns 1 if a run was interrupted. */
export function runSetupStatus(terminal: Terminal, _options: DataOptions): Promise<number> {
  const files = statusOf(journalFolder(), TARGET)
  terminal.data({ files }, () =>
    files.length === 0
      ? ''
      : table(
          ['STATE', 'SINCE', 'FILE'],
          files.map(({ file, state, at }) => [STATES[state], moment(at), shown(file)]),
        ),
  )
  if (files.length === 0) terminal.say('setup has changed no file; start with `tollgate setup mcp`')
  else terminal.say('each file has a backup beside it, named `FILE.tollgate-backup-TIME`')
  const isHalf = files.some(({ state }) => state === 'interrupted')
  if (isHalf) {
    terminal.warn(
      'a setup was interrupted before it was complete',
      '`tollgate setup mcp` undoes it and starts again; `tollgate setup mcp undo` only undoes it',
    )
  }
  return Promise.resolve(isHalf ? 1 : 0)
}
