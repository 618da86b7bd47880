// Converts the calls of a case file to drafts to try and vary.

import type { Json, JsonObject } from '@tollgate/evidence'
import { isObject } from '../../tools/offer.ts'
import type { CallStep, Case, CaseBrowser, CaseCall, CaseFile } from '../case.ts'
import type { Draft, DraftSource } from './draft.ts'
import { member } from './shape.ts'

const MAX_CALLS = 2000

/** The distinct calls of a file. Calls without object arguments are left out. */
export function draftsIn({ cases }: CaseFile): readonly Draft[] {
  const drafts = cases.flatMap((each) =>
    each.steps.flatMap((step) => (step.does === 'call' ? draftOf(each, step) : [])),
  )
  return [...new Map(drafts.map((draft) => [JSON.stringify(draft), draft])).values()].slice(0, MAX_CALLS)
}

function draftOf({ at, tenant }: Case, { call }: CallStep): readonly Draft[] {
  const { tool, args, raw, principal, session, door, context, sources, browser, delegation } = call
  const given = raw === undefined ? args : parsed(raw)
  // A delegation is part of a history, which a single call does not have.
  if (!isObject(given) || delegation !== undefined) return []
  const text = (name: string): string | undefined => textIn(context, name)
  return [
    {
      tool,
      args: given,
      principal,
      session,
      door,
      tenant,
      environment: text('environment'),
      workspace: text('workspace'),
      time: at,
      ...(sources.length > 0 && { sources: sources.map(sourceOf) }),
      ...(browser && { browser: browserOf(browser), posted: browser.postedFor !== undefined }),
    },
  ]
}

function parsed(raw: string): Json | undefined {
  try {
    // Sound: `JSON.parse` returns JSON.
    return JSON.parse(raw) as Json
  } catch {
    return undefined
  }
}

function textIn(value: Json | undefined, name: string): string | undefined {
  const text = member(value, name)
  return typeof text === 'string' ? text : undefined
}

function sourceOf(source: CaseCall['sources'][number]): DraftSource {
  const text = textIn(source, 'text') ?? ''
  return member(source, 'source_channel') === 'USER' ? { user: text } : { output: text }
}

function browserOf({ observation, planner_ref, side_effect, destination }: CaseBrowser): JsonObject {
  return {
    ...(observation !== undefined && { observation }),
    ...(planner_ref !== undefined && { planner_ref }),
    ...(side_effect !== undefined && { side_effect }),
    ...(destination !== undefined && { destination }),
  }
}
