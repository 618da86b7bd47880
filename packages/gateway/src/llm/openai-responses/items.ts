// Sorts the items of a response: text, calls that the agent runs, and items that the provider ran. All others may be calls and
// are denied.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { Garbled, type Judge, type ProposedCall, type Ruling } from '../dialect.ts'
import { callKind, proposalOf, refOf, releasedCall, type CallKind, type ItemEvents } from './calls.ts'
import { ranKind } from './ran.ts'
import { isTextType, messageOf, denialPart, partOf, refusalItem, thoughtsOf } from './text.ts'

export const MAX_ITEMS: number = 1024
export const MAX_CALLS: number = 256
/** Maximum length of held calls, in characters. */
export const MAX_HELD: number = 4 * 1024 * 1024

/** A finished item and its stream events. */
export interface Finished {
  readonly item: JsonObject
  readonly events: ItemEvents
}

/** An item before judgement: its proposals, and the function that finishes it. */
export interface ItemDraft {
  readonly proposals: readonly ProposedCall[]
  /** Takes one ruling per proposal. */
  finish(rulings: readonly Ruling[]): Finished
}

/** Reads an item. A cut item is never allowed. */
export function draftOf(item: JsonObject, judge: Judge, cut = false): ItemDraft {
  const call = callKind(item)
  if (call) return callDraft(call, item, cut, judge)
  if (isTextType(item['type'])) return wordsDraft(item, judge)
  const ran = cut ? undefined : ranKind(item)
  if (!ran || !judge.ran(ran.tool, item)) return unknownDraft(item, judge)
  return { proposals: [], finish: () => ({ item: ran.item(item) ?? {}, events: ran }) }
}

function callDraft(kind: CallKind, item: JsonObject, cut: boolean, judge: Judge): ItemDraft {
  const proposal = proposalOf(kind, item, cut)
  return {
    proposals: [proposal],
    finish: ([ruling]) => {
      if (!ruling?.allowed) return refused(ruling, judge)
      if (proposal.tool === undefined) throw new Garbled('a call without a name was allowed')
      return { item: releasedCall(kind, item, ruling.args), events: kind }
    },
  }
}

function wordsDraft(item: JsonObject, judge: Judge): ItemDraft {
  if (item['type'] === 'message') return messageDraft(item, judge)
  const words = thoughtsOf(item)
  return words ? { proposals: [], finish: () => ({ item: words, events: {} }) } : unknownDraft(item, judge)
}

function messageDraft(item: JsonObject, judge: Judge): ItemDraft {
  const parts = contentOf(item).map((part) => partOf(part))
  const unknown = parts.filter((part) => part === undefined)
  return {
    proposals: unknown.map(() => UNKNOWN),
    finish: (rulings) => {
      const left = [...rulings]
      return {
        item: messageOf(
          item,
          parts.map((part) => part ?? refusedPart(left.shift(), judge)),
        ),
        events: {},
      }
    },
  }
}

/** The proposal for a part of an unknown kind. It is never allowed. */
export const UNKNOWN: ProposedCall = {
  tool: undefined,
  declared: undefined,
  form: 'json',
  args: {},
  ref: undefined,
}

/** The parts of a message. */
export function contentOf({ content }: JsonObject): readonly Json[] {
  if (content === undefined || content === null) return []
  if (!isList(content)) throw new Garbled('a message whose content is no list')
  return content
}

function unknownDraft(item: JsonObject, judge: Judge): ItemDraft {
  return {
    proposals: [{ ...UNKNOWN, ref: refOf(item) }],
    finish: ([ruling]) => refused(ruling, judge),
  }
}

function refused(ruling: Ruling | undefined, judge: Judge): Finished {
  return { item: refusalItem(refusedPart(ruling, judge), refusalIn(ruling).receipt), events: {} }
}

/** The part that replaces a denied call, or a part of an unknown kind. */
export function refusedPart(ruling: Ruling | undefined, { structured }: Judge): JsonObject {
  return denialPart(refusalIn(ruling).text, structured)
}

function refusalIn(ruling: Ruling | undefined): Ruling & { allowed: false } {
  if (!ruling) throw new Garbled('a call without a ruling')
  if (ruling.allowed) throw new Garbled('an item of an unknown kind was allowed')
  return ruling
}

/** Judges drafts together and returns the finished items, synchronously if nothing must be judged. */
export function settle(
  drafts: readonly ItemDraft[],
  judge: Judge,
): readonly Finished[] | Promise<readonly Finished[]> {
  const proposals = drafts.flatMap((draft) => draft.proposals)
  if (proposals.length === 0) return drafts.map((draft) => draft.finish([]))
  if (proposals.length > MAX_CALLS) throw new Garbled('too many calls')
  return judge.judge(proposals).then((rulings) => {
    const left = [...rulings]
    return drafts.map((draft) => draft.finish(left.splice(0, draft.proposals.length)))
  })
}

/** An item of a reply. @throws Garbled */
export function itemIn(value: Json | undefined): JsonObject {
  if (!isObject(value)) throw new Garbled('an item that is no object')
  return value
}
