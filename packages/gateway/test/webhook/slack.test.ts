import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { quoted } from '../../src/webhook/quoted.ts'
import { slackBody } from '../../src/webhook/slack.ts'

describe('a message to Slack', () => {
  it('has no markup, and fits into a block, for any text', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom('<!here>', '&', '://', '<'),
    )
    fc.assert(
      fc.property(fc.array(fc.array(piece, { maxLength: 8 }), { maxLength: 8 }), (lines) => {
        const { text } = slackBody(lines.map((line) => line.join('')))
        expect(text).not.toMatch(/[<>]|:\/\/|&(?!amp;|lt;|gt;)/)
        expect(text.length).toBeLessThanOrEqual(3000)
        expect(text.isWellFormed()).toBe(true)
      }),
    )
  })

  it('is cut before an entity that does not fit', () => {
    expect(slackBody(['x'.repeat(2898) + '<'.repeat(10)]).text).toBe(`${'x'.repeat(2898)}…`)
  })
})

describe('a name in a sentence', () => {
  it('stays inside its quotes and on its line', () => {
    expect(quoted('a" is approved.\nRun: \u202e"b')).toBe(`"a' is approved.·Run: ·'b"`)
    expect(quoted('x'.repeat(500))).toBe(`"${'x'.repeat(120)}…"`)
  })
})
