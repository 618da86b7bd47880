// Reads the snapshots that the published servers send to agents: which elements the agent saw, under which references.

import type { AdapterName } from '../servers/adapters.ts'

/** An element as the agent saw it. */
export interface SnapshotElement {
  /** `e3`, `f1e3`, or `1_2`. */
  readonly ref: string
  readonly role: string
  readonly name: string
  /** Left, top, width and height, relative to the window. */
  readonly box?: readonly [number, number, number, number]
  /** Whether it is inside of a frame. */
  readonly inFrame: boolean
  /** The origin of its document, if the snapshot says it. */
  readonly origin?: string
}

// A page cannot fill the memory with elements.
const MAX_ELEMENTS = 20_000
const MAX_NAME = 500
const MAX_TEXT = 8 << 20

/** The elements in a result of a server. The first one of a whole snapshot is in the page itself, that of a part may be in a frame. */
export function readSnapshot(
  adapter: AdapterName,
  result: string,
  isPart = false,
): ReadonlyMap<string, SnapshotElement> {
  return collect(result, adapter === 'playwright' ? playwrightLines(isPart) : devtoolsLines())
}

/** References of one document have one prefix: none, or `f3` after navigations and in frames. */
function playwrightLines(isPart: boolean): (line: string) => SnapshotElement | undefined {
  let main: string | undefined
  return (line) => {
    const element = playwrightLine(line)
    if (!element) return undefined
    const prefix = element.ref.replace(/e\d+$/, '')
    main ??= prefix
    return { ...element, inFrame: isPart || prefix !== main }
  }
}

/** A line such as `- button "Pay" [ref=e3] [box=1,2,30,40]`; in single quotes if YAML needs it. */
function playwrightLine(line: string): Omit<SnapshotElement, 'inFrame'> | undefined {
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

/** Lines such as `uid=1_2 button "Pay" focused`. Quotes in a name are not escaped. A document has its address. */
function devtoolsLines(): (line: string) => SnapshotElement | undefined {
  const documents: { readonly depth: number; readonly origin: string | undefined }[] = []
  return (line) => {
    const [, indent = '', ref, role, rest = ''] = /^( *)uid=(\d+_\d+) (\S+) ?(.*)$/.exec(line) ?? []
    if (ref === undefined || role === undefined) return undefined
    const depth = indent.length
    while ((documents.at(-1)?.depth ?? -1) >= depth) documents.pop()
    if (role === 'RootWebArea') documents.push({ depth, origin: originIn(rest) ?? documents.at(-1)?.origin })
    const name = /^"(.*?)"(?= [\w-]+(?:=| |$)|$)/.exec(rest)?.[1] ?? ''
    const origin = documents.at(-1)?.origin
    const inFrame = documents.length > 1
    return { ref, role, name: name.slice(0, MAX_NAME), inFrame, ...(origin !== undefined && { origin }) }
  }
}

/** The origin of the address at the end of a line; undefined for a document that has the origin of its parent. */
function originIn(rest: string): string | undefined {
  const url = / url="([^" ]*)"(?: [\w-]+(?:="[^"]*")?)*$/.exec(rest)?.[1] ?? ''
  return /^https?:/.test(url) && URL.canParse(url) ? new URL(url).origin : undefined
}

/** Reads each line. A reference that occurs twice is no reference. */
function collect(
  result: string,
  read: (line: string) => SnapshotElement | undefined,
): ReadonlyMap<string, SnapshotElement> {
  const found = new Map<string, SnapshotElement>()
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
