// Collects the sources of a reply's calls: texts of users and of tools, in the order of the conversation.

import { sha256Hex } from '@tollgate/evidence'
import type { Source } from '@tollgate/kernel'
import type { Recent } from '../recent.ts'
import type { RequestReading, Result, TurnText } from './dialect.ts'
import { ownerOf, type RequestContext } from './request-context.ts'

interface SourceGathering {
  readonly turns: RequestReading['turns']
  /** Results of calls that this gateway has not allowed. */
  readonly foreign: ReadonlySet<Result>
  /** Returns the original of a text. */
  readonly restored: (text: string) => string
  /** Texts of users that a decision has already taken in. */
  readonly words: Recent<true>
}

/** Adds the sources of a context: new texts of users, and tool output that belongs to none of our calls. */
export function gatherSources(
  context: RequestContext,
  { turns, foreign, restored, words }: SourceGathering,
): void {
  const found: Source[] = []
  for (const turn of turns) {
    if (turn.kind === 'result') {
      if (foreign.has(turn)) for (const text of turn.texts) add(found, 'TOOL_OUTPUT', restored(text))
    } else if (turn.channel === 'TOOL_OUTPUT') add(found, 'TOOL_OUTPUT', restored(turn.text))
    else addOnce(context, found, restored(turn.text), words)
  }
  context.sources.push(...bounded(found))
}

function addOnce(context: RequestContext, found: Source[], text: string, words: Recent<true>): void {
  const { tenant, principal, session } = ownerOf(context)
  const name = sha256Hex(JSON.stringify([tenant, principal, session, text.toWellFormed()]))
  if (words.has(name)) return
  context.onDecided.push(() => words.set(name, true))
  add(found, 'USER', text)
}

/** Adds a text. Consecutive texts of one channel are joined. */
function add(found: Source[], source_channel: TurnText['channel'], given: string): void {
  const text = given.toWellFormed()
  const last = found.at(-1)
  if (last?.source_channel === source_channel)
    found[found.length - 1] = { source_channel, text: `${last.text}\n${text}` }
  else found.push({ source_channel, text })
}

// The limits of one call.
const MAX_SOURCES = 256
const MAX_LENGTH = 3 << 20

/**
 * Limits the sources to what one call may bring. Then tool output comes first, so that no text gains trust, and texts of users
 * are dropped before tool output.
 */
function bounded(found: readonly Source[]): readonly Source[] {
  const length = (all: readonly Source[]): number => all.reduce((sum, { text }) => sum + text.length, 0)
  if (found.length <= MAX_SOURCES && length(found) <= MAX_LENGTH) return found
  const joined = (channel: TurnText['channel']): Source[] => {
    const texts = found.filter(({ source_channel }) => source_channel === channel).map(({ text }) => text)
    return texts.length === 0 ? [] : [{ source_channel: channel, text: texts.join('\n') }]
  }
  const untrusted = joined('TOOL_OUTPUT')
  const all = [...untrusted, ...joined('USER')]
  return length(all) <= MAX_LENGTH ? all : untrusted
}
