// Where the data of a call comes from: which labels it carries, and which values that matter were first named by untrusted
// text.

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

/** What is known of the data in a call. */
export interface Flow {
  /** Labels that it carries, each once, in order. */
  readonly labels: readonly string[]
  /** Where a value stands, the first of them, that comes from a tool and not from the user. */
  readonly from: Untrusted
  /** What a flagged passage spells out, word for word, and nobody has said: the path of an argument, or empty for the tool. */
  readonly spelled: string | undefined
}

/** The path of the first argument with a value of each kind. */
interface Untrusted {
  /** In a sink, whatever else is known of the value. */
  readonly output: string | undefined
  /** Where something was asked for, or, in a sink, from running text. */
  readonly ordered: string | undefined
  /** From flagged passages alone. */
  readonly flagged: string | undefined
}

/** A text of the call with the origins of its values that come from tools. */
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

// A text with more values than this is not traced value by value: it may hold whatever the session has read.
const MOST_TRACED = 1024

function trace({ path, values }: ReadText, provenance: Provenance): Traced {
  if (values.length > MOST_TRACED) return { path, ...anythingOf(provenance) }
  const origins = new Set<Origin>()
  const labels: string[] = []
  for (const value of values) {
    const seen = lookUp(provenance, value)
    // What the user or the agent has said first is theirs, whatever output repeats it.
    if (seen.origin === 'said' || seen.origin === 'unknown') continue
    labels.push(...seen.labels)
    origins.add(isFlagged(seen, provenance) ? 'flagged' : originOf(value, seen.origin))
  }
  return { path, origins, labels }
}

/** Records are spoken of by their numbers in all running text; that is no reason to doubt one. */
function originOf({ kind }: Value, origin: Origin): Origin {
  return kind === 'id' && origin === 'prose' ? 'output' : origin
}

function anythingOf(provenance: Provenance): Pick<Traced, 'origins' | 'labels'> {
  const { labels } = provenance
  const flagged = labels.includes('flagged') ? (['flagged'] as const) : []
  return { origins: new Set<Origin>([worstIn(provenance), ...flagged]), labels }
}

/** Once values had to be forgotten, one that may have stood in a flagged part counts as one that did. */
function isFlagged({ origin, labels }: ReturnType<typeof lookUp>, { full }: Provenance): boolean {
  return origin === 'flagged' || (full && labels.includes('flagged'))
}

/** What was asked for, or flagged, counts wherever it stands; what a tool only said, where it has consequences. */
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

/** Whether there is anything at a path. */
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

/** Whether data leaves through a call: to anywhere that is not internal. */
export function leaves(snapshot: Leaving): boolean {
  const internal = snapshot.policy.gates.taint?.internal ?? []
  return targetsOf(snapshot).some((each) => !internal.some((pattern) => matchesHost(pattern, each)))
}

type Leaving = Pick<Snapshot, 'effect' | 'tool' | 'policy' | 'destinations'>
