import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readText } from '../../src/gates/texts.ts'
import { labelsOfValues } from '../../src/text/labelled.ts'
import { createRig } from '../rig.ts'

const CARD = '4111 1111 1111 1111'
const OWN = 'olga@mail.example'
const KEY = 'AKIAIOSFODNN7EXAMPLQ'
const LONG = 'Thank you for the order of last week, which we have sent out from our second store today.'

/** The labels of each value of a text. */
function labelled(text: string): Readonly<Record<string, readonly string[]>> {
  const { values, marks } = readText('', text)
  const labels = labelsOfValues(text, marks, values)
  return Object.fromEntries(values.map((value, i) => [value.text, labels[i] ?? []]))
}

describe('a label of data in a text', () => {
  it.each<[string, string, readonly string[]]>([
    ['on one line of running text', `${LONG} Card ${CARD}. We wrote to ${OWN}.`, []],
    ['on another line', `Write to ${OWN}\ncard ${CARD}\n`, []],
    ['in another field of JSON', `{"card":"${CARD}","mail":"${OWN}"}`, []],
    ['in another field of YAML', `card: ${CARD}\nmail: ${OWN}\n`, []],
    ['in a long field', `{"body":"${LONG} ${LONG} ${CARD}, ${OWN}"}`, []],
    ['in the same field of JSON', `{"payer":"${CARD} (${OWN})","x":"1"}`, ['card', 'personal']],
    ['in the same field of YAML', `payer: ${CARD} (${OWN})\nx: 1\n`, ['card', 'personal']],
    ['in a short text', `${CARD} of ${OWN}`, ['card', 'personal']],
  ])('applies to an address as expected: %s', (_, text, labels) => {
    const found = labelled(text)
    expect(found['4111111111111111']).toEqual(['card', 'personal'])
    expect(found[OWN]).toEqual(labels)
  })

  it('applies to every value that it overlaps', () => {
    expect(labelled(`${LONG} export AWS_ACCESS_KEY_ID=${KEY} ${LONG} https://ci.example/run`)).toMatchObject({
      [KEY]: ['secret'],
      'ci.example': [],
    })
  })

  it('agrees with a comparison of every value with every mark', () => {
    const span = fc
      .tuple(fc.nat(60), fc.integer({ min: 1, max: 9 }))
      .map(([start, size]) => ({ start, end: start + size }))
    const text = 'x'.repeat(80)
    fc.assert(
      fc.property(fc.array(span), fc.array(span), (values, found) => {
        const sorted = values.sort((a, b) => a.start - b.start)
        const marks = found.map((each, i) => ({ ...each, label: i % 2 === 0 ? 'a' : 'b' }))
        const naive = sorted.map(({ start, end }) => [
          ...new Set(marks.filter((mark) => mark.start < end && start < mark.end).map(({ label }) => label)),
        ])
        expect(labelsOfValues(text, marks, sorted)).toEqual(naive.map((each) => each.sort()))
      }),
    )
  })
})

const POLICY = `
principals: { "agent:*": { tier: elevated } }
tools:
  web/page: { effect: read, destinations: none }
  web/form: { effect: send, destinations: [url] }
rules: [{ id: all, allow: "*" }]
gates:
  egress: { allow: ["*"] }
  taint: { deny: [personal, secret], provenance: { untrusted: allow, ordered: allow, flagged: deny } }
`

describe('a form', () => {
  it('accepts the user’s address from a page with a card number, but never the number', async () => {
    const rig = await createRig({ policy: POLICY })
    const text = `Signed in as ${OWN}\n\n${LONG}\nWe charge the card ${CARD}.`
    const page = { status: 'COMPLETED', output: new TextEncoder().encode(text), content: text } as const
    await rig.enforce({ tool: 'web/page', args: {} }, () => Promise.resolve(page))
    const fill = (value: string) =>
      rig.enforce({ tool: 'web/form', args: { url: 'https://shop.example/', value } })
    expect((await fill(OWN)).decided.verdict).toBe('ALLOW')
    expect((await fill(CARD)).decided.reason).toBe('TAINTED_DATA_EGRESS_DENY')
  })

  it('accepts nothing from a text with too many values', async () => {
    const rig = await createRig({ policy: POLICY })
    const keys = Array.from({ length: 600 }, (_, i) => `AKIA${String(i).padStart(16, 'ABCDEFGHIJKLMNOP')}`)
    const text = `${OWN}\n${keys.join('\n')}`
    const page = { status: 'COMPLETED', output: new TextEncoder().encode(text), content: text } as const
    await rig.enforce({ tool: 'web/page', args: {} }, () => Promise.resolve(page))
    const { decided } = await rig.enforce({
      tool: 'web/form',
      args: { url: 'https://shop.example/', value: OWN },
    })
    expect(decided.reason).toBe('TAINTED_DATA_EGRESS_DENY')
  })
})
