// Who reaches whom by value imports: closures and cycles.

import type { Tree } from './tree.ts'

/** Names, and those that each leads to. */
export type Graph = ReadonlyMap<string, ReadonlySet<string>>

/**
 * The value imports between files, under the names that `label` gives them; files without a name are left out. Imports that
 * are loaded later count unless `atStart` leaves them out.
 */
export function valueGraph(
  { files }: Tree,
  label: (path: string) => string | undefined,
  { atStart = false }: { readonly atStart?: boolean } = {},
): Graph {
  const graph = new Map<string, Set<string>>()
  for (const { path, links } of files.values()) {
    const from = label(path)
    if (from === undefined) continue
    const out = graph.get(from) ?? new Set()
    graph.set(from, out)
    for (const { to, values, lazy } of links) {
      const name = label(to)
      if (values && !(atStart && lazy) && name !== undefined && name !== from) out.add(name)
    }
  }
  return graph
}

/** All that is reached from a name, itself included. */
export function closure(graph: Graph, from: string): readonly string[] {
  const reached = new Set([from])
  for (const name of reached) for (const next of graph.get(name) ?? []) reached.add(next)
  return [...reached].sort()
}

/**
 * Every knot: names that all reach each other, as one shortest round through the first of them, and all the others in it.
 * A graph without knots has no cycles.
 */
export function knots(graph: Graph): readonly Knot[] {
  const reach = new Map([...graph.keys()].map((name) => [name, reachedFrom(graph, name)]))
  const done = new Set<string>()
  return [...graph.keys()].sort().flatMap((name) => {
    if (done.has(name) || reach.get(name)?.has(name) !== true) return []
    const members = [...graph.keys()].filter(
      (other) => reach.get(name)?.has(other) === true && reach.get(other)?.has(name) === true,
    )
    for (const member of members) done.add(member)
    return [{ members: members.sort(), round: shortestRound(graph, name), pairs: pairsIn(graph, members) }]
  })
}

/** Names that all reach each other. */
export interface Knot {
  readonly members: readonly string[]
  /** From a name back to itself. */
  readonly round: readonly string[]
  /** Those that lead to each other directly. */
  readonly pairs: readonly (readonly [string, string])[]
}

function pairsIn(graph: Graph, members: readonly string[]): Knot['pairs'] {
  return members.flatMap((a) =>
    members
      .filter((b) => a < b && graph.get(a)?.has(b) === true && graph.get(b)?.has(a) === true)
      .map((b) => [a, b] as const),
  )
}

/** What is reached by at least one step. */
function reachedFrom(graph: Graph, name: string): ReadonlySet<string> {
  const reached = new Set(graph.get(name))
  for (const each of reached) for (const next of graph.get(each) ?? []) reached.add(next)
  return reached
}

function shortestRound(graph: Graph, start: string): readonly string[] {
  const before = new Map<string, string>()
  const waiting = [start]
  for (const name of waiting) {
    for (const next of graph.get(name) ?? []) {
      if (next === start) return [...pathTo(name, before), start]
      if (before.has(next)) continue
      before.set(next, name)
      waiting.push(next)
    }
  }
  return []
}

function pathTo(name: string, before: ReadonlyMap<string, string>): readonly string[] {
  const last = before.get(name)
  return last === undefined ? [name] : [...pathTo(last, before), name]
}
