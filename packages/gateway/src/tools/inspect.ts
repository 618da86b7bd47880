// Inspects the definitions that servers offer, each alone and all together, and reports what a person should know before
// pinning. Definitions come from servers: one that is too large is reported, not inspected.

import type { Definition } from '@tollgate/kernel/admin'
import { problemsInSchema } from '@tollgate/kernel/detection'
import type { Finding } from './finding.ts'
import { excerpt, escaped, hiddenIn, visible, type Hidden } from './hidden.ts'
import { findingsOfNames } from './inspect-names.ts'
import { hintOf, isUsable, serverPart, serverOf, textOf, toolOf, type Offer } from './offer.ts'
import { mentionsIn } from './mentions.ts'
import { textsIn, type Placed } from './texts.ts'
import { threatNotes } from './threats.ts'
import { effectWordInName } from './effect-name.ts'
import { actionsIn, strongActionsIn } from './effect-text.ts'

/** A finding without the name of the tool. */
type ToolNote = Omit<Finding, 'tool'>

/** The maximum length of a definition, in characters of its canonical text. */
const MAX_LENGTH = 1 << 18
/** The maximum total length of all definitions. */
const MAX_TOTAL = 1 << 23
const MAX_NOTES = 20
const LONG = 2000
const VERY_LONG = 8000

/** All findings in a set of offers, in the order of the offers. Findings about a server have only its name. */
export function inspect(offers: readonly Offer[]): readonly Finding[] {
  const readable = readableOf(offers)
  const seen = new Set<string>()
  const alone = offers.flatMap((offer) => {
    const about = toolOf(offer.name) === undefined ? serverOf(offer.name) : offer.name
    // All features of a server share one definition, which is reported once.
    const key = `${about}\n${offer.definition.hash}`
    if (seen.has(key)) return []
    seen.add(key)
    const notes = readable.has(offer) ? notesOn(offer) : [TOO_LARGE]
    return notes.map((note) => ({ ...note, tool: about }))
  })
  const names = findingsOfNames(offers.map(({ name }) => name))
  return [...alone, ...names, ...mentionsIn(offers.filter((offer) => readable.has(offer)))]
}

/** The offers that are small enough to inspect, each alone and in total. */
function readableOf(offers: readonly Offer[]): ReadonlySet<Offer> {
  const readable = new Set<Offer>()
  let total = 0
  for (const offer of offers) {
    const { length } = offer.definition.text
    if (length > MAX_LENGTH || total + length > MAX_TOTAL) continue
    total += length
    readable.add(offer)
  }
  return readable
}

// Results are cached per definition object, which never changes.
const remembered = new WeakMap<Definition, readonly ToolNote[]>()

function notesOn(offer: Offer): readonly ToolNote[] {
  const before = remembered.get(offer.definition)
  if (before) return before
  const notes = notesIn(offer)
  remembered.set(offer.definition, notes)
  return notes
}

const TOO_LARGE: ToolNote = {
  code: 'DEFINITION_TOO_LARGE',
  severity: 'high',
  message: `it was not inspected: it has more than ${MAX_LENGTH >> 10} KiB, or all definitions more than ${MAX_TOTAL >> 20} MiB`,
}

function notesIn({ name, definition }: Offer): readonly ToolNote[] {
  const tool = toolOf(name)
  const texts = [...textsIn(serverPart(definition))]
  const notes = [
    ...(tool === undefined ? [] : nameNotes(tool)),
    ...TEXT_CHECKS.flatMap((check) => texts.flatMap(check)),
    ...(tool === undefined ? [] : [...schemaNotes(definition), ...hintNotes(tool, definition)]),
  ]
  return notes.slice(0, MAX_NOTES)
}

// The checks for every text.
const TEXT_CHECKS: readonly ((text: Placed) => readonly ToolNote[])[] = [
  hiddenNotes,
  threatNotes,
  lengthNotes,
]

function nameNotes(tool: string): readonly ToolNote[] {
  if (isUsable(tool)) return []
  const message = `the name \`${excerpt(tool)}\` must have at most 128 letters, digits, \`_\`, \`-\`, \`.\` and \`/\`; it cannot be called`
  return [{ code: 'TOOL_NAME_UNUSABLE', severity: 'medium', message }]
}

const MAX_HIDDEN = 10_000

function hiddenNotes({ at, text, isName }: Placed): readonly ToolNote[] {
  const found = hiddenIn(text, MAX_HIDDEN, isName || at === '/name' || at === '/title')
  const [first] = found
  if (!first) return []
  const kinds = [...new Set(found.map(({ what }) => what))].join(', ')
  const count = found.length === 1 ? 'a hidden character' : `${found.length} hidden characters`
  const where = `\`${excerpt(at)}\`${isName ? ' (its name)' : ''}`
  return [
    {
      code: 'HIDDEN_CHARACTERS',
      severity: found.some(({ suspicion }) => suspicion === 'high') ? 'high' : 'medium',
      message: `${where} has ${count} (${kinds}): ${around(text, first)}`,
    },
  ]
}

/** The text around the first hidden character, with all characters visible. */
function around(text: string, { at, point }: Hidden): string {
  const before = visible(text.slice(Math.max(0, at - 20), at).toWellFormed())
  const after = visible(text.slice(at, at + 40).toWellFormed())
  return `${escaped(point)} at character ${at}, in \`${before}${after}\``
}

function lengthNotes({ at, text, isName }: Placed): readonly ToolNote[] {
  if (isName || text.length <= LONG) return []
  const severity = text.length > VERY_LONG ? 'medium' : 'low'
  const message = `\`${excerpt(at)}\` has ${text.length} characters; read all of it before you trust it`
  return [{ code: 'TEXT_VERY_LONG', severity, message }]
}

function schemaNotes({ content }: Definition): readonly ToolNote[] {
  const schema = content['inputSchema']
  const [problem, ...more] = schema === undefined ? [] : problemsInSchema(schema)
  if (problem === undefined) return []
  const rest = more.length === 0 ? '' : ` (and ${more.length} more)`
  const message = `it cannot be pinned: its \`inputSchema\` is not usable: ${excerpt(problem, 200)}${rest}`
  return [{ code: 'SCHEMA_REFUSED', severity: 'medium', message }]
}

function hintNotes(tool: string, definition: Definition): readonly ToolNote[] {
  const listed = serverPart(definition)
  if (hintOf(listed, 'readOnlyHint') !== true) return []
  const name = effectWordInName(tool)
  const inName = name && name.effect !== 'read' && !name.vague ? name : undefined
  const description = textOf(listed, 'description')
  const [inText] = [...actionsIn(description), ...strongActionsIn(description)].filter(
    ({ effect }) => effect !== 'read',
  )
  const word = inName ?? inText
  if (!word) return []
  const where = inName ? 'name' : 'description'
  const message = `the server marks it as read-only, but its ${where} contains \`${excerpt(word.word)}\``
  return [{ code: 'READ_ONLY_DOUBTFUL', severity: inName ? 'medium' : 'low', message }]
}
