// Crimes against the archive: whatever another tool could read differently.

import { crc32 } from './crc32.ts'
import { archive, blocks, bytesOf, forge, joined } from '../../packages/evidence/test/pack-forge.ts'
import { told, trustIn } from '../../packages/evidence/test/audit-story.ts'
import { archiveHeader, archivePadding, ARCHIVE_END } from '../../packages/evidence/src/tar.ts'
import type { Member } from '../../packages/evidence/src/index.ts'
import { BEGINNING, naiveCrime, unreadable, type Made, type Plan } from './plan.ts'

const BLOCK = 512

/** An honest pack, its bytes changed. */
function bytesChanged(change: (pack: Uint8Array) => Uint8Array): () => Promise<Made> {
  return async () => {
    const ledger = await told(undefined, BEGINNING)
    return { pack: change(archive(await forge(ledger))), trust: trustIn(ledger) }
  }
}

/** An honest pack in which a text stands in the header of the checkpoint, with a check sum that fits. */
function headerChanged(at: number, text: string): () => Promise<Made> {
  return bytesChanged((pack) => {
    const header = summed(withText(pack.slice(0, BLOCK), at, text))
    return joined([header, pack.subarray(BLOCK)])
  })
}

/** An honest pack with something inserted after the checkpoint. */
function inserted(...parts: readonly Uint8Array[]): () => Promise<Made> {
  return async () => {
    const ledger = await told(undefined, BEGINNING)
    const [checkpoint, ...others] = await forge(ledger)
    const first = checkpoint ? blocks(checkpoint) : []
    return { pack: joined([...first, ...parts, archive(others)]), trust: trustIn(ledger) }
  }
}

/** A member of another type than a regular file. */
function special(type: string, { name, bytes }: Member, target = ''): Uint8Array[] {
  const header = withText(withText(archiveHeader('x', bytes.length), 0, name), 156, type + target)
  return [summed(header), bytes, archivePadding(bytes.length)]
}

function withText(header: Uint8Array, at: number, text: string): Uint8Array {
  header.set(bytesOf(text), at)
  return header
}

function summed(header: Uint8Array): Uint8Array {
  withText(header, 148, '        ')
  const sum = header.reduce((total, byte) => total + byte, 0)
  return withText(header, 148, `${sum.toString(8).padStart(6, '0')}\0 `)
}

/** A gzip file with its content stored, so that it is the same whatever compressor the host has. */
function gzipped(bytes: Uint8Array): Uint8Array {
  const word = (value: number, size: 2 | 4): Uint8Array => {
    const encoded = Buffer.alloc(size)
    return (encoded.writeUIntLE(value, 0, size), encoded)
  }
  const stored = [Uint8Array.of(1), word(bytes.length, 2), word(bytes.length ^ 0xffff, 2), bytes]
  const header = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255)
  return joined([header, ...stored, word(crc32(bytes), 4), word(bytes.length, 4)])
}

const EMPTY = new Uint8Array(0)
const MALFORMED = ['ARCHIVE_MALFORMED']

/** A crime that makes the archive another than the one a pack can have. */
function archiveCrime(name: string, about: string, make: () => Promise<Made>): Plan {
  return unreadable(name, about, MALFORMED, make)
}

