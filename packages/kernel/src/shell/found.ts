// Collects the facts of a command while its parts are read.

import type { CommandFacts, FileUse, NamedPath } from './facts.ts'

/** The facts that are lists of texts. */
type ListName = Exclude<keyof CommandFacts, 'paths' | 'privileged' | 'background'>

/** Facts of one command, as far as they are read. */
export interface FactsFound {
  /** Adds an item to a list, once. */
  add(list: ListName, item: string): void
  addPath(path: NamedPath): void
  /** Sets a fact that is true or false. */
  set(fact: 'privileged' | 'background'): void
  /** Counts one step of work on a text of some length. @throws TooMuch if the command needs too many. */
  step(length?: number): void
  facts(): CommandFacts
}

/** The command needs more work than one call is worth. */
export class TooMuch extends Error {}

// Far above any command that a person would read, and read in a few milliseconds.
const MAX_STEPS = 6000
const LENGTH_OF_STEP = 64
const MAX_ITEMS = 512
const MAX_TEXT = 512

/** Starts without any facts. */
export function createFound(): FactsFound {
  const lists = new Map<ListName, Set<string>>()
  const paths = new Map<string, NamedPath>()
  const is = { privileged: false, background: false }
  let steps = 0
  const list = (name: ListName): readonly string[] => [...(lists.get(name) ?? [])]
  return {
    add(name, item) {
      const items = lists.get(name) ?? new Set()
      if (items.size >= MAX_ITEMS) throw new TooMuch()
      items.add(item.slice(0, MAX_TEXT))
      lists.set(name, items)
    },
    addPath(path) {
      if (paths.size >= MAX_ITEMS) throw new TooMuch()
      paths.set(keyOf(path), path)
    },
    set(fact) {
      is[fact] = true
    },
    step(length = 0) {
      steps += 1 + Math.floor(length / LENGTH_OF_STEP)
      if (steps > MAX_STEPS) throw new TooMuch()
    },
    facts: () => ({
      ...is,
      programs: list('programs'),
      paths: [...paths.values()],
      hosts: list('hosts'),
      secrets: list('secrets'),
      installs: list('installs'),
      publishes: list('publishes'),
      pushes: list('pushes'),
      kills: list('kills'),
      runs_other_code: list('runs_other_code'),
      unknown_programs: list('unknown_programs'),
      unknown: list('unknown'),
    }),
  }
}

function keyOf({ use, path, kind }: { use: FileUse; path: string; kind: string }): string {
  return `${use} ${kind} ${path}`
}
