// Compares the members of a pack with its manifest.

import { sha256Hex } from './hash.ts'
import { bundles, indexName, type ListedMember, type Manifest } from './manifest.ts'
import type { Findings } from './report.ts'
import type { Member } from './tar.ts'

/** Compares members with the manifest. Members before the manifest are kept until it is read. */
export class Listing {
  readonly #findings: Findings
  readonly #early: ListedMember[] = []
  /** Listed members that were not read yet. */
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
    // The contents of a manifest require these members.
    for (const name of requiredMembers(manifest)) {
      if (!this.#expected.has(name)) this.#findings.add('MEMBER_MISSING', { member: name })
    }
    for (const member of this.#early) this.#compare(this.#expected, member)
  }

  /** Reports the listed members that are missing. */
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
