// A copy of what was built in which every function says that it is entered. The product itself has no hook for this, and needs
// none: the copy is made from the built files, and runs as they do.

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL, fileURLToPath } from 'node:url'
import ts from 'typescript-api'

const RECORDER = pathToFileURL(fileURLToPath(new URL('recorder.mjs', import.meta.url))).href
// Functions whose first argument is watched: how often the arguments of a call are read or written.
const PARSERS = new Set(['parseJson', 'canonicalize'])

/**
 * Copies the built packages into a folder, instrumented.
 *
 * @throws Error if they are not built.
 */
export function copyInstrumented(root: string, target: string): void {
  for (const name of readdirSync(join(root, 'packages'))) {
    const from = join(root, 'packages', name)
    const to = join(target, 'packages', name)
    // Not every package is one of npm.
    if (!existsSync(join(from, 'package.json'))) continue
    if (!existsSync(join(from, 'dist'))) throw new Error(`\`${name}\` is not built, run \`npm run build\``)
    mkdirSync(to, { recursive: true })
    for (const part of ['package.json', 'bin']) {
      if (existsSync(join(from, part))) cpSync(join(from, part), join(to, part), { recursive: true })
    }
    if (existsSync(join(from, 'node_modules')))
      symlinkSync(join(from, 'node_modules'), join(to, 'node_modules'))
    for (const part of ['src', 'node', 'bin'])
      copyFolder(root, join(from, 'dist', part), join(to, 'dist', part))
    mkdirSync(join(target, 'node_modules/@tollgate'), { recursive: true })
    symlinkSync(to, join(target, 'node_modules/@tollgate', name))
  }
}

function copyFolder(root: string, from: string, to: string): void {
  if (!existsSync(from)) return
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    if (!entry.name.endsWith('.js')) continue
    const file = join(entry.parentPath, entry.name)
    const target = join(to, relative(from, file))
    mkdirSync(dirname(target), { recursive: true })
    const path = relative(root, file).replaceAll('\\', '/').replace('/dist/', '/').replace(/\.js$/, '.ts')
    writeFileSync(target, instrument(path, readFileSync(file, 'utf8')))
  }
}

/** The code of a file, with a call at the beginning of each function; lines stay where they are. */
export function instrument(path: string, text: string): string {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const pieces: { readonly at: number; readonly text: string }[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      // Sound: the body of what is like a function is a block or, for an arrow function, an expression.
      const body = node.body as ts.Node
      const enter = `__enter(${JSON.stringify(path)})${parsing(node)}`
      if (ts.isBlock(body)) pieces.push({ at: body.getStart(source) + 1, text: `${enter};` })
      else pieces.push({ at: body.getStart(source), text: `(${enter},` }, { at: body.end, text: ')' })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  const [, first = ''] = /^(#!.*\n)/.exec(text) ?? []
  const head = `import { enter as __enter, parse as __parse } from ${JSON.stringify(RECORDER)};`
  return first + head + withPieces(text, first.length, pieces)
}

function parsing(node: ts.Node): string {
  if (!ts.isFunctionDeclaration(node) || !PARSERS.has(node.name?.text ?? '')) return ''
  return `;__parse(${JSON.stringify(node.name?.text)}, arguments[0])`
}

/** Puts the pieces in, in the order of their places; at one place the outer function comes first. */
function withPieces(
  text: string,
  start: number,
  pieces: readonly { readonly at: number; readonly text: string }[],
): string {
  const sorted = pieces.toSorted((a, b) => a.at - b.at)
  const parts = sorted.map(
    ({ at, text: piece }, index) => text.slice(sorted[index - 1]?.at ?? start, at) + piece,
  )
  return parts.join('') + text.slice(sorted.at(-1)?.at ?? start)
}
