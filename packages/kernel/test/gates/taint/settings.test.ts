import { describe, expect, it } from 'vitest'
import { readYaml } from '../../../src/policy/reader/read.ts'
import { readLabels } from '../../../src/policy/reader/names.ts'
import { DEFAULT_TAINT, readTaint, type TaintSettings } from '../../../src/gates/taint/settings.ts'
import { matchesHost } from '../../../src/destinations/pattern.ts'

/** The settings in a text, and its mistakes. */
function read(text: string): { readonly settings: TaintSettings; readonly mistakes: readonly string[] } {
  const reader = readYaml(text)
  const settings = readTaint(reader, reader.root)
  return { settings, mistakes: reader.mistakes.map(({ line, message }) => `${line}: ${message}`) }
}

/** Checks that the text has exactly these mistakes. */
function refuses(text: string, ...mistakes: readonly RegExp[]): void {
  const { mistakes: found } = read(text)
  expect(found, text).toHaveLength(mistakes.length)
  mistakes.forEach((each, i) => expect(found[i], text).toMatch(each))
}

describe('the settings of taint', () => {
  it('have defaults', () => {
    expect(read('{}')).toEqual({ settings: DEFAULT_TAINT, mistakes: [] })
    expect(DEFAULT_TAINT).toEqual({
      deny: ['secret'],
      ask: [],
      internal: [],
      follow: 'values',
      provenance: { untrusted: 'allow', ordered: 'ask', flagged: 'deny' },
      pages: 'ask',
      flows: [],
      results: new Map(),
    })
  })

  it('have flows between pages, each from a full hostname', () => {
    const { settings, mistakes } = read('pages: deny\nflows: { Shop.test: [crm.test, "*.crm.test"] }')
    expect([settings.pages, settings.flows.map(({ from, to }) => [from.host, to.length]), mistakes]).toEqual([
      'deny',
      [['shop.test', 2]],
      [],
    ])
    for (const from of ['"*"', '"*.shop.test"', '10.0.0.0/8', 'a/b']) {
      expect(read(`flows: { ${from}: crm.test }`).mistakes).toEqual([
        expect.stringContaining('full hostname'),
      ])
    }
  })

  it('are read completely', () => {
    const { settings, mistakes } = read(
      'deny: [secret, card]\nask: personal\ninternal: [example.com, "*.example.com"]\nfollow: session\n' +
        'provenance: { untrusted: ask, ordered: deny, flagged: allow }\nresults: { secret: redact, card: withhold }\n',
    )
    expect(mistakes).toEqual([])
    expect(settings).toMatchObject({
      deny: ['secret', 'card'],
      ask: ['personal'],
      follow: 'session',
      provenance: { untrusted: 'ask', ordered: 'deny', flagged: 'allow' },
    })
    expect([...settings.results]).toEqual([
      ['secret', 'redact'],
      ['card', 'withhold'],
    ])
    const inside = { scheme: 'https', host: 'a.example.com', port: 443 }
    expect(settings.internal.map((pattern) => matchesHost(pattern, inside))).toEqual([false, true])
  })

  it('keep the other defaults if one value is set', () => {
    expect(read('provenance: { untrusted: deny }').settings.provenance).toEqual({
      untrusted: 'deny',
      ordered: 'ask',
      flagged: 'deny',
    })
    expect(read('provenance: { ordered: allow }').settings.provenance).toEqual({
      untrusted: 'allow',
      ordered: 'allow',
      flagged: 'deny',
    })
    expect(read('deny: []').settings.deny).toEqual([])
  })

  it('reject unknown values with a remedy', () => {
    refuses('denny: [secret]', /did you mean `deny`/)
    refuses('follow: all', /`follow` must be one of `values`, `session`/)
    refuses('provenance: { untrusted: maybe }', /`untrusted` must be one of `allow`, `ask`, `deny`/)
    refuses('provenance: { ordered: true }', /`ordered` must be one of `allow`, `ask`, `deny`/)
    refuses('provenance: { orderd: ask }', /did you mean `ordered`/)
    refuses('provenance: deny', /must be a mapping of `untrusted`, `ordered`, `flagged`/)
    refuses('results: { secret: hide }', /must be one of `redact`, `withhold`/)
    refuses('results: { Secret: redact }', /`Secret` is not a label; write a lowercase letter/)
    refuses('results: [secret]', /`results` must be a mapping/)
    refuses('internal: [exa mple.com]', /is not a valid host/)
    refuses('[secret]', /must be a mapping of/)
  })

  it('reject a label in both `deny` and `ask`', () => {
    refuses(
      'deny: [card, personal]\nask: [personal]',
      /2: `personal` is in `ask` and in `deny`; keep it in one/,
    )
    refuses('ask: [secret]', /the default of `deny` is `\[secret\]`; write `deny: \[\]`/)
    refuses('deny: []\nask: [secret]')
  })
})

describe('labels', () => {
  const labels = (text: string): readonly [readonly string[], readonly string[]] => {
    const reader = readYaml(text)
    const found = readLabels(reader, reader.root, '`returns`')
    return [found, reader.mistakes.map(({ message }) => message)]
  }

  it('are a list of names, or one name', () => {
    expect(labels('[personal, a, x-1-y]')).toEqual([['personal', 'a', 'x-1-y'], []])
    expect(labels('personal')).toEqual([['personal'], []])
    expect(labels('[]')).toEqual([[], []])
    expect(labels(`[a${'b'.repeat(31)}]`)[1]).toEqual([])
  })

  it('are rejected if they are invalid or duplicates', () => {
    for (const wrong of ['Personal', '1a', '-a', 'a_b', '"a b"', 'é', `a${'b'.repeat(32)}`])
      expect(labels(`[${wrong}, ok]`), wrong).toEqual([
        ['ok'],
        [expect.stringMatching(/is not a label; write/)],
      ])
    expect(labels('[a, b, a]')).toEqual([['a', 'b'], ['`a` appears twice in `returns`; remove one']])
    expect(labels('[1]')[1]).toEqual([expect.stringMatching(/a label in `returns` must be text/)])
    expect(labels(`[${'X'.repeat(5000)}]`)[1][0]?.length).toBeLessThan(300)
  })
})
