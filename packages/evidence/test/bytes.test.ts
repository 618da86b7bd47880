import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as node from '../src/bytes.ts'
import { nodeBuffer, nodeCrypto } from '../src/host.ts'
import { loadPortable } from './bytes-portable.ts'
import { outcomeOf } from './samples.ts'
import { runs } from './runs.ts'

const portable = await loadPortable()

/** Expects the text to be the base64 of these bytes, in both directions, on both paths. */
function check(text: string, ...bytes: readonly number[]): void {
  const expected = Uint8Array.from(bytes)
  for (const path of [node, portable]) {
    expect(path.toBase64(expected)).toBe(text)
    expect(plain(path.fromBase64(text)), text).toEqual(bytes)
  }
}

/** Expects the text to be invalid base64, on both paths. */
function refuses(...texts: readonly string[]): void {
  for (const path of [node, portable])
    for (const text of texts) expect(path.fromBase64(text), JSON.stringify(text)).toBeUndefined()
}

function plain(bytes: Uint8Array | undefined): number[] | undefined {
  return bytes && Array.from(bytes)
}

describe('the two paths', () => {
  it('are that of Node and the portable one', () => {
    expect(nodeBuffer).toBeDefined()
    expect(nodeCrypto).toBeDefined()
    expect(portable.nodeBuffer).toBeUndefined()
    expect(portable.nodeCrypto).toBeUndefined()
    expect(portable.webCrypto).toBeDefined()
  })

  it('give the same text for the same bytes', () => {
    const law = (bytes: Uint8Array): void => {
      const text = node.toBase64(bytes)
      expect(portable.toBase64(bytes)).toBe(text)
      expect(plain(portable.fromBase64(text))).toEqual(plain(bytes))
      expect(plain(node.fromBase64(text))).toEqual(plain(bytes))
      expect(portable.toHex(bytes)).toBe(node.toHex(bytes))
      expect(portable.latin1(bytes)).toBe(node.latin1(bytes))
      expect(portable.decodeUtf8(bytes)).toBe(node.decodeUtf8(bytes))
    }
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), law), { seed: 21, numRuns: runs(3000) })
  })

  it('give the same bytes for the same text', () => {
    const law = (text: string): void => {
      expect(plain(portable.utf8(text))).toEqual(plain(node.utf8(text)))
      expect(node.decodeUtf8(node.utf8(text))).toBe(text)
    }
    fc.assert(fc.property(fc.string({ unit: 'binary' }), law), { seed: 22, numRuns: runs(2000) })
  })

  it('agree on what is base64', () => {
    const seen = { base64: 0, other: 0 }
    const law = (text: string): void => {
      const bytes = plain(node.fromBase64(text))
      expect(plain(portable.fromBase64(text)), text).toEqual(bytes)
      if (bytes) expect(node.toBase64(Uint8Array.from(bytes))).toBe(text)
      seen[bytes ? 'base64' : 'other']++
    }
    const unit = fc.constantFrom(...Array.from('ABQgwxyz089+/=-_ \n\u00e9\u{1f602}'))
    fc.assert(fc.property(fc.string({ unit, maxLength: 12 }), law), { seed: 23, numRuns: runs(20_000) })
    expect(seen.base64).toBeGreaterThan(runs(100))
    expect(seen.other).toBeGreaterThan(runs(10_000))
  })

  it('read only the given part of a buffer', () => {
    const part = Uint8Array.of(9, 9, 0x61, 0x62, 0x63, 9).subarray(2, 5)
    for (const path of [node, portable]) {
      expect(path.toBase64(part)).toBe('YWJj')
      expect(path.latin1(part)).toBe('abc')
      expect(path.toHex(part)).toBe('616263')
      expect(path.decodeUtf8(part)).toBe('abc')
    }
  })

  it('read long input', () => {
    const bytes = Uint8Array.from({ length: 100_000 }, (_, i) => i % 251)
    expect(portable.latin1(bytes)).toBe(node.latin1(bytes))
    expect(portable.toBase64(bytes)).toBe(node.toBase64(bytes))
  })
})