export const ARCHIVES: readonly Plan[] = [
  archiveCrime(
    'file-empty',
    'a file of no bytes',
    bytesChanged(() => EMPTY),
  ),
  unreadable(
    'archive-empty',
    'an archive without members',
    ['MEMBER_MISSING in manifest.json'],
    bytesChanged(() => ARCHIVE_END),
  ),
  archiveCrime(
    'pack-truncated',
    'the pack ends in the middle of the receipts',
    bytesChanged((pack) => pack.subarray(0, pack.length - 3000)),
  ),
  archiveCrime(
    'pack-truncated-between-members',
    'the pack ends where a member ends, with the receipts still to come',
    naiveCrimeWithoutEnd(),
  ),
  archiveCrime('pack-gzipped', 'the pack is compressed', bytesChanged(gzipped)),
  archiveCrime(
    'archive-behind-the-archive',
    'a second archive stands behind the first',
    bytesChanged((pack) => joined([pack, archive([{ name: 'checkpoint', bytes: bytesOf('another') }])])),
  ),
  archiveCrime(
    'tar-bytes-after-the-end',
    'a byte stands after the end',
    bytesChanged((pack) => joined([pack, bytesOf('!')])),
  ),
  archiveCrime(
    'tar-third-zero-block',
    'three zero blocks end the archive instead of two',
    bytesChanged((pack) => joined([pack, new Uint8Array(BLOCK)])),
  ),
  archiveCrime(
    'tar-one-zero-block',
    'only one zero block ends the archive',
    bytesChanged((pack) => pack.subarray(0, -BLOCK)),
  ),
  archiveCrime(
    'tar-second-end-block-used',
    'the second of the end blocks is not zero',
    bytesChanged((pack) => withText(pack, pack.length - 8, 'hidden')),
  ),
  archiveCrime('tar-padding-not-zero', 'a message hides in the padding of the checkpoint', async () => {
    const ledger = await told(undefined, BEGINNING)
    const pack = archive(await forge(ledger))
    return { pack: withText(pack, 2 * BLOCK - 8, 'hidden'), trust: trustIn(ledger) }
  }),
  archiveCrime('tar-mode-changed', 'a member is executable', headerChanged(100, '0000755')),
  archiveCrime('tar-owner-set', 'a member belongs to user 1000', headerChanged(108, '0001750')),
  archiveCrime('tar-mtime-set', 'a member has a time', headerChanged(136, '15017557540')),
  archiveCrime('tar-uname-set', 'a member names its owner', headerChanged(265, 'root')),
  archiveCrime('tar-prefix-used', 'a member has a prefix before its name', headerChanged(345, 'evil')),
  archiveCrime('tar-type-flag-old', 'a regular file in the old spelling', headerChanged(156, '\0')),
  archiveCrime('tar-magic-gnu', "the header is GNU's, not POSIX's", headerChanged(257, 'ustar  \0')),
  archiveCrime('tar-size-in-base-256', 'the size is not in octal', async () => {
    const made = await bytesChanged((pack) => pack)()
    const size = Number.parseInt(Buffer.from(made.pack.subarray(124, 135)).toString('latin1'), 8)
    const header = made.pack.slice(0, BLOCK)
    header.set([0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, size >> 8, size & 255], 124)
    return { ...made, pack: joined([summed(header), made.pack.subarray(BLOCK)]) }
  }),
  archiveCrime('tar-checksum-wrong', 'the check sum of a header is wrong', async () => {
    const made = await bytesChanged((pack) => pack)()
    return { ...made, pack: withText(made.pack, 148, '000000') }
  }),
  archiveCrime(
    'tar-pax-header',
    'a PAX header renames the next member',
    inserted(...special('x', { name: 'pax/keys', bytes: bytesOf('17 path=evil.txt\n') })),
  ),
  archiveCrime(
    'tar-gnu-long-name',
    'a GNU header renames the next member',
    inserted(...special('L', { name: '././@LongLink', bytes: bytesOf('evil.txt\0') })),
  ),
  archiveCrime(
    'tar-directory',
    'a directory stands in the archive',
    inserted(...special('5', { name: 'keys/', bytes: EMPTY })),
  ),
  archiveCrime(
    'tar-symlink',
    'a symbolic link points out of the archive',
    inserted(...special('2', { name: 'keys/link', bytes: EMPTY }, '/etc/passwd')),
  ),
  archiveCrime(
    'tar-hard-link',
    'a hard link stands for the checkpoint',
    inserted(...special('1', { name: 'keys/link', bytes: EMPTY }, 'checkpoint')),
  ),
  archiveCrime(
    'tar-name-outside',
    'a member would be extracted outside of the folder',
    inserted(...special('0', { name: '../evil', bytes: EMPTY })),
  ),
  archiveCrime(
    'tar-name-absolute',
    'a member has an absolute name',
    inserted(...special('0', { name: '/etc/evil', bytes: EMPTY })),
  ),
  archiveCrime(
    'tar-name-in-capitals',
    'a member that some file systems take for another',
    inserted(...special('0', { name: 'Checkpoint', bytes: EMPTY })),
  ),
  archiveCrime(
    'members-unsorted',
    'two members have changed places',
    naiveCrime((members) => [...members.slice(0, 4), ...members.slice(4, 6).reverse(), ...members.slice(6)]),
  ),
  archiveCrime(
    'member-twice',
    'the checkpoint stands in it twice, and readers differ on which one counts',
    naiveCrime(([checkpoint, ...others]) => (checkpoint ? [checkpoint, checkpoint, ...others] : others)),
  ),
  unreadable(
    'member-too-large',
    'the header of the checkpoint claims more than a checkpoint can be',
    ['ARCHIVE_TOO_LARGE'],
    bytesChanged((pack) => joined([archiveHeader('checkpoint', (256 << 10) + 1), pack.subarray(BLOCK)])),
  ),
]

function naiveCrimeWithoutEnd(): () => Promise<Made> {
  return async () => {
    const ledger = await told(undefined, BEGINNING)
    const members = (await forge(ledger)).slice(0, -1)
    return { pack: joined(members.flatMap(blocks)), trust: trustIn(ledger) }
  }
}
