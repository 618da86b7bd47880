// Reads the snapshots that the published servers send to agents: which elements the agent saw, under which references.

import type { AdapterName } from './adapters.ts'

/** An element as the agent saw it. */
export interface SeenElement {
  /** `e3`, `f1e3` in a frame, or `1_2`. */
  readonly ref: string
  readonly role: string
  readonly name: string
  /** Left, top, width and height, relative to the window. */
  readonly box?: readonly [number, number, number, number]
}

// A page cannot fill the memory with elements.
const MAX_ELEMENTS = 20_000
const MAX_NAME = 500
const MAX_TEXT = 8 << 20

/** The elements in a result of a server. */
export function readSnapshot(adapter: AdapterName, result: string): ReadonlyMap<string, SeenElement> {
  return collect(result, adapter === 'playwright' ? playwrightLine : devtoolsLine)
}

/** A line such as `- button "Pay" [ref=e3] [box=1,2,30,40]`; in single quotes if YAML needs it. */
function playwrightLine(line: string): SeenElement | undefined {
  const [, quote, written = ''] = /^ *- ('?)(.*)$/.exec(line) ?? []
  const body = quote === "'" ? written.replaceAll("''", "'") : written
  const plain = body.replace(QUOTED, '""')
  const ref = /\[ref=((?:f\d+)*e\d+)\]/.exec(plain)?.[1]
  const role = /^[a-z]+/.exec(body)?.[0]
  if (ref === undefined || role === undefined) return undefined
  const box = /\[box=(-?\d+),(-?\d+),(\d+),(\d+)\]/.exec(plain)?.slice(1).map(Number)
  const [x, y, width, height] = box ?? []
  const known = x !== undefined && y !== undefined && width !== undefined && height !== undefined
  return {
    ref,
    role,
    name: nameIn(QUOTED.exec(body)?.[0]),
    ...(known && { box: [x, y, width, height] as const }),
  }
}

/** A line such as `uid=1_2 button "Pay" focused`. Quotes in a name are not escaped. */
function devtoolsLine(line: string): SeenElement | undefined {
  const [, ref, role, rest = ''] = /^ *uid=(\d+_\d+) (\S+) ?(.*)$/.exec(line) ?? []
  if (ref === undefined || role === undefined) return undefined
  const name = /^"(.*?)"(?= [\w-]+(?:=| |$)|$)/.exec(rest)?.[1] ?? ''
  return { ref, role, name: name.slice(0, MAX_NAME) }
}

/** Reads each line. A reference that occurs twice is no reference. */
function collect(
  result: string,
  read: (line: string) => SeenElement | undefined,
): ReadonlyMap<string, SeenElement> {
  const found = new Map<string, SeenElement>()
  const twice = new Set<string>()
  for (const line of result.slice(0, MAX_TEXT).split('\n')) {
    const element = read(line)
    if (!element) continue
    if (found.has(element.ref)) twice.add(element.ref)
    if (found.size >= MAX_ELEMENTS) break
    found.set(element.ref, element)
  }
  for (const ref of twice) found.delete(ref)
  return found
}

// The first text in quotes. A page chooses it and can fill it with brackets.
const QUOTED = /"(?:[^"\\]|\\.)*"/

/** The text of a JSON string; empty if it is none. */
function nameIn(quoted: string | undefined): string {
  try {
    const name: unknown = JSON.parse(quoted ?? '""')
    return typeof name === 'string' ? name.slice(0, MAX_NAME) : ''
  } catch {
    return ''
  }
}
