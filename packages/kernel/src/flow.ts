// Where the data of a call comes from: which labels it carries, and which values that matter were first named by untrusted
// text.

import type { Json } from '@tollgate/evidence'
import { sortedLabels, type ReadText } from './content.ts'
import type { Target } from './destinations/destination.ts'
import { matchesHost } from './destinations/pattern.ts'
import type { ToolDeclaration } from './policy/parse.ts'
import type { Snapshot } from './snapshot.ts'
import { lookUp, type Origin, type Provenance } from './taint/provenance.ts'

/** What is known of the data in a call. */
export interface Flow {
  /** Labels that it carries, each once, in order. */
  readonly labels: readonly string[]
  /** The worst origin of a value in a sink, and the path of that sink. */
  readonly worst: 'said' | 'output' | 'flagged'
  readonly at: string | undefined
}

/** A text of the call with the worst origin of its values. */
interface Traced {
  readonly path: string
  readonly origin: Origin
  readonly labels: readonly string[]
}

/** Traces the data of a call. */
export function flowOf(texts: readonly ReadText[], args: Json, snapshot: Snapshot): Flow {
  const { tool, policy } = snapshot
  const provenance = snapshot.provenance()
  const traced = provenance ? texts.map((text) => trace(text, provenance)) : []
  const found = texts.flatMap(({ marks }) => marks.map(({ label }) => label))
  const declared = takesOf(tool?.declared, args)
  const session = policy.gates.taint?.follow === 'session' ? (provenance?.labels ?? []) : []
  const labels = [...found, ...declared, ...session, ...traced.flatMap((each) => each.labels)]
  return {
    labels: sortedLabels(labels),
    ...worstOf(traced, tool?.declared?.sinks ?? []),
  }
}

// A text with more values than this is not traced value by value: it may hold whatever the session has read.
const MOST_TRACED = 1024

function trace({ path, values }: ReadText, provenance: Provenance): Traced {
  if (values.length > MOST_TRACED) return { path, ...worstIn(provenance) }
  let origin: Traced['origin'] = 'said'
  const labels: string[] = []
  for (const value of values) {
    const seen = lookUp(provenance, value)
    // What the user or the agent has said first is theirs, whatever output repeats it.
    if (seen.origin === 'said' || seen.origin === 'unknown') continue
    labels.push(...seen.labels)
    if (origin !== 'flagged') origin = isFlagged(seen, provenance) ? 'flagged' : 'output'
  }
  return { path, origin, labels }
}

function worstIn({ labels }: Provenance): Pick<Traced, 'origin' | 'labels'> {
  return { origin: labels.includes('flagged') ? 'flagged' : 'output', labels }
}

/** Once values had to be forgotten, one that may have stood in a flagged part counts as one that did. */
function isFlagged({ origin, labels }: ReturnType<typeof lookUp>, { full }: Provenance): boolean {
  return origin === 'flagged' || (full && labels.includes('flagged'))
}

/** A value that only flagged text has named counts wherever it stands; one from other output only where it has consequences. */
function worstOf(traced: readonly Traced[], sinks: readonly string[]): Pick<Flow, 'worst' | 'at'> {
  const flagged = traced.find(({ origin }) => origin === 'flagged')
  if (flagged) return { worst: 'flagged', at: flagged.path }
  const output = traced.find(({ origin, path }) => origin === 'output' && isSink(path, sinks))
  return output ? { worst: 'output', at: output.path } : { worst: 'said', at: undefined }
}

/** Where no sinks are declared, every argument may be one. */
function isSink(path: string, sinks: readonly string[]): boolean {
  return sinks.length === 0 || sinks.some((sink) => isUnder(path, sink))
}

/** Whether a path is the declared one, or below it. */
function isUnder(path: string, declared: string): boolean {
  const plain = declared.replaceAll('[*]', '')
  return path === plain || path.startsWith(`${plain}.`)
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

/** Whether a call does anything: has a side effect, or asks a stranger's address for something, which then goes out. */
export function acts(snapshot: Pick<Snapshot, 'sideEffect' | 'destinations'>): boolean {
  return snapshot.sideEffect || snapshot.destinations().length > 0
}

// Classes of effect by which data can leave without a destination being named.
const LETS_OUT: ReadonlySet<Snapshot['effect']> = new Set(['send', 'pay', 'execute', 'admin'])
const ANYWHERE: Target = { scheme: '', host: '', port: 0 }

/**
 * Where the data of a call would go. A call through which it leaves goes somewhere, even if no argument that is declared to
 * say so does: a host in some text is no proof that it goes there and nowhere else.
 */
export function targetsOf(snapshot: Pick<Snapshot, 'effect' | 'tool' | 'destinations'>): readonly Target[] {
  const found = snapshot.destinations()
  const staysHere = !LETS_OUT.has(snapshot.effect) || snapshot.tool?.declared?.destinations === 'none'
  return staysHere || found.some(({ from }) => from === 'declared') ? found : [...found, ANYWHERE]
}
