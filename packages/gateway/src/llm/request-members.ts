// The members of a request. Each dialect has one table that says what becomes of them; `docs/llm-*.md` is made from it.

import type { JsonObject } from '@tollgate/evidence'
import { notGoverned, Refused } from './dialect.ts'
import { entryOf, isGiven } from './filter.ts'

/** The members of a request by what becomes of them. A member in none of the lists is refused, unless it is configured. */
export interface RequestMembers {
  /** Read and forwarded, by what the gateway does with them. */
  readonly read: Readonly<Record<string, string>>
  /** Forwarded unread. None of them makes the provider run something or keeps a reply for later. */
  readonly forwarded: readonly string[]
  /** Removed, by the reason. A setting cannot change it. */
  readonly dropped: Readonly<Record<string, string>>
  /** Refused. A setting cannot change it. */
  readonly refused: Readonly<Record<string, RefusedMember>>
  /** The next step after an unknown member. */
  readonly remedy: string
}

interface RefusedMember {
  readonly because: string
  readonly instead: string
  /** Details that clients of the dialect evaluate. */
  readonly details?: JsonObject
}

/**
 * Removes the dropped members of a body in place, and returns whether there were any. `further` are configured members.
 * @throws Refused for a refused or an unknown member.
 */
export function takeMembers(
  body: JsonObject,
  members: RequestMembers,
  further: ReadonlySet<string>,
): boolean {
  let changed = false
  for (const [name, value] of Object.entries(body)) {
    const refused = entryOf(members.refused, name)
    if (refused && isGiven(value)) throw refusalOf(name, refused)
    if (Object.hasOwn(members.dropped, name)) changed = Reflect.deleteProperty(body, name)
    else if (!refused && !isKnown(name, members) && !further.has(name)) throw unknown(name, members.remedy)
  }
  return changed
}

function isKnown(name: string, { read, forwarded }: RequestMembers): boolean {
  return Object.hasOwn(read, name) || forwarded.includes(name)
}

function refusalOf(name: string, { because, instead, details }: RefusedMember): Refused {
  const message = `\`${name}\` is not governed, because ${because}; ${instead}`
  return new Refused(400, 'ROUTE_NOT_GOVERNED', message, name, details)
}

const SHOWABLE = /^[\w.-]{1,64}$/

function unknown(name: string, remedy: string): Refused {
  if (!SHOWABLE.test(name)) return notGoverned(`a parameter of the request is unknown; ${remedy}`)
  return notGoverned(`the parameter \`${name}\` is unknown; ${remedy}`, name)
}
