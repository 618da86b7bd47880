import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  archiveHeader,
  archivePadding,
  readArchive,
  type ArchiveLimits,
  type ByteSource,
  type Member,
} from '../src/tar.ts'
import { archive, bytesOf, joined } from './pack-forge.ts'
import { outcomeOf, outcomeOfAsync } from './samples.ts'
import { runs } from './runs.ts'

const LIMITS: ArchiveLimits = { maxMembers: 100, maxSize: () => 1 << 20 }

async function read(source: ByteSource, limits = LIMITS): Promise<Member[]> {
  const members: Member[] = []
  for await (const { name, bytes } of readArchive(source, limits))
    members.push({ name, bytes: bytes.slice() })
  return members
}

/** Members as plain data, for comparison. */
function shown(members: readonly Member[]): [string, string][] {
  return members.map(({ name, bytes }) => [name, Buffer.from(bytes).toString('hex')])
}

const word = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,8}$/)
const name = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join('/'))
const content = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.integer({ min: 500, max: 1100 }).map((size) => new Uint8Array(size).fill(7)),
)
const someMembers = fc
  .uniqueArray(fc.record({ name, bytes: content }), { selector: (member) => member.name, maxLength: 6 })
  .map((members) => [...members].sort((a, b) => (a.name < b.name ? -1 : 1)))

const TWO: readonly Member[] = [
  { name: 'a', bytes: bytesOf('first') },
  { name: 'b/c', bytes: new Uint8Array(600).fill(1) },
]

describe('an archive', () => {
  it('is read as it was written', async () => {
    const check = async (members: readonly Member[]): Promise<void> => {
      expect(shown(await read(archive(members)))).toEqual(shown(members))
    }
    await fc.assert(fc.asyncProperty(someMembers, check), { seed: 1, numRuns: runs(300) })
  })

  it('is read alike in chunks of any size', async () => {
    const bytes = archive(TWO)
    const check = async (cuts: readonly number[]): Promise<void> => {
      const edges = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length]
      const chunks = edges.slice(1).map((end, i) => bytes.subarray(edges[i], end))
      expect(shown(await read(chunks))).toEqual(shown(TWO))
      expect(shown(await read(later(chunks)))).toEqual(shown(TWO))
    }
    await fc.assert(fc.asyncProperty(fc.array(fc.nat(), { maxLength: 12 }), check), {
      seed: 2,
      numRuns: runs(300),
    })
  })

  it('is read alike byte by byte', async () => {
    const single = Array.from(archive(TWO), (byte) => Uint8Array.of(byte))
    expect(shown(await read(single))).toEqual(shown(TWO))
  })

  it('is read alike byte by byte when a member is large', async () => {
    const large = [{ name: 'a', bytes: new Uint8Array(1_000_000).fill(9) }]
    const bytes = archive(large)
    function* single(): Generator<Uint8Array> {
      for (let at = 0; at < bytes.length; at++) yield bytes.subarray(at, at + 1)
    }
    expect((await read(single()))[0]?.bytes.length).toBe(1_000_000)
  })

  it('is refused whole or in chunks with the same code', async () => {
    const cut = archive(TWO).subarray(0, 1000)
    expect(await outcomeOfAsync(read(cut))).toBe('ARCHIVE_MALFORMED')
    expect(await outcomeOfAsync(read(later([cut.subarray(0, 700), cut.subarray(700)])))).toBe(
      'ARCHIVE_MALFORMED',
    )
  })

  it('is refused if it has more members than the limit', async () => {
    expect(await outcomeOfAsync(read(archive(TWO), { ...LIMITS, maxMembers: 1 }))).toBe('ARCHIVE_TOO_LARGE')
    expect(await outcomeOfAsync(read(archive(TWO), { ...LIMITS, maxMembers: 2 }))).toBe('accepted')
  })

  it('is refused if a member is larger than its limit, before the member is read', async () => {
    const claims = archiveHeader('a', 1 << 21)
    expect(await outcomeOfAsync(read(claims))).toBe('ARCHIVE_TOO_LARGE')
    const limits = { ...LIMITS, maxSize: (each: string) => (each === 'a' ? 5 : 599) }
    expect(await outcomeOfAsync(read(archive(TWO), limits))).toBe('ARCHIVE_TOO_LARGE')
    expect(await outcomeOfAsync(read(archive(TWO), { ...limits, maxSize: () => 600 }))).toBe('accepted')
  })

  it('closes its source when it is refused', async () => {
    let closed = false
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        yield bytesOf('x'.repeat(512))
        yield await Promise.resolve(bytesOf('more'))
      } finally {
        closed = true
      }
    }
    expect(await outcomeOfAsync(read(source()))).toBe('ARCHIVE_MALFORMED')
    expect(closed).toBe(true)
  })

  it('rethrows the error of its source', async () => {
    function* source(): Generator<Uint8Array> {
      yield archiveHeader('a', 5)
      throw new Error('the disk is gone')
    }
    await expect(read(source())).rejects.toThrow('the disk is gone')
  })
})

describe('a header', () => {
  it.each([
    '',
    '/a',
    'a/',
    'a//b',
    '../a',
    'a/../b',
    './a',
    'A',
    'a b',
    'ä',
    '.a',
    '-a',
    'a/.b',
    'a\\b',
    'a\n',
  ])('cannot name `%s`', (wrong) => {
    expect(outcomeOf(() => archiveHeader(wrong, 0))).toBe('ARCHIVE_MALFORMED')
  })

  it('can have a name of up to 100 bytes', () => {
    expect(outcomeOf(() => archiveHeader('a'.repeat(100), 0))).toBe('accepted')
    expect(outcomeOf(() => archiveHeader('a'.repeat(101), 0))).toBe('ARCHIVE_MALFORMED')
  })

  it('is read back with a name of 100 bytes', async () => {
    const members = [{ name: 'a'.repeat(100), bytes: bytesOf('x') }]
    expect(shown(await read(archive(members)))).toEqual(shown(members))
  })

  it('has exactly one form: any changed byte is refused', async () => {
    const bytes = archive([{ name: 'a', bytes: bytesOf('x') }])
    for (let at = 0; at < 512; at++) {
      const changed = bytes.slice()
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(await outcomeOfAsync(read(changed)), `byte ${at}`).not.toBe('accepted')
    }
  })

  it('is followed by padding to a whole block', () => {
    for (const [size, padding] of [
      [0, 0],
      [1, 511],
      [511, 1],
      [512, 0],
      [513, 511],
    ] as const) {
      expect(archivePadding(size)).toEqual(new Uint8Array(padding))
    }
  })
})

describe.skipIf(gnuTar() === undefined)('GNU tar', () => {
  it('writes the same bytes', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-tar-'))
    for (const member of TWO) {
      mkdirSync(dirname(join(folder, member.name)), { recursive: true })
      writeFileSync(join(folder, member.name), member.bytes)
    }
    const fixed = [
      '--owner=0',
      '--group=0',
      '--numeric-owner',
      '--mode=0644',
      '--mtime=@0',
      '--blocking-factor=1',
    ]
    const names = TWO.map((member) => member.name)
    const made = execFileSync('tar', ['--format=ustar', ...fixed, '-C', folder, '-cf', '-', ...names])
    rmSync(folder, { recursive: true })
    expect(Buffer.compare(made, joined([archive(TWO)]))).toBe(0)
  })
})

function gnuTar(): string | undefined {
  try {
    const version = execFileSync('tar', ['--version'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return version.includes('GNU tar') ? version : undefined
  } catch {
    // No tar on this machine.
    return undefined
  }
}

async function* later(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield await Promise.resolve(chunk)
}
