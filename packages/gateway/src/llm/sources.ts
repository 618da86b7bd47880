// What led to the calls of a reply: the words of users, and what tools have said, in the order of the conversation.

import { sha256Hex } from '@tollgate/evidence'
import type { Source } from '@tollgate/kernel'
import type { RequestReading, Result, SaidWords } from './dialect.ts'
import type { Recent } from './recent.ts'
import { ownerOf, type RequestContext } from './request-context.ts'

/** What sources are gathered from. */
interface SourceGathering {
  readonly turns: RequestReading['turns']
  /** Results of calls that no decision of ours has allowed. */
  readonly foreign: ReadonlySet<Result>
  /** A text as it came. */
  readonly restored: (text: string) => string
  /** Words of users that a decision has taken in already. */
  readonly words: Recent<true>
}

/** Gathers the sources of a context: what users have said and is not known yet, and what tools have said beside our calls. */
export function gatherSources(
  context: RequestContext,
  { turns, foreign, restored, words }: SourceGathering,
): void {
  const found: Source[] = []
  for (const turn of turns) {
    if (turn.kind === 'result') {
      if (foreign.has(turn)) for (const text of turn.texts) add(found, 'TOOL_OUTPUT', restored(text))
    } else if (turn.channel === 'TOOL_OUTPUT') add(found, 'TOOL_OUTPUT', restored(turn.text))
    else sayOnce(context, found, restored(turn.text), words)
  }
  context.sources.push(...bounded(found))
}

function sayOnce(context: RequestContext, found: Source[], text: string, words: Recent<true>): void {
  const { tenant, principal, session } = ownerOf(context)
  const name = sha256Hex(JSON.stringify([tenant, principal, session, text.toWellFormed()]))
  if (words.has(name)) return
  context.onDecided.push(() => words.set(name, true))
  add(found, 'USER', text)
}

/** Adds a text; what comes in a row from one side is one. */
function add(found: Source[], source_channel: SaidWords['channel'], said: string): void {
  const text = said.toWellFormed()
  const last = found.at(-1)
  if (last?.source_channel === source_channel)
    found[found.length - 1] = { source_channel, text: `${last.text}\n${text}` }
  else found.push({ source_channel, text })
}

// As many and as much as a call may bring.
const MOST = 256
const MOST_LENGTH = 3 << 20

/**
 * No more than a call may bring along. Where there is more, what tools have said comes first, so that nobody's words count for
 * more than they would have; and words of users are left out rather than what tools have said.
 */
function bounded(found: readonly Source[]): readonly Source[] {
  const length = (all: readonly Source[]): number => all.reduce((sum, { text }) => sum + text.length, 0)
  if (found.length <= MOST && length(found) <= MOST_LENGTH) return found
  const joined = (channel: SaidWords['channel']): Source[] => {
    const texts = found.filter(({ source_channel }) => source_channel === channel).map(({ text }) => text)
    return texts.length === 0 ? [] : [{ source_channel: channel, text: texts.join('\n') }]
  }
  const untrusted = joined('TOOL_OUTPUT')
  const all = [...untrusted, ...joined('USER')]
  return length(all) <= MOST_LENGTH ? all : untrusted
}
