// Filters the snapshots of `@playwright/mcp`, which its script in the page returns as a tree.

import { ORDER_SCRIPT } from '@tollgate/sentinel/page'
import { asObject, textOf, type Cdp, type CdpResult } from '../cdp.ts'
import type { ClientCommand } from '../devtools/screen.ts'
import type { PageOutline } from './outline.ts'
import { harmlessLabel, permittedText, type Range } from './strings.ts'

/** Whether a result is a snapshot. */
export function isSnapshot({ method }: ClientCommand, result: CdpResult): boolean {
  if (method !== 'Runtime.callFunctionOn') return false
  const { o } = asObject(asObject(result['result'])['value'])
  return memberOf(o, 'json') !== undefined && memberOf(o, 'iframeRefs') !== undefined
}

/** The elements of a snapshot by their references. */
interface References {
  readonly check: number
  readonly ranges: ReadonlyMap<string, Range>
  /** The id of the root element of the document. */
  readonly root: unknown
}

// The server's script keeps the elements of its last snapshot. `info` is a map of them by reference.
const FIND = `function () {
${ORDER_SCRIPT}
const last = [...arguments].find((each) => each?._lastAriaSnapshotForQuery)?._lastAriaSnapshotForQuery
const all = tollgateOrder.inOrder(document)
const numbers = new Map(all.map(({ node }, i) => [node, i]))
const ranges = [...(last?.info ?? [])].flatMap(([ref, { element }]) => {
  const from = numbers.get(element)
  return from === undefined ? [] : [[ref, from, all[from].end]]
})
return { check: tollgateOrder.checkOf(all), ranges }
}`
const READING = 15_000

/** Asks the server's own script which elements its references mean. */
export async function referencesOf(cdp: Cdp, { params, session }: ClientCommand): Promise<References> {
  const given = Array.isArray(params['arguments']) ? params['arguments'].map(asObject) : []
  const handles = given.flatMap(({ objectId }) => (typeof objectId === 'string' ? [{ objectId }] : []))
  const call = (functionDeclaration: string, returnByValue: boolean): Promise<CdpResult> =>
    cdp.send(
      'Runtime.callFunctionOn',
      { functionDeclaration, objectId: handles[0]?.objectId, arguments: handles, returnByValue },
      { session, timeout: READING },
    )
  const [found, root] = await Promise.all([call(FIND, true), call('() => document.documentElement', false)])
  const { objectId } = asObject(root['result'])
  const { node } = await cdp.send('DOM.describeNode', { objectId }, { session, timeout: READING })
  await cdp.send('Runtime.releaseObject', { objectId }, { session, timeout: READING })
  const { check, ranges } = asObject(asObject(found['result'])['value'])
  if (typeof check !== 'number' || !Array.isArray(ranges)) throw new Error('the snapshot has no references')
  return { check, root: asObject(node)['backendNodeId'], ranges: new Map(ranges.flatMap(rangeOf)) }
}

function rangeOf(value: unknown): readonly (readonly [string, Range])[] {
  const given: readonly unknown[] = Array.isArray(value) ? value : []
  const [ref, from, to] = given
  if (typeof ref !== 'string' || typeof from !== 'number' || typeof to !== 'number') return []
  return [[ref, { from, to }]]
}

/** Replaces every text of a snapshot by its permitted part. */
export function projectSnapshot(result: CdpResult, outline: PageOutline, { ranges }: References): CdpResult {
  const remote = asObject(result['result'])
  const { o, ...rest } = asObject(remote['value'])
  const members = entriesOf(o).map(({ k, v }) =>
    k === 'json' ? { k, v: list(v, { from: 0, to: outline.size }) } : { k, v },
  )
  return { ...result, result: { ...remote, value: { ...rest, o: members } } }

  function list(value: unknown, above: Range): CdpResult {
    const { a, ...others } = asObject(value)
    const items = (Array.isArray(a) ? a : []).flatMap((each: unknown): readonly unknown[] => {
      if (typeof each !== 'string') return node(each, above)
      const text = permittedText(outline, above, each)
      return text === '' ? [] : [text]
    })
    return { ...others, a: items }
  }

  function node(value: unknown, above: Range): readonly CdpResult[] {
    const { o: own, ...others } = asObject(value)
    const ref = memberOf(own, 'ref')
    const role = textOf(memberOf(own, 'role'))
    const range = typeof ref === 'string' ? ranges.get(ref) : undefined
    const scope = range ?? above
    const kept = entriesOf(own).flatMap(({ k, v }) => {
      if (k === 'children') {
        const inner = list(v, scope)
        return [{ k, v: inner }]
      }
      if (typeof v !== 'string' || PLAIN.has(k)) return [{ k, v }]
      const text =
        k === 'url'
          ? harmlessLabel(v, MOST_ADDRESS)
          : permittedText(outline, scope, v, k === 'name' ? role : '')
      if (text === '') return []
      return [{ k, v: text }]
    })
    // A reference without an element is of a document that has changed: then nothing is known of it.
    const isSeen = range !== undefined && outline.isSeen(range.from)
    return isSeen || kept.some(says) ? [{ ...others, o: kept }] : []
  }
}

/** Whether a member of a node holds a text or a node. */
function says({ k, v }: { readonly k: string; readonly v: unknown }): boolean {
  if (k !== 'children') return typeof v === 'string' && k !== 'url' && !PLAIN.has(k)
  const { a } = asObject(v)
  return Array.isArray(a) && a.length > 0
}

const MOST_ADDRESS = 2_000
/** Words of the server itself. */
const PLAIN = new Set(['role', 'ref', 'cursor'])

function entriesOf(value: unknown): readonly { readonly k: string; readonly v: unknown }[] {
  return Array.isArray(value) ? value.map(asObject).map(({ k, v }) => ({ k: textOf(k), v })) : []
}

function memberOf(value: unknown, name: string): unknown {
  return entriesOf(value).find(({ k }) => k === name)?.v
}
