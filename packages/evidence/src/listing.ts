// The members of a pack against its manifest: each one listed, unchanged, and none missing.

import { sha256Hex } from './hash.ts'
import { bundles, indexName, type ListedMember, type Manifest } from './manifest.ts'
import type { Findings } from './report.ts'
import type { Member } from './tar.ts'

/** Compares members with the manifest as they come; those that come before it, once it is there. */
export class Listing {
  readonly #findings: Findings
  readonly #early: ListedMember[] = []
  /** What the manifest lists and has not come yet. */
  #expected: Map<string, ListedMember> | undefined

  constructor(findings: Findings) {
    this.#findings = findings
  }

  take({ name, bytes }: Member): void {
    const found: ListedMember = { name, sha256: sha256Hex(bytes), size: bytes.length }
    if (this.#expected) this.#compare(this.#expected, found)
    else this.#early.push(found)
  }

  takeManifest(manifest: Manifest): void {
    this.#expected = new Map(manifest.members.map((member) => [member.name, member]))
    // A manifest may not leave out what its own contents call for.
    for (const name of requiredMembers(manifest)) {
      if (!this.#expected.has(name)) this.#findings.add('MEMBER_MISSING', { member: name })
    }
    for (const member of this.#early) this.#compare(this.#expected, member)
  }

  /** Reports what was listed and did not come. */
  finish(): void {
    if (!this.#expected) this.#findings.add('MEMBER_MISSING', { member: 'manifest.json' })
    for (const name of this.#expected?.keys() ?? []) this.#findings.add('MEMBER_MISSING', { member: name })
  }

  #compare(expected: Map<string, ListedMember>, found: ListedMember): void {
    const { sha256, size } = expected.get(found.name) ?? {}
    if (sha256 === undefined) this.#findings.add('MEMBER_UNEXPECTED', { member: found.name })
    else if (sha256 !== found.sha256 || size !== found.size) {
      this.#findings.add('MEMBER_CHANGED', { member: found.name })
    }
    expected.delete(found.name)
  }
}

function* requiredMembers(manifest: Manifest): Generator<string> {
  yield 'checkpoint'
  if (manifest.range) yield 'proofs/range.json'
  for (const index of manifest.selected) yield `proofs/${indexName(index)}.tlog-proof`
  for (const { name } of bundles(manifest)) yield name
}