describe('base64', () => {
  it('reads and writes the examples of RFC 4648, 10', () => {
    check('')
    check('Zg==', 0x66)
    check('Zm8=', 0x66, 0x6f)
    check('Zm9v', 0x66, 0x6f, 0x6f)
    check('Zm9vYg==', 0x66, 0x6f, 0x6f, 0x62)
    check('Zm9vYmE=', 0x66, 0x6f, 0x6f, 0x62, 0x61)
    check('Zm9vYmFy', 0x66, 0x6f, 0x6f, 0x62, 0x61, 0x72)
    check('+/+/', 0xfb, 0xff, 0xbf)
  })

  it('refuses unused bits that are not zero', () => {
    refuses('Zh==', 'Zv==', 'Zm9=', 'Zm+=', '//==', '///=')
  })

  it('allows four last characters before two pads, and sixteen before one', () => {
    const alphabet = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
    for (const path of [node, portable]) {
      expect(alphabet.filter((last) => path.fromBase64(`A${last}==`)).join('')).toBe('AQgw')
      expect(alphabet.filter((last) => path.fromBase64(`AA${last}=`)).join('')).toBe('AEIMQUYcgkosw048')
    }
  })

  it('refuses padding that is missing, short, long or out of place', () => {
    refuses(
      'Zg',
      'Zg=',
      'Zm8',
      'Zg===',
      'Zm8==',
      'Zm9v=',
      'Zm9v====',
      '=',
      '==',
      '====',
      'A===',
      '=Zg=',
      'Z=g=',
      'Zg==Zg==',
    )
  })

  it('refuses white space', () => {
    refuses('Zm9v\n', ' Zm9v', 'Zm 9v', 'Zm\t9v', 'Zm9v\r\n', 'Zm\n9v', 'Zg== ', 'Zg =', '\u00a0Zm9')
  })

  it('refuses the URL alphabet and every other character', () => {
    refuses(
      '-_-_',
      'Zm9-',
      'Zm9_',
      'Zm9v!AAA',
      'Zm.v',
      'Zm9\u00e9',
      'Zm9\u0100',
      'Zm9\u017f',
      '\u{1f602}Zm',
      'Zm9\0',
    )
  })

  it('can be required with an exact length', () => {
    expect(plain(node.requireBase64('Zm9v', 3, 'it'))).toEqual([0x66, 0x6f, 0x6f])
    for (const text of ['Zm8=', 'Zm9vYg==', 'Zm9v\n', ''])
      expect(outcomeOf(() => node.requireBase64(text, 3, 'it'))).toBe('BASE64_MALFORMED')
  })
})

describe('hexadecimal', () => {
  it('reads its own output', () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i)
    expect(node.toHex(bytes)).toBe(Buffer.from(bytes).toString('hex'))
    expect(plain(node.fromHex(node.toHex(bytes)))).toEqual(plain(bytes))
    expect(plain(node.fromHex(''))).toEqual([])
    expect(plain(node.fromHex('a1ff'))).toEqual([0xa1, 0xff])
  })

  it('refuses every other form', () => {
    for (const text of ['0', 'abc', 'AB', 'aB', '0x', 'zz', ' 00', '00 ', '00\n', '-1', '０0'])
      expect(node.fromHex(text), JSON.stringify(text)).toBeUndefined()
  })
})

describe('UTF-8', () => {
  it('keeps a byte-order mark', () => {
    for (const path of [node, portable])
      expect(path.decodeUtf8(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61))).toBe('\ufeffa')
  })

  it('is undefined for bytes that are not UTF-8', () => {
    for (const path of [node, portable])
      for (const bytes of [[0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xff], [0xe2, 0x82], [0xf4, 0x90, 0x80, 0x80]])
        expect(path.decodeUtf8(Uint8Array.from(bytes))).toBeUndefined()
  })
})

describe('ASCII', () => {
  it('is one byte for each character', () => {
    const all = String.fromCharCode(...Array.from({ length: 128 }, (_, code) => code))
    for (const path of [node, portable]) {
      expect(plain(path.ascii(all))).toEqual(Array.from({ length: 128 }, (_, code) => code))
      expect(path.latin1(path.ascii(all))).toBe(all)
    }
  })
})

describe('byte strings', () => {
  it('are the same if they have the same bytes', () => {
    const same = (a: number[], b: number[]): boolean => node.sameBytes(Uint8Array.from(a), Uint8Array.from(b))
    expect(same([], [])).toBe(true)
    expect(same([1, 2], [1, 2])).toBe(true)
    expect(same([1, 2], [1, 3])).toBe(false)
    expect(same([1, 2], [3, 2])).toBe(false)
    expect(same([1, 2], [1])).toBe(false)
    expect(same([], [0])).toBe(false)
  })

  it('are joined in order', () => {
    for (const path of [node, portable]) {
      expect(plain(path.concat())).toEqual([])
      expect(plain(path.concat(Uint8Array.of(1), new Uint8Array(), Uint8Array.of(2, 3)))).toEqual([1, 2, 3])
    }
  })

  it('are joined into a copy', () => {
    for (const path of [node, portable]) {
      const part = Uint8Array.of(1, 2)
      const joined = path.concat(part)
      part.fill(0)
      expect(plain(joined)).toEqual([1, 2])
    }
  })
})
