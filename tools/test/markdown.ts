// The documents of the project: their code blocks, and the code in their sentences.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './fresh-copy.ts'

/** A fenced block of code. */
export interface CodeBlock {
  readonly file: string
  /** `docs/mcp.md:35`, the line of the fence. */
  readonly place: string
  /** The first word after the fence; empty if there is none. */
  readonly language: string
  readonly text: string
}

/** Every Markdown file of the project. */
export function documents(): readonly string[] {
  const args = ['ls-files', '-co', '--exclude-standard', '*.md']
  return spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' }).stdout.trim().split('\n')
}

/** The code blocks of a file. */
export function blocksIn(file: string): readonly CodeBlock[] {
  const page = readFileSync(join(ROOT, file), 'utf8')
  return [...page.matchAll(/^ *```(\S*)[^\n]*\n([^]*?)^ *```$/gm)].map((found) => {
    const line = page.slice(0, found.index).split('\n').length
    return { file, place: `${file}:${line}`, language: found[1] ?? '', text: found[2] ?? '' }
  })
}

/** The code in the sentences and tables of a file. */
export function spansIn(file: string): readonly string[] {
  const prose = readFileSync(join(ROOT, file), 'utf8').replaceAll(/^ *```[^]*?^ *```$/gm, '')
  return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)
}
