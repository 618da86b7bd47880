// Collects every policy in this repository.

import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parsePolicy } from '@tollgate/kernel/policy'
import { STARTER_POLICY } from '../../src/cli/setup/starter.ts'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))

/** A policy and its source. */
export interface Written {
  readonly from: string
  readonly text: string
}

/** The distinct valid policies of the examples, the documents, the vectors and `tollgate init`. */
export function writtenPolicies(): readonly Written[] {
  const all = [
    { from: 'starter', text: STARTER_POLICY },
    ...filesIn('examples/policies', '.yaml'),
    ...filesIn('docs', '.md').flatMap(({ from, text }) => blocksIn(from, text)),
    ...filesIn('vectors/decisions', '.txtar').flatMap(({ from, text }) => membersIn(from, text)),
  ]
  const first = new Map(all.toReversed().map((each) => [each.text, each]))
  return [...first.values()].filter(({ text }) => parsePolicy(text).ok)
}

function filesIn(folder: string, ending: string): readonly Written[] {
  return readdirSync(`${ROOT}${folder}`)
    .filter((name) => name.endsWith(ending))
    .map((name) => ({ from: `${folder}/${name}`, text: readFileSync(`${ROOT}${folder}/${name}`, 'utf8') }))
}

function blocksIn(from: string, page: string): readonly Written[] {
  return [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text = '']) => ({
    from,
    text: whole(text),
  }))
}

/** The policy of a vector, which leaves out the common parts. */
function membersIn(from: string, archive: string): readonly Written[] {
  return [...archive.matchAll(/^-- policy\.yaml --\n([\s\S]*?)(?=^-- |$(?![\s\S]))/gm)].map(
    ([, text = '']) => ({
      from,
      text: whole(text),
    }),
  )
}

/** A fragment, completed. */
function whole(text: string): string {
  const rules = /^rules:/m.test(text) ? '' : "rules: [{ id: all, allow: '*' }]\n"
  const name = /^name:/m.test(text) ? '' : 'name: fragment\n'
  return /^tollgate:/m.test(text) ? text : `tollgate: 1\n${name}${rules}${text}`
}
