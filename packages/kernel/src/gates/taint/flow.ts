// Traces the data of a call: its labels, and the values that untrusted text introduced.

import type { Json } from '@tollgate/evidence'
import type { ReadText } from '../texts.ts'
import { sortedLabels } from '../../text/labels.ts'
import type { Intent } from '../../road/capture.ts'
import { matchesHost } from '../../destinations/pattern.ts'
import type { ToolDeclaration } from '../../policy/parse/parse.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import { isSink } from './sinks.ts'
import { spelledOut } from './spelled.ts'
import { lookUp, worstIn, type Origin, type Provenance } from './provenance.ts'
import type { Value } from '../../text/values.ts'
import { targetsOf } from '../../destinations/targets.ts'

/** The labels and origins of the data in a call. */
export interface Flow {
  /** The labels of the data, sorted and without duplicates. */
  readonly labels: readonly string[]
  /** The arguments whose values come from a tool and not from the user. */
  readonly from: Untrusted
  /** The path of an argument whose words come from a flagged passage and not from the user; empty if it is the tool's name. */
  readonly spelled: string | undefined
}

/** The path of the first argument with a value of each kind. */
interface Untrusted {
  /** Any tool output, at a sink. */
  readonly output: string | undefined
  /** Text that asks for something; at a sink also running text. */
  readonly ordered: string | undefined
  /** Only flagged passages. */
  readonly flagged: string | undefined
}

/** A text of the call with the origins of its values from tools. */
interface Traced {
  readonly path: string
  readonly origins: ReadonlySet<Origin>
  readonly labels: readonly string[]
}

/** Traces the data of a call. */
export function flowOf({ tool: name, args }: Pick<Intent, 'tool' | 'args'>, snapshot: Snapshot): Flow {
  const texts = snapshot.texts()
  const { tool, policy } = snapshot
  const provenance = snapshot.provenance()
  const sinks = tool?.declared?.sinks ?? []
  const traced = provenance ? texts.map((text) => trace(text, provenance)) : []
  const found = texts.flatMap(({ marks }) => marks.map(({ label }) => label))
  const declared = takesOf(tool?.declared, args)
  const session = policy.gates.taint?.follow === 'session' ? (provenance?.labels ?? []) : []
  const labels = [...found, ...declared, ...session, ...traced.flatMap((each) => each.labels)]
  return {
    labels: sortedLabels(labels),
    from: untrustedIn(traced, sinks),
    spelled: provenance && spelledOut(texts, { name, sinks }, provenance),
  }
}

// A text with more values is not traced value by value. It counts as containing everything the session has read.
const MAX_TRACED = 1024

function trace({ path, values }: ReadText, provenance: Provenance): Traced {
  if (values.length > MAX_TRACED) return { path, ...anythingOf(provenance) }
  const origins = new Set<Origin>()
  const labels: string[] = []
  for (const value of values) {
    const seen = lookUp(provenance, value)
    // A value that the user or the agent introduced stays theirs, even if output repeats it.
    if (seen.origin === 'said' || seen.origin === 'unknown') continue
    labels.push(...seen.labels)
    origins.add(isFlagged(seen, provenance) ? 'flagged' : originOf(value, seen.origin))
  }
  return { path, origins, labels }
}

/** Running text often mentions the numbers of records, so these count like separate values. */
function originOf({ kind }: Value, origin: Origin): Origin {
  return kind === 'id' && origin === 'prose' ? 'output' : origin
}

function anythingOf(provenance: Provenance): Pick<Traced, 'origins' | 'labels'> {
  const { labels } = provenance
  const flagged = labels.includes('flagged') ? (['flagged'] as const) : []
  return { origins: new Set<Origin>([worstIn(provenance), ...flagged]), labels }
}

/** Once values had to be forgotten, a value that may come from a flagged passage counts as flagged. */
function isFlagged({ origin, labels }: ReturnType<typeof lookUp>, { full }: Provenance): boolean {
  return origin === 'flagged' || (full && labels.includes('flagged'))
}

/** Flagged and ordered values count in every argument; other tool output counts only at sinks. */
function untrustedIn(traced: readonly Traced[], sinks: readonly string[]): Untrusted {
  const pathOf = (matches: (origins: ReadonlySet<Origin>, atSink: boolean) => boolean): string | undefined =>
    traced.find(({ path, origins }) => matches(origins, isSink(path, sinks)))?.path
  return {
    output: pathOf((origins, atSink) => origins.size > 0 && atSink),
    ordered: pathOf((origins, atSink) => origins.has('ordered') || (origins.has('prose') && atSink)),
    flagged: pathOf((origins) => origins.has('flagged')),
  }
}

function takesOf(declared: ToolDeclaration | undefined, args: Json): readonly string[] {
  const takes = declared?.takes ?? []
  return takes.flatMap(({ path, labels }) => (path === '*' || isPresent(args, path) ? labels : []))
}

function isPresent(args: Json, path: string): boolean {
  let at: readonly Json[] = [args]
  for (const name of path.replaceAll('[*]', '').split('.')) at = at.flatMap((value) => below(value, name))
  return at.length > 0
}

function below(value: Json, name: string): readonly Json[] {
  if (typeof value !== 'object' || value === null) return []
  // Sound: `Array.isArray` does not narrow a readonly array.
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap((item) => below(item, name))
  // Sound: what is neither a list nor a scalar is an object.
  const member = Object.hasOwn(value, name) ? (value as Readonly<Record<string, Json>>)[name] : undefined
  return member === undefined || member === null ? [] : [member]
}

/** Whether a call sends data to a destination that is not internal. */
export function leaves(snapshot: Leaving): boolean {
  const internal = snapshot.policy.gates.taint?.internal ?? []
  return targetsOf(snapshot).some((each) => !internal.some((pattern) => matchesHost(pattern, each)))
}

type Leaving = Pick<Snapshot, 'effect' | 'tool' | 'policy' | 'destinations'>
