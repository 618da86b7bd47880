// Reads the files that a patch of Codex changes. Its form has one header line for each file.

interface PatchedFiles {
  readonly written: readonly string[]
  readonly deleted: readonly string[]
}

const HEADER = /^\*\*\* (Add File|Update File|Delete File|Move to): (.+)$/
const MAX_FILES = 1000

/** The files of a patch; undefined if it is not in this form, or names no file. */
export function filesInPatch(patch: string): PatchedFiles | undefined {
  const lines = patch.split(/\r?\n/)
  if (!lines.some((line) => line.trim() === '*** Begin Patch')) return undefined
  const written = new Set<string>()
  const deleted = new Set<string>()
  for (const line of lines) {
    // The client accepts spaces around a header, so a header with spaces must count as well.
    const [, what, path = ''] = HEADER.exec(line.trim()) ?? []
    if (what === undefined) continue
    if (what === 'Delete File') deleted.add(path.trim())
    else written.add(path.trim())
  }
  const count = written.size + deleted.size
  return count === 0 || count > MAX_FILES ? undefined : { written: [...written], deleted: [...deleted] }
}
