// Compares the output of a command with the sample in a document.

import { stripVTControlCharacters } from 'node:util'
import { expect } from 'vitest'
import { blocksIn } from './markdown.ts'

/** The lines that a document shows as the output of a command, without `…` where parts are left out. */
export function sampleOf(file: string, command: string): readonly string[] {
  const [, ...lines] = blocksIn(file).flatMap(({ language, text }) =>
    language === 'text' && text.startsWith(`$ ${command}\n`) ? text.trimEnd().split('\n') : [],
  )
  return lines.filter((line) => !/^\s*…?$/.test(line))
}

/** Expects that the output has the lines of the sample, in order. Numbers, hashes, columns and what `…` leaves out may differ. */
export function expectSample(file: string, command: string, output: string): void {
  const lines = output.split(/\r?\n/).map(normal)
  let from = 0
  for (const line of sampleOf(file, command)) {
    const start = normal(line.replace(/….*/, ''))
    const found = lines.findIndex(
      (each, i) => i >= from && (line.endsWith('…') ? each.startsWith(start) : isSame(each, start)),
    )
    expect(found, `${file} shows \`${line}\`, which is not in:\n${output}`).toBeGreaterThanOrEqual(0)
    from = found + 1
  }
}

/** A finding of a report may be followed by its sentence. */
function isSame(line: string, sample: string): boolean {
  return line === sample || (sample.startsWith('✗') && line.startsWith(`${sample}:`))
}

function normal(line: string): string {
  return stripVTControlCharacters(line)
    .replaceAll(/\b[0-9a-f]{8,64}\b/g, 'HASH')
    .replaceAll(/\d+(?:\.\d+)?/g, '0')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
