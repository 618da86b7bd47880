// Plans the change of one hook file. Changes nothing.

import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { FileChange } from '../changes/apply.ts'
import { additionEdits, contains, OddForm, without } from '../clients/json-merge.ts'
import { readJsonTree } from '../clients/json-tree.ts'
import { masksIn } from '../clients/masks.ts'
import { memberOf, UnreadableFile, type Node } from '../clients/tree.ts'
import { edited, type Edit } from '../../program/unified-diff.ts'
import { CommandError } from '../../program/terminal.ts'
import type { HookFile } from './agents.ts'
import { withBlock } from './block.ts'

/** A change of one file, with what a person has to see of it. */
export interface PlannedChange {
  readonly change: FileChange
  readonly text: string
  readonly edits: readonly Edit[]
  /** Hide values that may be secrets. */
  readonly masks: readonly Edit[]
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Returns the text of a file; undefined if there is none. @throws CommandError. */
export function readText(file: string): string | undefined {
  try {
    return utf8.decode(readFileSync(file))
  } catch (fault) {
    // Sound: the member is tested before use.
    const { code } = fault as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    const why = code === 'EACCES' || code === 'EPERM' ? 'you may not read it' : 'it is not UTF-8 text'
    throw new CommandError(`\`${file}\` cannot be used: ${why}`, 'correct it, then run this again')
  }
}

/** The place in the journal by which \`undo\` finds our entries again. */
function placeOf({ mark }: HookFile): readonly string[] {
  return ['hooks', mark]
}

/** Plans one file. Undefined if it is as it must be. @throws CommandError if the file has an unusual form. */
export function planHookFile(wanted: HookFile): PlannedChange | undefined {
  const text = readText(wanted.file)
  if (wanted.form === 'block') return planBlock(wanted, text ?? '', text === undefined)
  return wanted.form === 'whole' ? planWhole(wanted, text) : planEntries(wanted, text)
}

function planWhole({ file, content, mark }: HookFile, text: string | undefined): PlannedChange | undefined {
  const after = typeof content === 'string' ? content : ''
  if (text === after) return undefined
  if (text !== undefined && !text.includes(mark)) {
    throw new CommandError(`\`${file}\` is a file of someone else`, 'move it away, then run this again')
  }
  return planned(file, text, after, wholeEdit(text ?? '', after), [], 0o644)
}

function planBlock({ file, content }: HookFile, text: string, isNew: boolean): PlannedChange | undefined {
  const after = typeof content === 'string' ? blockIn(text, content) : undefined
  if (after === undefined) {
    throw new CommandError(
      `\`${file}\` stays as it is: it has tables \`features\` or \`hooks\`, or it cannot be read`,
      'add the hooks by hand: `tollgate setup codex --dry-run` shows those of a user',
    )
  }
  if (after === text) return undefined
  const edits = wholeEdit(text, after)
  return planned(file, isNew ? undefined : text, after, edits, [['block']], 0o644)
}

function blockIn(text: string, block: string): string | undefined {
  try {
    return withBlock(text, block)
  } catch {
    // The caller says what to do by hand.
    return undefined
  }
}

function planEntries(wanted: HookFile, text: string | undefined): PlannedChange | undefined {
  const { file, content } = wanted
  if (typeof content === 'string') throw new Error('a file with entries has no text')
  if (text === undefined || text.trim() === '') {
    const after = `${JSON.stringify(content, null, 2)}\n`
    return planned(file, text, after, wholeEdit(text ?? '', after), [placeOf(wanted)], 0o600)
  }
  try {
    if (isInPlace(text, wanted)) return undefined
    const bare = without(text, 'hooks', wanted.mark)
    const own = additionEdits(bare, content)
    const after = edited(bare, own)
    readJsonTree(after)
    const edits = bare === text ? own : wholeEdit(text, after)
    return planned(file, text, after, edits, [placeOf(wanted)])
  } catch (fault) {
    if (!(fault instanceof OddForm) && !(fault instanceof UnreadableFile)) throw fault
    throw new CommandError(
      `\`${file}\` stays as it is: ${fault.message}`,
      'correct it, then run this again; nothing was changed',
    )
  }
}

/** Whether a file has exactly our entries, in any form and at any place. @throws UnreadableFile. */
export function isInPlace(text: string, { form, content, mark }: HookFile): boolean {
  if (form === 'block') return typeof content === 'string' && text.includes(content)
  if (form === 'whole' || typeof content === 'string') return text === content
  const hooks = memberOf(readJsonTree(text), 'hooks')
  const wanted = content['hooks']
  if (hooks?.kind !== 'table' || typeof wanted !== 'object') return false
  const ours = hooks.members.flatMap(({ key, value }) =>
    value.kind === 'list' && contains(value, mark)
      ? [
          [
            key,
            value.items.filter((item) => contains(item, mark)).map((item) => valueOf(text, item)),
          ] as const,
        ]
      : [],
  )
  return isDeepStrictEqual(Object.fromEntries(ours), wanted) && ours.length === Object.keys(wanted).length
}

function valueOf(text: string, { start, end }: Node): unknown {
  try {
    return JSON.parse(text.slice(start, end))
  } catch {
    // It has comments, so someone has edited it.
    return undefined
  }
}

function planned(
  file: string,
  text: string | undefined,
  after: string,
  edits: readonly Edit[],
  places: FileChange['places'],
  mode?: number,
): PlannedChange {
  const before = text === undefined ? undefined : Buffer.from(text)
  const change = { file, before, after: Buffer.from(after), places, ...(mode !== undefined && { mode }) }
  return { change, text: text ?? '', edits, masks: text === undefined ? [] : masksOf(text) }
}

function masksOf(text: string): readonly Edit[] {
  try {
    return masksIn(readJsonTree(text))
  } catch {
    // A plugin, which has no secrets.
    return []
  }
}

/** One edit for the part that differs, in whole lines. */
function wholeEdit(text: string, after: string): readonly Edit[] {
  let start = 0
  while (start < text.length && text[start] === after[start]) start++
  let end = 0
  const most = Math.min(text.length, after.length) - start
  while (end < most && text.at(-1 - end) === after.at(-1 - end)) end++
  return [{ start, end: text.length - end, text: after.slice(start, after.length - end) }]
}
