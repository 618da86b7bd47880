// Limits an output to the part that the agent may see, in the shape that the tool gave it: clients ignore a replacement of another shape.

import { isList, isObject, type Json } from '@tollgate/evidence'
import { policyOf, UNINSPECTED, type Inspection, type Kernel } from '@tollgate/kernel'
import { inspect } from '@tollgate/kernel/detection'
import type { HookAnswer } from './event.ts'

/** Inspects an output that belongs to no decision. Never throws: what cannot be inspected is withheld. */
export function inspected(kernel: Kernel, tenant: string, tool: string, output: Json): Inspection {
  const policy = policyOf(kernel, tenant)
  const declared = kernel.catalogue.findNamed(tool, policy)?.declared
  try {
    return inspect(output, { policy, returns: declared?.returns ?? [] })
  } catch {
    // The error may hold output, so it is dropped.
    return UNINSPECTED
  }
}

/** The answer that lets the agent see what the inspection leaves. */
export function forwardedFrom(inspection: Inspection, output: Json): HookAnswer {
  const { delivery, content, findings, labels } = inspection
  if (delivery === 'full') return { kind: 'pass' }
  if (delivery === 'redacted' && content !== undefined)
    return { kind: 'replace', output: content, text: textsIn(content).join('\n') }
  const found = [...findings, ...labels.map((label) => `label ${label}`)].join(', ')
  const note = `[Tollgate] The policy withholds the result of this tool call (${found}). The call itself was done; do not repeat it.`
  return { kind: 'replace', output: emptied(output, note), text: note }
}

/** The same shape without its texts. The first text is the note. */
function emptied(output: Json, note: string): Json {
  const notes = [note]
  const empty = (value: Json): Json => {
    if (typeof value === 'string') return notes.pop() ?? ''
    if (isList(value)) return value.map(empty)
    if (!isObject(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, isWord(name, member) ? member : empty(member)]),
    )
  }
  const made = empty(output)
  return notes.length === 0 ? made : note
}

/** Members that clients read as words of their own format. */
function isWord(name: string, value: Json): boolean {
  return (
    (name === 'type' || name === 'resultType') && typeof value === 'string' && /^[a-z_]{1,20}$/.test(value)
  )
}

/** All texts of a value, in order. */
function textsIn(value: Json): readonly string[] {
  if (typeof value === 'string') return [value]
  if (isList(value)) return value.flatMap(textsIn)
  return isObject(value)
    ? Object.entries(value).flatMap(([name, member]) => (isWord(name, member) ? [] : textsIn(member)))
    : []
}
