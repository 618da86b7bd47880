// Filters the accessibility tree of Chromium by node: `chrome-devtools-mcp` makes its snapshots from it.

import { asObject, textOf, type Cdp, type CdpResult } from '../cdp.ts'
import type { PageOutline } from './outline.ts'
import { harmlessLabel, permittedText, type Range } from './strings.ts'

/** The ranges of nodes by their ids. */
type Ranges = ReadonlyMap<number, Range>

const READING = 15_000

/** Finds the nodes of an outline in the browser's own tree. Undefined if the document has changed since. */
export async function rangesOf(
  cdp: Cdp,
  session: string,
  frameId: string,
  outline: PageOutline,
): Promise<Ranges | undefined> {
  const { root } = await cdp.send(
    'DOM.getDocument',
    { depth: -1, pierce: true },
    { session, timeout: READING },
  )
  await cdp.send('DOM.disable', {}, { session })
  // The root itself is that of the process. If it is the wrong one, its texts differ.
  const document = findFrame(asObject(root), frameId) ?? asObject(root)
  const ranges = new Map<number, Range>()
  let [next, same] = [0, true]
  const note = (node: CdpResult, range: Range): void => {
    const { backendNodeId } = node
    if (typeof backendNodeId === 'number') ranges.set(backendNodeId, range)
  }
  const visit = (node: CdpResult): void => {
    const { nodeType, nodeValue } = node
    if (nodeType === TEXT) {
      const text = textOf(nodeValue)
      if (!/\S/.test(text)) return
      // Chromium cuts long texts.
      same &&= next < outline.size && outline.textAt(next)?.slice(0, CUT) === text.slice(0, CUT)
      note(node, { from: next, to: next + 1 })
      next++
      return
    }
    if (nodeType !== ELEMENT) return
    same &&= next < outline.size && outline.textAt(next) === undefined
    if (!same) return
    const range = { from: next, to: outline.endOf(next) }
    next++
    note(node, range)
    for (const each of listOf(node['pseudoElements'])) note(each, range)
    for (const shadow of listOf(node['shadowRoots'])) {
      if (shadow['shadowRootType'] === 'open') listOf(shadow['children']).forEach(visit)
      // The inner parts of a field belong to the field.
      else if (shadow['shadowRootType'] === 'user-agent') inner(shadow, range)
    }
    listOf(node['children']).forEach(visit)
  }
  const inner = (node: CdpResult, range: Range): void => {
    note(node, range)
    for (const each of listOf(node['children'])) inner(each, range)
  }
  listOf(document['children']).forEach(visit)
  note(document, { from: 0, to: outline.size })
  return same && next === outline.size ? ranges : undefined
}

const [ELEMENT, TEXT] = [1, 3]
const CUT = 9_000

/** The document of a frame inside of a node. */
function findFrame(node: CdpResult, frameId: string): CdpResult | undefined {
  const { contentDocument, frameId: own } = node
  if (contentDocument !== undefined && own === frameId) return asObject(contentDocument)
  const below = [
    ...(contentDocument === undefined ? [] : [asObject(contentDocument)]),
    ...listOf(node['shadowRoots']),
    ...listOf(node['children']),
  ]
  for (const each of below) {
    const found = findFrame(each, frameId)
    if (found) return found
  }
  return undefined
}

function listOf(value: unknown): readonly CdpResult[] {
  return Array.isArray(value) ? value.map(asObject) : []
}

/** Replaces every text of a tree by its permitted part. Nodes without any that a person cannot see are ignored. */
export function projectTree(result: CdpResult, outline: PageOutline, ranges: Ranges): CdpResult {
  const nodes = listOf(result['nodes'])
  const parents = new Map(nodes.flatMap((node) => listedIds(node).map((child) => [child, node] as const)))
  return { ...result, nodes: nodes.map((node) => projectNode(node, outline, rangeOf(node))) }

  function rangeOf(node: CdpResult): Range | undefined {
    for (let up: CdpResult | undefined = node; up; up = parents.get(textOf(up['nodeId']))) {
      const { backendDOMNodeId: id } = up
      const range = typeof id === 'number' ? ranges.get(id) : undefined
      if (range) return range
    }
    return undefined
  }
}

function listedIds({ childIds }: CdpResult): readonly string[] {
  return Array.isArray(childIds) ? childIds.map(textOf) : []
}

function projectNode(node: CdpResult, outline: PageOutline, range: Range | undefined): CdpResult {
  const { nodeId, ignored, role, chromeRole, childIds, parentId, backendDOMNodeId, frameId } = node
  const kept = { nodeId, role, chromeRole, childIds, parentId, backendDOMNodeId, frameId }
  const own = textOf(asObject(role)['value'])
  const isRoot = range?.from === 0 && own.endsWith('WebArea')
  const permitted = (text: string, as = ''): string => {
    if (!range) return ''
    return isRoot ? harmlessLabel(text, MOST_TITLE) : permittedText(outline, range, text, as)
  }
  const name = valueOf(node['name'], (text) => permitted(text, own))
  const value = valueOf(node['value'], (text) => permitted(text))
  const description = valueOf(node['description'], (text) => permitted(text))
  const isBare = [name, value, description].every((each) => textOf(asObject(each)['value']) === '')
  const had = textOf(asObject(node['name'])['value']) !== ''
  const isText = own === 'StaticText'
  const isAway = !range || !outline.isSeen(range.from)
  if (!isRoot && isBare && (isText ? had : isAway)) return { ...kept, ignored: true }
  return {
    ...kept,
    ignored,
    name,
    value,
    description,
    properties: propertiesOf(node['properties'], (text) => permitted(text)),
  }
}

/** A value of the tree without its sources, which repeat other texts. */
function valueOf(value: unknown, permitted: (text: string) => string): unknown {
  const { type, value: own } = asObject(value)
  if (value === undefined) return undefined
  return { type, value: typeof own === 'string' ? permitted(own) : own }
}

const MOST_ADDRESS = 2_000
const MOST_TITLE = 150

function propertiesOf(properties: unknown, permitted: (text: string) => string): readonly unknown[] {
  return listOf(properties).map(({ name, value }) => {
    const { type, value: own } = asObject(value)
    if (typeof own !== 'string' || type === 'token' || type === 'tristate')
      return { name, value: { type, value: own } }
    return {
      name,
      value: { type, value: name === 'url' ? harmlessLabel(own, MOST_ADDRESS) : permitted(own) },
    }
  })
}
