// Generates texts for property tests: random ones, and known attacks with changes.

import fc from 'fast-check'
import { THREAT_CASES } from './cases.ts'

/** Small pieces that are difficult for scanners. */
export const PIECES: readonly string[] = [
  ...Array.from('<|[]&%\\#!$`.;:"\'{}()/-=_*@?,+~ \n\t\r\0\u001b'),
  '\ud800', '\udc00', '\ud800\ud800', '\udb40', '\udb40\udc41', '\u{e0041}', '\u{e007f}', '\u{e0100}', '\ufe0f', '\u200b', '\u200d',
  '\u202e', '\u00ad', '\u0301', '\u3099', 'İ', 'ß', 'ﬃ', 'ŉ', 'ﷺ', '㌀', 'Ǆ', 'ς', '𝐀', '🇩🇪', '🅰', '👨‍👩‍👧', 'е', 'о', '忽略', '指令',
  'a', 'Z', '0', 'aWdub3JlIGFsbCBwcmV2aW91cw', '69676e6f7265', '%25', '%', '%2', '%C3', '%E2%82%AC', '&amp;', '&#', '&#x', '&#105;',
  '&#x110000;', '\\u', '\\u0069', '\\ud800', '\\x6', '\\u{', '\\u{110000}', 'ignore', 'previous', 'instructions', '../', '..\\',
  '<|im_start|>', '</', '-----BEGIN ', 'PRIVATE KEY-----', '-----END ', 'password=', 'ghp_', 'eyJ', 'AKIA', '![x](http://a?', '$(',
  'rm -rf', "' OR 1=1", '; DROP TABLE', '| sh', 'i g n o r e', 'https://', 'a@b.c', '"role":"system"', '"content"', '\ue000', '\u{f0000}',
  ';base64,', 'data:a;base64,', 'H4sIAAAAAAAAA0vOSM3JVyjPL8pJAQCFEUoNCwAAAA', 'eJzLSM3JyVcozy/KSQEAGgsEXQ', 'y0jNyclXKM8vykkBAA', '<~', '~>', '87cURD]i,"Ebo80',
  '=20', '=\n', '=3D', '=C3', '.-', '-. ', '.. --. -. --- .-. . / ', '·', 'a$b', 'a!b', 'vtaber cerivbhf', 'snoitcurtsni suoiverp lla erongi',
  'NFTW433SMUQGC3DMEBYHEZLWNFXXK4Y', '9gTB8Cks2Lm4Qw6Zx9gTB8Cks2Lm4Qw6Zx',
] // oxfmt-ignore

/** Any text, including lone surrogates. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((pieces) => pieces.join('')),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
    .map((units) => String.fromCharCode(...units)),
  mutated(),
)

/** A known attack with a part removed and a piece inserted. */
function mutated(): fc.Arbitrary<string> {
  const hostile = fc.constantFrom(...THREAT_CASES.map((each) => each.hostile))
  return fc
    .tuple(hostile, fc.constantFrom(...PIECES), fc.nat(), fc.nat({ max: 4 }))
    .map(([text, piece, place, gone]) => {
      const at = place % (text.length + 1)
      return text.slice(0, at) + piece + text.slice(at + gone)
    })
}
