import { describe, expect, it } from 'vitest'
import { readYaml } from '../../../src/policy/reader/read.ts'
import { DEFAULT_THREAT, readThreat, type ThreatSettings } from '../../../src/gates/threat/settings.ts'

/** The settings in a text, and what is wrong with it. */
function check(text: string): { settings: ThreatSettings; mistakes: readonly string[] } {
  const reader = readYaml(text)
  const settings = readThreat(reader, reader.root)
  return { settings, mistakes: reader.mistakes.map(({ message }) => message) }
}

describe('the settings of the threat rung', () => {
  it('have their defaults where nothing is said', () => {
    expect(check('{}')).toEqual({ settings: DEFAULT_THREAT, mistakes: [] })
    expect(check('{ arguments: {}, results: {}, sources: {} }').settings).toEqual(DEFAULT_THREAT)
  })

  it('change only what is said', () => {
    const { settings, mistakes } = check(
      '{ arguments: { medium: deny }, results: { high: withhold }, sources: { low: ask } }',
    )
    expect(mistakes).toEqual([])
    expect(settings).toEqual({
      arguments: { ...DEFAULT_THREAT.arguments, medium: 'deny' },
      results: { ...DEFAULT_THREAT.results, high: 'withhold' },
      sources: { ...DEFAULT_THREAT.sources, low: 'ask' },
    })
  })

  it('note an answer that is none of theirs, and keep the default there', () => {
    const { settings, mistakes } = check('{ arguments: { high: redact }, results: { high: deny } }')
    expect(settings).toEqual(DEFAULT_THREAT)
    expect(mistakes).toHaveLength(2)
  })

  it('note names that are not known, and what is no mapping', () => {
    expect(check('{ argument: { high: deny } }').mistakes).toHaveLength(1)
    expect(check('{ arguments: { huge: deny } }').mistakes).toHaveLength(1)
    expect(check('{ arguments: deny }').mistakes).toHaveLength(1)
    expect(check('deny').mistakes).toHaveLength(1)
  })
})
