import { describe, expect, it } from 'vitest'
import { receiverOf } from '../../src/webhook/receiver.ts'
import { hook } from './webhook-rig.ts'

const ENV = {
  SECRET: `whsec_${Buffer.from('a secret of at least twenty-four bytes').toString('base64')}`,
  SHORT: 'c2hvcnQ=',
  NO_BASE64: '?'.repeat(40),
  ADDRESS: 'https://hooks.slack.com/services/T0/B0/secret-path',
  UNENCRYPTED: 'http://far.test/secret-path',
  PASSWORD: 'https://user:secret-path@far.test/',
}
const { url: _, ...NO_ADDRESS } = hook('', { secretEnv: 'SECRET' })

describe('a receiver', () => {
  it('has its address and secret from the environment, and shows only the host', () => {
    const { url, host, secret } = receiverOf({ ...NO_ADDRESS, urlEnv: 'ADDRESS' }, ENV)
    expect({ url, host, length: secret?.length }).toEqual({
      url: ENV.ADDRESS,
      host: 'hooks.slack.com',
      length: 38,
    })
  })

  it.each(['SHORT', 'MISSING', 'NO_BASE64'])('is refused without a usable secret: %s', (secretEnv) => {
    expect(() => receiverOf(hook('https://alerts.test/', { secretEnv }), ENV)).toThrow(/no usable secret/)
  })

  it.each(['MISSING', 'UNENCRYPTED', 'PASSWORD'])('is refused without a usable address: %s', (urlEnv) => {
    const refuse = (): unknown => receiverOf({ ...NO_ADDRESS, urlEnv }, ENV)
    expect(refuse).toThrow(/the address of a webhook, (is not set|must)/)
    expect(refuse).not.toThrow(/secret-path/)
  })
})
