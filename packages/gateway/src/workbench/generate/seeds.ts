// Modifies drafts so that a condition gets a certain result.

import type { Json } from '@tollgate/evidence'
import { ITEM, type Clue, type Way } from '@tollgate/kernel/workbench'
import { isList } from '../../tools/offer.ts'
import { valueAt, withArgument, type Draft } from './draft.ts'
import { STRANGER } from './hosts.ts'
import { LABELLED, RISKY } from './samples.ts'
import { suits } from './times.ts'
import type { World } from './world.ts'

/** The draft changed to follow a way, if that is easy. */
export function along(world: World, draft: Draft, way: Way): Draft {
  const byPath = new Map<string, Clue[]>()
  for (const clue of way) {
    const key = JSON.stringify(clue.path)
    byPath.set(key, [...(byPath.get(key) ?? []), clue])
  }
  // Sizes come last: the value must exist first.
  const groups = [...byPath.values()].sort((a, b) => Number(isSize(a[0])) - Number(isSize(b[0])))
  const placed = groups.reduce((sofar, clues) => place(world, sofar, clues), draft)
  const about = way.filter(({ path }) => path[0] === 'destinations')
  return about.length > 0 ? withAddress(world, placed, about) : placed
}

function isSize(clue: Clue | undefined): boolean {
  return clue?.path.at(-1) === '#'
}

function place(world: World, draft: Draft, clues: readonly Clue[]): Draft {
  const [root = '', ...path] = clues[0]?.path ?? []
  const name = (names: readonly string[]): string | undefined => named(world, names, clues)
  switch (root) {
    case 'args':
      return isSize(clues[0])
        ? sized(world, draft, path.slice(0, -1), clues)
        : argument(world, draft, path, clues)
    case 'principal':
      return { ...draft, principal: name(world.principals) ?? draft.principal }
    case 'session':
      return { ...draft, session: name(world.sessions) ?? draft.session }
    case 'door':
      return {
        ...draft,
        door: world.doors.find((door) => clues.every((clue) => clue.fits(door))) ?? draft.door,
      }
    case 'tenant':
      return { ...draft, tenant: name(world.tenants) ?? draft.tenant }
    case 'environment':
      return { ...draft, environment: name(world.environments) }
    case 'workspace':
      return { ...draft, workspace: name(world.workspaces) }
    case 'tier':
      return { ...draft, principal: ofTier(world, clues) ?? draft.principal }
    case 'time':
      return {
        ...draft,
        time: world.times.find((time) => clues.every((clue) => suits(clue, time))) ?? draft.time,
      }
    case 'labels':
      return labelled(world, draft, clues)
    case 'risk':
      return clues.every((clue) => clue.fits(0)) ? draft : withText(world, draft, RISKY)
    default:
      return draft
  }
}

/** A matching name: one from the policies, otherwise a generated one. */
function named(world: World, names: readonly string[], clues: readonly Clue[]): string | undefined {
  const known = names.find((name) => clues.every((clue) => clue.fits(name)))
  if (known !== undefined) return known
  const made = world.fitting(clues).find((value) => typeof value === 'string' && value !== '')
  return typeof made === 'string' ? made : undefined
}

function ofTier(world: World, clues: readonly Clue[]): string | undefined {
  const fits = (tier: string): boolean => clues.every((clue) => clue.fits(tier))
  return world.principals.find((name) => world.tiersOf(name).some(fits))
}

function argument(world: World, draft: Draft, path: readonly string[], clues: readonly Clue[]): Draft {
  const same = clues.find(({ test }) => test === 'same')
  if (same) return withArgument(draft, path, likeOther(draft, same))
  const before = valueAt(draft.args, path)
  // An existing value is kept if it matches.
  if (before !== undefined && clues.every((clue) => clue.holds !== undefined && clue.fits(before)))
    return draft
  const [value] = world.fitting(clues)
  if (value === undefined && !clues.every((clue) => clue.fits(undefined))) return draft
  return withArgument(draft, path, value)
}

/** The value of the other part of the call, or a different one if it must differ. */
function likeOther(draft: Draft, { value, holds }: Clue): Json {
  // Sound: the value of such a clue is a path.
  const [root = '', ...path] = value as readonly string[]
  const parts: Readonly<Record<string, Json | undefined>> = {
    principal: draft.principal,
    session: draft.session,
    tool: draft.tool,
    tenant: draft.tenant,
    door: draft.door,
    environment: draft.environment,
    workspace: draft.workspace,
  }
  const other = (root === 'args' ? valueAt(draft.args, path) : parts[root]) ?? 'x'
  return holds === false ? `${typeof other === 'string' ? other : 'x'}-other` : other
}

const LARGEST = 2000

function sized(world: World, draft: Draft, path: readonly string[], clues: readonly Clue[]): Draft {
  const now = valueAt(draft.args, path)
  const length = typeof now === 'string' || isList(now) ? now.length : undefined
  if (length !== undefined && clues.every((clue) => clue.holds !== undefined && clue.fits(length)))
    return draft
  const size = world
    .fitting(clues)
    .find((each) => typeof each === 'number' && Number.isInteger(each) && each >= 0)
  if (typeof size !== 'number' || size > LARGEST) return draft
  if (isList(now)) {
    return withArgument(
      draft,
      path,
      Array.from({ length: size }, (_, i) => now[i] ?? now[0] ?? 'x'),
    )
  }
  const text = typeof now === 'string' ? now : ''
  return withArgument(draft, path, text.slice(0, size).padEnd(size, 'x'))
}

/** A call whose address matches clues about destinations. */
function withAddress(world: World, draft: Draft, clues: readonly Clue[]): Draft {
  const { address } = world.shapeOf(draft.tool)
  if (clues.some((clue) => clue.path[1] === '#' && clue.fits(0)))
    return withArgument(draft, address, undefined)
  const about = (field: string): readonly Clue[] =>
    clues.filter(({ path }) => path[1] === ITEM && path[2] === field)
  const texts = (field: string): readonly string[] =>
    world.fitting(about(field)).filter((each) => typeof each === 'string')
  const host = texts('host').find(isHost) ?? STRANGER
  const ports = about('port').length === 0 ? [] : world.fitting(about('port'))
  const port = ports.find((each) => typeof each === 'number' && each > 0 && each < 65_536)
  const schemes = about('scheme').length === 0 ? [] : texts('scheme')
  const scheme = schemes.find((each) => /^[a-z]{2,8}$/.test(each)) ?? 'https'
  return withArgument(draft, address, `${scheme}://${host}${typeof port === 'number' ? `:${port}` : ''}/`)
}

function isHost(text: string): boolean {
  return /^[a-z0-9]([a-z0-9.-]{0,200}[a-z0-9])?$/i.test(text) && text.includes('.')
}

function labelled(world: World, draft: Draft, clues: readonly Clue[]): Draft {
  const wanted = LABELLED.find(({ label }) => clues.every((clue) => clue.holds !== false && clue.fits(label)))
  return wanted ? withText(world, draft, wanted.text) : draft
}

/** The draft with a text in the argument of the tool that takes one. */
export function withText(world: World, draft: Draft, text: string): Draft {
  return withArgument(draft, world.shapeOf(draft.tool).text, text)
}
