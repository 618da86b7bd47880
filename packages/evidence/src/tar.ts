// Reads and writes the archive of a pack: ustar in one canonical form. The reader rebuilds each header and compares, so it
// refuses archives that other tools could read differently.

import { latin1, sameBytes, utf8 } from './bytes.ts'
import { EvidenceError } from './error.ts'

/** A file in an archive. */
export interface Member {
  readonly name: string
  readonly bytes: Uint8Array
}

/** Bytes as a whole or in chunks of any size. */
export type ByteSource = Uint8Array | AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/** Limits of an archive. They are checked before anything is allocated. */
export interface ArchiveLimits {
  readonly maxMembers: number
  /** Maximum size of a member, by its name. */
  readonly maxSize: (name: string) => number
}

const BLOCK = 512
/** The form of a member name. */
export const MEMBER_NAME: RegExp = /^[a-z0-9][a-z0-9._-]*(?:\/[a-z0-9][a-z0-9._-]*)*$/
const ZEROS = new Uint8Array(BLOCK)

/** The two zero blocks that end an archive. */
export const ARCHIVE_END: Uint8Array = new Uint8Array(2 * BLOCK)

/** The header of a member, with fixed metadata that is identical on all machines. */
export function archiveHeader(name: string, size: number): Uint8Array {
  if (name.length > 100 || !MEMBER_NAME.test(name))
    throw malformed(`\`${name.slice(0, 100)}\` is not a valid name of a member`)
  const header = new Uint8Array(BLOCK)
  const put = (text: string, at: number): void => header.set(utf8(text), at)
  put(name, 0)
  put('0000644\0' + '0000000\0' + '0000000\0', 100) // mode, owner, group
  put(size.toString(8).padStart(11, '0') + '\0' + '00000000000\0', 124) // size, time
  put('        ' + '0', 148) // check sum, counted as spaces; a regular file
  put('ustar\0' + '00', 257)
  put('0000000\0' + '0000000\0', 329) // device numbers
  const sum = header.reduce((total, byte) => total + byte, 0)
  put(sum.toString(8).padStart(6, '0') + '\0 ', 148)
  return header
}

/** The zeros after a member of this size, up to a whole block. */
export function archivePadding(size: number): Uint8Array {
  return ZEROS.subarray(0, (BLOCK - (size % BLOCK)) % BLOCK)
}

/**
 * Reads an archive member by member.
 *
 * @throws EvidenceError `ARCHIVE_MALFORMED` for anything but the canonical form (other metadata, PAX or GNU headers, links,
 * directories, unsorted or repeated names, trailing data), `ARCHIVE_TOO_LARGE` beyond a limit.
 */
export async function* readArchive(source: ByteSource, limits: ArchiveLimits): AsyncGenerator<Member> {
  const input = new ByteReader(source)
  try {
    yield* readMembers(input, limits)
    if (!sameBytes(await input.take(BLOCK), ZEROS)) throw malformed('it does not end with two zero blocks')
    if (!(await input.ended())) throw malformed('it has data after its end')
  } finally {
    await input.close()
  }
}

/** Reads the members and the first zero block. */
async function* readMembers(input: ByteReader, limits: ArchiveLimits): AsyncGenerator<Member> {
  let previous = ''
  for (let count = 0; ; count++) {
    const header = await input.take(BLOCK)
    if (sameBytes(header, ZEROS)) return
    if (count >= limits.maxMembers) throw tooLarge(`more than ${limits.maxMembers} members`)
    const { name, size } = readHeader(header)
    if (name <= previous) throw malformed('its members are unsorted or repeated')
    if (size > limits.maxSize(name))
      throw tooLarge(`\`${name}\` is larger than ${limits.maxSize(name)} bytes`)
    const bytes = await input.take(size)
    const padding = await input.take(archivePadding(size).length)
    if (!sameBytes(padding, archivePadding(size))) throw malformed(`\`${name}\` is not padded with zeros`)
    previous = name
    yield { name, bytes }
  }
}

function readHeader(header: Uint8Array): { name: string; size: number } {
  const end = header.indexOf(0)
  const name = latin1(header.subarray(0, end < 0 || end > 100 ? 100 : end))
  const size = Number.parseInt(latin1(header.subarray(124, 135)), 8)
  if (!MEMBER_NAME.test(name) || !Number.isSafeInteger(size)) throw malformed('a header cannot be read')
  if (!sameBytes(header, archiveHeader(name, size))) {
    throw malformed(`the header of \`${name}\` is not in canonical form`)
  }
  return { name, size }
}

/** Reads exact lengths out of chunks. */
class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array, undefined> | Iterator<Uint8Array, undefined>
  #chunk: Uint8Array = new Uint8Array(0)

  constructor(source: ByteSource) {
    if (source instanceof Uint8Array) this.#chunks = [source][Symbol.iterator]()
    else if (Symbol.asyncIterator in source) this.#chunks = source[Symbol.asyncIterator]()
    else this.#chunks = source[Symbol.iterator]()
  }

  /** Returns exactly `length` bytes, as a view of the chunk if possible. Throws if the archive ends before. */
  async take(length: number): Promise<Uint8Array> {
    if (this.#chunk.length >= length) return this.#cut(length)
    // One buffer, filled as bytes arrive. `length` is at most the limit of a member.
    const whole = new Uint8Array(length)
    for (let at = 0; at < length;) {
      if (this.#chunk.length === 0 && !(await this.#next()))
        throw malformed('it ends in the middle of a member')
      const part = this.#cut(Math.min(length - at, this.#chunk.length))
      whole.set(part, at)
      at += part.length
    }
    return whole
  }

  async ended(): Promise<boolean> {
    return this.#chunk.length === 0 && !(await this.#next())
  }

  /** Closes the source. */
  async close(): Promise<void> {
    await this.#chunks.return?.()
  }

  #cut(length: number): Uint8Array {
    const part = this.#chunk.subarray(0, length)
    this.#chunk = this.#chunk.subarray(length)
    return part
  }

  async #next(): Promise<boolean> {
    do {
      const { done, value } = await this.#chunks.next()
      if (done === true) return false
      this.#chunk = value
    } while (this.#chunk.length === 0)
    return true
  }
}

function malformed(problem: string): EvidenceError {
  return new EvidenceError('ARCHIVE_MALFORMED', `not an evidence pack: ${problem}`)
}

function tooLarge(problem: string): EvidenceError {
  return new EvidenceError('ARCHIVE_TOO_LARGE', `the pack exceeds a limit: ${problem}`)
}
