import { describe, expect, it } from 'vitest'
import { readYaml } from '../../../src/policy/reader/read.ts'
import { DEFAULT_THREAT, threatSettings, type ThreatSettings } from '../../../src/gates/threat/settings.ts'

/** Reads settings and returns them with the mistakes. */
function check(text: string): { settings: ThreatSettings | undefined; mistakes: readonly string[] } {
  const reader = readYaml(text)
  const settings = threatSettings.read(reader, reader.root)
  return { settings, mistakes: reader.mistakes.map(({ message }) => message) }
}

describe('the settings of the threat gate', () => {
  it('use defaults for missing settings', () => {
    expect(check('{}')).toEqual({ settings: DEFAULT_THREAT, mistakes: [] })
    expect(check('{ arguments: {}, results: {}, sources: {} }').settings).toEqual(DEFAULT_THREAT)
  })

  it('change only the given settings', () => {
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

  it('report an invalid action and keep its default', () => {
    const { settings, mistakes } = check('{ arguments: { high: redact }, results: { high: deny } }')
    expect(settings).toEqual(DEFAULT_THREAT)
    expect(mistakes).toHaveLength(2)
  })

  it('report unknown names and values that are not mappings', () => {
    expect(check('{ argument: { high: deny } }').mistakes).toHaveLength(1)
    expect(check('{ arguments: { huge: deny } }').mistakes).toHaveLength(1)
    expect(check('{ arguments: deny }').mistakes).toHaveLength(1)
    expect(check('deny').mistakes).toHaveLength(1)
  })
})
