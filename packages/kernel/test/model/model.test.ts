// Compares the kernel with a second, naive evaluator in generated cases.

import { expect, it } from 'vitest'
import { readText } from '../../src/gates/texts.ts'
import { destinationsIn } from '../../src/destinations/find.ts'
import { isHard } from '../../src/gates/taint/seen-values.ts'
import { wordsIn } from '../../src/text/phrases.ts'
import { labelsOfValues } from '../../src/text/labelled.ts'
import { returnedIn } from '../../src/text/returned.ts'
import { settingsIn } from '../../src/text/setting.ts'
import { passagesAround } from '../../src/gates/threat/passage.ts'
import { BIT, topicsIn, type Topic } from '../../src/gates/session-risk/risk-terms.ts'
import { tooRare } from './model-least.ts'
import { compare, seedFromOutside, type Run } from './model-run.ts'
import { fieldsOf } from './model-taint.ts'
import { recipient, TEXTS, type TextFacts } from './model-texts.ts'
import { WORDS } from './model-world.ts'

async function check(cases: number, seed: number): Promise<Run> {
  const run = await compare(cases, seed)
  expect(run.difference).toBeUndefined()
  expect(run.cases).toBeGreaterThanOrEqual(cases)
  return run
}

it('decides 4,000 calls like the model, with nearly every reason', async () => {
  const { seen } = await check(4000, seedFromOutside() ?? 1)
  // This number of calls misses some of the hundred observations by chance. The full run, `model.deep.ts`, must not miss any.
  expect(tooRare(seen, 4000).length).toBeLessThanOrEqual(5)
})

it('decides 1,000 calls with a new seed like the model', async () => {
  await check(1000, seedFromOutside() ?? Date.now() % 2 ** 32)
})

const NOTHING = {
  values: [],
  stand: [],
  passage: undefined,
  findings: [],
  labels: [],
  carried: [],
  hosts: [],
} as const
const words = Object.entries(WORDS).map(([text, topics]): TextFacts => ({
  ...NOTHING,
  text,
  words: text.split(' '),
  topics: [...topics].sort(),
}))
const names = [
  'form',
  'answers',
  'n',
  'note',
  'to',
  'body',
  'memo',
  'amount',
  'pad',
  'fits',
  'throws',
  'breaks the check',
]

it.each([
  ...Object.values(TEXTS),
  ...['ok.test', 'ask.test', 'bad.test', 'far.test'].map(recipient),
  ...words,
  ...names.map((text): TextFacts => ({ ...NOTHING, text, words: text.split(' '), topics: [] })),
])('finds in $text the facts of the model', (facts: TextFacts) => {
  expect(factsIn(facts.text)).toEqual(facts)
  expect(returnedIn(facts.text).map(({ field }) => `field ${field.text}`)).toEqual(fieldsOf(facts))
})

function factsIn(text: string): TextFacts {
  const { findings, values, marks } = readText('', text)
  const bits = topicsIn(text)
  const [passage, ...others] = passagesAround(text, findings.filter(isHard))
  expect(others).toEqual([])
  return {
    text,
    values: values.map((value) => value.text),
    stand: settingsIn(text, values),
    words: wordsIn(text),
    passage: passage && {
      words: wordsIn(text.slice(passage.start, passage.end)),
      holds: values.flatMap(({ start, end }, i) => (start < passage.end && passage.start < end ? [i] : [])),
    },
    findings: findings.map(({ class: kind, code, severity }) => ({ class: kind, code, severity })),
    labels: marks.map(({ label }) => label),
    carried: marks.length === 0 ? [] : labelsOfValues(text, marks, values),
    hosts: destinationsIn({ text }, []).map(({ host }) => host),
    // Sound: the topics are the table's own keys.
    topics: (Object.keys(BIT) as Topic[]).filter((topic) => (bits & BIT[topic]) !== 0).sort(),
  }
}
