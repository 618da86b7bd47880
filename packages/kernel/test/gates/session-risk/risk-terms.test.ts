import { describe, expect, it } from 'vitest'
import { axesOf, topicsOfCall } from '../../../src/gates/session-risk/signals.ts'
import { BIT, topicsIn, type Topic } from '../../../src/gates/session-risk/risk-terms.ts'

/** Checks that a text has exactly these topics. */
function check(text: string, ...topics: Topic[]): void {
  const expected = topics.reduce((bits, topic) => bits | BIT[topic], 0)
  expect(topicsIn(text), text).toBe(expected)
}

describe('words', () => {
  it('count as whole words, in any spelling', () => {
    check('read the password', 'credentials')
    check('PASSWORD', 'credentials')
    check('user_password', 'credentials')
    check('userPassword', 'credentials')
    check('get-api-key', 'credentials')
    check('apiKey', 'credentials')
    check('api_key', 'credentials')
    check('/home/u/.ssh/id_rsa', 'credentials')
    check('sudo rm', 'authority', 'operation')
    check('GDPR audit', 'regime', 'audit')
    check('export customers', 'movement', 'personal')
    check('DBPassword', 'credentials')
    check('HTTPToken', 'credentials')
    check('AWSSecretAccessKey', 'credentials')
    check('password1', 'credentials')
    check('base64', 'packing')
    check('/root/.ssh/id_ed25519', 'authority', 'credentials')
    check('APIKey', 'credentials')
    check('PASSWORDS', 'credentials')
    check('aSUDO', 'authority')
  })

  it('never count as parts of words', () => {
    for (const text of [
      'diamond',
      'executive',
      'tokenizer',
      'tokenization',
      'secretary',
      'administer',
      'rooted',
      'grassroots',
      'policyholder',
      'exporter',
      'auditorium',
      'piiano',
      'zipper',
      'target',
      'passworded',
      'keyboard',
      'monkey',
    ])
      check(text)
  })

  it('do not count `max_tokens` as a credential', () => {
    check('max_tokens')
    check('maxTokens')
    check('prompt tokens')
    check('output_tokens')
    check('access_token', 'credentials')
    check('the token', 'credentials')
  })

  it('are found in full-width and styled letters', () => {
    expect(topicsOfCall('x', { note: 'ｐａｓｓｗｏｒｄ 𝐞𝐱𝐩𝐨𝐫𝐭' }, true)).toBe(BIT.credentials | BIT.movement)
  })

  it('are read in names and values at any depth', () => {
    expect(topicsOfCall('x', { a: [{ password: 1 }, { b: ['hipaa'] }] }, true)).toBe(
      BIT.credentials | BIT.regime,
    )
  })

  it('in a long text count only if the call can send data or commands', () => {
    const text = `${'lorem ipsum '.repeat(30)} password export`
    expect(topicsOfCall('fs/write', { text }, false)).toBe(0)
    expect(topicsOfCall('mail/send', { text }, true)).toBe(BIT.credentials | BIT.movement)
  })

  it('are found in linear time', () => {
    expect(topicsIn('a'.repeat(1 << 20))).toBe(0)
    expect(topicsIn('aA'.repeat(1 << 19))).toBe(0)
  })
})

describe('signals', () => {
  const facts = {
    declared: true,
    effect: 'read',
    outside: false,
    leaves: false,
    afterSource: false,
    denials: 0,
  } as const

  it('of ordinary work are zero', () => {
    expect(axesOf(topicsIn('fs/read_file README.md'), facts)).toEqual({
      exfiltration: 0,
      privilege: 0,
      compliance: 0,
    })
  })

  it('weigh the same words more for stronger effect classes', () => {
    const topics = topicsIn('customer password export')
    const order = (['read', 'write', 'execute', 'send'] as const).map(
      (effect) => axesOf(topics, { ...facts, effect }).exfiltration,
    )
    expect(order).toEqual([...order].sort((a, b) => a - b))
    expect(new Set(order).size).toBe(4)
  })

  it('rise for an outside destination, after sensitive data was read, and after denials', () => {
    const topics = topicsIn('upload')
    const base = axesOf(topics, { ...facts, effect: 'send' }).exfiltration
    for (const worse of [{ outside: true }, { afterSource: true }, { denials: 2 }]) {
      expect(axesOf(topics, { ...facts, effect: 'send', ...worse }).exfiltration).toBeGreaterThan(base)
    }
    // Earlier denials do not make a harmless call risky.
    expect(axesOf(0, { ...facts, denials: 9 })).toEqual({ exfiltration: 0, privilege: 0, compliance: 0 })
  })
})
