// The measures, each on a tree of a few lines, and the bounds that they hold the real tree to.

import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readTree } from '../check-rooms.ts'
import { knots, valueGraph } from '../house/graph.ts'
import { measureHouse } from '../house/measure.ts'
import { formatHouse } from '../house/print.ts'
import { codeOf, isShipped, type Tree } from '../house/tree.ts'
import { findUnused } from '../house/unused-names.ts'

const KERNEL = 'packages/kernel/src'

/** A tree of the kernel's files, by their names; other paths are taken as they are. */
function tree(files: Readonly<Record<string, string>>): Tree {
  const exports = { '.': { default: './dist/src/index.js' } }
  return codeOf([
    { path: 'packages/kernel/package.json', text: JSON.stringify({ name: '@tollgate/kernel', exports }) },
    ...Object.entries(files).map(([name, text]) => ({
      path: name.includes('packages/') || name.startsWith('tools/') ? name : `${KERNEL}/${name}`,
      text,
    })),
  ])
}

function isManifest(path: string): boolean {
  return path.endsWith('package.json')
}

/** The names that are unused in a file `a.ts` which exports `a`, beside another file. */
function unusedBeside(path: string, text: string): readonly string[] {
  return findUnused(tree({ 'a.ts': 'export const a = 1', [path]: text })).names.map(({ name }) => name)
}

describe('an exported name', () => {
  it('is unused if no other file takes it, and is named with its place', () => {
    const files = tree({ 'a.ts': '\nexport function a() { return a() }', 'b.ts': "import './a.ts'" })
    expect(findUnused(files).names).toEqual([{ path: `${KERNEL}/a.ts`, line: 2, name: 'a' }])
  })

  it.each([
    ['import', "import { a } from './a.ts'"],
    ['import under another name', "import { a as b } from './a.ts'"],
    ['import of all', "import * as all from './a.ts'"],
    ['import as a type', "let b: typeof import('./a.ts').a"],
    ['import later, by its name', "const { a } = await import('./a.ts')"],
    ['import later, as a member', "const b = (await import('./a.ts')).a"],
    ['import later, among others', "const [{ a }] = await Promise.all([import('./a.ts')])"],
    ['import later, whole', "const all = await import('./a.ts')"],
  ])('is used by an %s', (_, text) => {
    expect(unusedBeside('b.ts', text)).toEqual([])
  })

  it.each([
    ['another name', "import { other } from './a.ts'"],
    ['another name later', "const { other } = await import('./a.ts')"],
    ['another name of several', "const [b, { other }] = await Promise.all([0, import('./a.ts')])"],
  ])('is not used by an import of %s', (_, text) => {
    expect(unusedBeside('b.ts', text)).toEqual(['a'])
  })

  it('is public if an entry point passes it on, and may be passed on without use elsewhere', () => {
    expect(unusedBeside('index.ts', "export { a } from './a.ts'")).toEqual([])
    expect(unusedBeside('b.ts', "export { a as b } from './a.ts'")).toEqual(['b'])
  })

  it('is told apart if only tests take it', () => {
    const test = { 'packages/kernel/test/a.test.ts': "import { a } from '../src/a.ts'" }
    const { names, onlyTests } = findUnused(tree({ 'a.ts': 'export const a = 1', ...test }))
    expect([names, onlyTests.map(({ name }) => name)]).toEqual([[], ['a']])
  })
})

describe('a cycle', () => {
  const names = (path: string): string => path.slice(KERNEL.length + 1, -3)

  it('is found by imports of values', () => {
    const files = tree({ 'a.ts': "import { b } from './b.ts'", 'b.ts': "import { a } from './a.ts'" })
    expect(knots(valueGraph(files, names))).toMatchObject([{ members: ['a', 'b'], round: ['a', 'b', 'a'] }])
  })

  it.each([
    ['of types', "import type { A } from './a.ts'"],
    ['of nothing but types', "import { type A, type B } from './a.ts'"],
  ])('is not made by an import %s', (_, text) => {
    const files = tree({ 'a.ts': "import { b } from './b.ts'", 'b.ts': text })
    expect(knots(valueGraph(files, names))).toEqual([])
  })

  it('is told apart if part of it is loaded later', () => {
    const files = tree({ 'a.ts': "import { b } from './b.ts'", 'b.ts': "await import('./a.ts')" })
    expect(knots(valueGraph(files, names))).toHaveLength(1)
    expect(knots(valueGraph(files, names, { atStart: true }))).toEqual([])
  })
})

describe('the house', () => {
  const files = {
    'index.ts': "export { enforce } from './road/enforce.ts'",
    'road/enforce.ts':
      "import { ladder } from '../gates/index.ts'\nexport const enforce = ladder\ninterface Call {}\n",
    'gates/index.ts': "import { freeze } from './freeze.ts'\nexport const ladder = [freeze]\ntype Call = 1\n",
    'gates/freeze.ts': 'export const freeze = 1\n',
  }

  it('has a trusted core without the gates themselves, and beside it one with them', () => {
    const { core, coreWithGates } = measureHouse(tree(files))
    expect(core).toMatchObject({ files: 2, lines: 6, rooms: { 'kernel/gates': { files: 1 } } })
    expect(coreWithGates).toMatchObject({ files: 3, lines: 7 })
  })

  it('counts public names, and type names that a package has twice', () => {
    const { surface, typeNames } = measureHouse(tree(files))
    expect(surface).toEqual({ '@tollgate/kernel': ['enforce'] })
    expect(typeNames).toMatchObject({ all: 1, shared: [{ name: 'Call', package: 'kernel' }] })
  })

  it('names what is long', () => {
    const body = 'a()\n'.repeat(360)
    const { long } = measureHouse(tree({ 'a.ts': `function b() {\n${body}}\n` }))
    expect(long.files).toEqual([{ path: `${KERNEL}/a.ts`, lines: 362 }])
    expect(long.functions).toMatchObject([{ line: 1, name: 'b', lines: 362 }])
  })

  it('can be measured as it is, and has every room with code', () => {
    const root = fileURLToPath(new URL('../..', import.meta.url))
    const house = measureHouse(
      codeOf(readTree(root).filter(({ path }) => isShipped(path) || isManifest(path))),
    )
    expect(Object.keys(house.rooms)).toEqual(
      expect.arrayContaining(['evidence', 'kernel/road', 'kernel/gates', 'gateway/store', 'gateway/cli/mcp']),
    )
    expect(house.core.files).toBeGreaterThan(10)
    expect(house.core.lines).toBeLessThanOrEqual(6000)
    expect(house.surface['@tollgate/kernel']?.length).toBeLessThanOrEqual(90)
    expect(house.cycles).toMatchObject({ files: [], rooms: [] })
    expect(house.typeNames.shared).toEqual([])
    expect(house.core.lines).toBeLessThan(house.coreWithGates.lines)
    const text = formatHouse({ house, ways: undefined, lastTest: undefined }, false)
    expect(text).toContain('the last `npm test`\n  not measured')
  })
})
