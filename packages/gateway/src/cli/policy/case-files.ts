// Finds and loads case files and their policies.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { parsePolicy, type Policy } from '@tollgate/kernel/policy'
import { MAX_CASE_FILE, readCaseFile } from '../../workbench/case-file.ts'
import type { CaseFile } from '../../workbench/case.ts'
import { word } from '../program/table.ts'
import { placed } from './policy-file.ts'

const SUFFIX = '.test.yaml'
const MAX_DEPTH = 16
const MAX_FOUND = 10_000

/** Returns the case files among paths and below directories, in order. @throws if a path does not exist. */
export function findCaseFiles(paths: readonly string[]): readonly string[] {
  const found = paths.flatMap((path) => (statSync(path).isDirectory() ? below(path, MAX_DEPTH) : [path]))
  return [...new Set(found)].slice(0, MAX_FOUND)
}

function below(directory: string, depth: number): readonly string[] {
  if (depth === 0) return []
  const entries = readdirSync(directory, { withFileTypes: true }).toSorted((a, b) =>
    a.name < b.name ? -1 : 1,
  )
  return entries.flatMap((entry) => {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) return isSkipped(entry.name) ? [] : below(path, depth - 1)
    return entry.name.endsWith(SUFFIX) && entry.isFile() ? [path] : []
  })
}

/** Skips dependencies and hidden directories. Links to directories are also skipped, because they can form a cycle. */
function isSkipped(name: string): boolean {
  return name === 'node_modules' || name.startsWith('.')
}

/** A case file with its policy, or the reasons why it cannot run. */
type Loaded =
  | { readonly ok: true; readonly policyFile: string; readonly policy: Policy; readonly file: CaseFile }
  | { readonly ok: false; readonly policyFile: string | undefined; readonly mistakes: readonly string[] }

/** Loads a case file and its policy. Never throws for missing or invalid files. */
export function loadCases(path: string): Loaded {
  const text = readSmall(path)
  if (!text.ok) return { ok: false, policyFile: undefined, mistakes: [text.mistake] }
  const read = readCaseFile(text.text)
  if (!read.ok) {
    const mistakes = parsePolicy(text.text).ok ? [thatIsAPolicy(path)] : placed(path, read.mistakes)
    return { ok: false, policyFile: undefined, mistakes }
  }
  const policyFile = policyOf(path, read.file)
  if (policyFile === undefined) return { ok: false, policyFile, mistakes: [`${path}:1:1: ${NAMELESS}`] }
  const source = readSmall(policyFile)
  if (!source.ok) return { ok: false, policyFile, mistakes: [`${path}: ${source.mistake}`] }
  const parsed = parsePolicy(source.text)
  if (!parsed.ok) return { ok: false, policyFile, mistakes: placed(policyFile, parsed.mistakes) }
  const wrong = read.file.mistakesAbout(parsed.policy)
  if (wrong.length > 0) return { ok: false, policyFile, mistakes: placed(path, wrong) }
  return { ok: true, policyFile, policy: parsed.policy, file: read.file }
}

function thatIsAPolicy(path: string): string {
  const cases = path.replace(/\.ya?ml$/, '') + SUFFIX
  return `\`${path}\` is a policy, not a case file; its cases belong into \`${cases}\`: \`tollgate policy test ${word(cases)}\``
}

const NAMELESS =
  'no policy is named; add `policy: FILE`, or name the file `NAME.test.yaml` next to `NAME.yaml`'

function policyOf(path: string, { policy }: CaseFile): string | undefined {
  const folder = dirname(path)
  if (policy !== undefined) return isAbsolute(policy) ? policy : join(folder, policy)
  if (!path.endsWith(SUFFIX)) return undefined
  return join(folder, `${basename(path).slice(0, -SUFFIX.length)}.yaml`)
}

type Small = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly mistake: string }

// In bytes: a character needs at most three.
const MAX_BYTES = 3 * MAX_CASE_FILE

function readSmall(path: string): Small {
  try {
    const found = statSync(path)
    // A pipe or a device might never end.
    if (!found.isFile()) return { ok: false, mistake: `\`${path}\` is not a file; check the path` }
    if (found.size > MAX_BYTES) {
      return {
        ok: false,
        mistake: `${path}:1:1: the file is longer than ${MAX_CASE_FILE} characters; split it`,
      }
    }
    return { ok: true, text: readFileSync(path, 'utf8') }
  } catch {
    return { ok: false, mistake: `\`${path}\` does not exist or is not readable; check the path` }
  }
}

/** Returns a fingerprint of all files that a run depends on. It changes when one of them changes. */
export function fingerprint(paths: readonly string[]): string {
  return paths.map((path) => `${resolve(path)} ${stateOf(path)}`).join('\n')
}

function stateOf(path: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(path)
    return `${mtimeMs} ${size} ${ino}`
  } catch {
    return 'missing'
  }
}
