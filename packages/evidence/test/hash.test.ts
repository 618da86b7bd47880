import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { concat, toHex, utf8 } from '../src/bytes.ts'
import * as node from '../src/hash.ts'
import { loadPortable } from './bytes-portable.ts'
import { runs } from './runs.ts'

const portable = await loadPortable()

/** Expects this SHA-256 of the text and of its bytes, on both paths. */
function check(text: string, digest: string): void {
  for (const path of [node, portable]) {
    expect(path.sha256Hex(text)).toBe(digest)
    expect(path.sha256Hex(utf8(text))).toBe(digest)
    expect(toHex(path.sha256(text))).toBe(digest)
    expect(toHex(path.sha256(utf8(text)))).toBe(digest)
  }
}

describe('SHA-256', () => {
  it('gives the digests of FIPS 180-4', () => {
    check('', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
    check('abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    check(
      'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    )
    check('a'.repeat(1_000_000), 'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0')
  })

  it('hashes text as UTF-8', () => {
    check('é€😂', toHex(node.sha256(Uint8Array.of(0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x82))))
  })

  it('is the same on both paths', () => {
    const law = (bytes: Uint8Array): void => {
      expect(portable.sha256Hex(bytes)).toBe(node.sha256Hex(bytes))
      expect(toHex(portable.sha256(bytes))).toBe(node.sha256Hex(bytes))
    }
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), law), { seed: 31, numRuns: runs(1000) })
  })
})

describe('salted commitments', () => {
  const salt = new Uint8Array(32).fill(7)
  const bytes = utf8('{"a":1}')

  it('are SHA-256 over label, salt and bytes', () => {
    const expected = node.sha256Hex(concat(utf8('tollgate/args/v1\n'), salt, bytes))
    expect(node.saltedHash('args', salt, bytes)).toBe(expected)
    expect(portable.saltedHash('args', salt, bytes)).toBe(expected)
  })

  it('differ by label, by salt and by bytes', () => {
    const hashes = [
      node.saltedHash('args', salt, bytes),
      node.saltedHash('effect', salt, bytes),
      node.saltedHash('args', new Uint8Array(32), bytes),
      node.saltedHash('args', salt, utf8('{"a":2}')),
      node.sha256Hex(bytes),
    ]
    expect(new Set(hashes).size).toBe(hashes.length)
  })

  it('need a salt of 32 bytes', () => {
    for (const length of [0, 16, 31, 33, 64])
      expect(() => node.saltedHash('args', new Uint8Array(length), bytes)).toThrow(RangeError)
  })
})
