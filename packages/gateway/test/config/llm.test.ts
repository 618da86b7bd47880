import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { modelAddresses } from '../../src/cli/setup/model-addresses.ts'
import { readConfig, type LlmConfig } from '../../src/config/config.ts'

const data = mkdtempSync(join(tmpdir(), 'tollgate-config-llm-'))
afterAll(() => rmSync(data, { recursive: true, force: true }))

function read(llm: string): LlmConfig {
  writeFileSync(join(data, 'tollgate.yaml'), `tollgate: 1\nledger: tollgate.local/x\nllm: ${llm}\n`)
  return readConfig(data).llm
}

function mistakes(llm: string): string {
  try {
    read(llm)
  } catch (fault) {
    const { hints } = fault as { hints: readonly string[] }
    return hints.map((hint) => hint.replace(/^.*yaml:/, '')).join('\n')
  }
  return ''
}

const URL = 'https://api.example.com/v1'

describe('`llm` in the configuration', () => {
  it('reads model servers and the places of their keys', () => {
    const llm = read(
      `{ openai: { url: "${URL}", key-env: MY_KEY, timeout: 90s, parameters: [top_k] }, anthropic: { url: "${URL}", key-file: anthropic.key }, body: 8MiB, wait: 5m }`,
    )
    expect(llm).toEqual({
      openai: {
        url: URL,
        key: { from: 'environment', variable: 'MY_KEY' },
        parameters: ['top_k'],
        patience: 90_000,
      },
      anthropic: {
        url: URL,
        key: { from: 'file', path: join(data, 'anthropic.key') },
        parameters: [],
        patience: 600_000,
      },
      body: 8 << 20,
      wait: 300_000,
    })
    expect(read(`{ openai: { url: "${URL}", key: client } }`).openai?.key).toEqual({ from: 'client' })
  })

  it.each([
    ['{ openai: { key-env: A } }', '`url` is missing'],
    [
      `{ openai: { url: "${URL}", key-env: A, principals: { "agent:*": B } } }`,
      'whole name of one principal',
    ],
    [`{ openai: { url: "${URL}", key-env: A, principals: { "agent:a": sk-1 } } }`, 'not the keys'],
    [
      `{ openai: { url: "${URL}", key: client, principals: { "agent:a": B } } }`,
      '`principals` needs `key-env`',
    ],
    [`{ openai: { url: "${URL}" } }`, 'add one of `key-env`'],
    [`{ openai: { url: "${URL}", key-env: A, key: client } }`, 'add one of `key-env`'],
    [`{ openai: { url: "${URL}", key-env: sk-123 } }`, 'not the key'],
    [`{ openai: { url: "${URL}", key: mine } }`, '`key` must be one of `client`'],
    ['{ openai: { url: "http://api.example.com/v1", key-env: A } }', 'must be an `https://` URL'],
    [`{ openai: { url: "${URL}", key-env: A, timeout: 2h } }`, '`timeout` must be'],
    [
      `{ openai: { url: "${URL}", key-env: A, parameters: ["a b"] } }`,
      'a parameter name must have at most 64 letters',
    ],
    ['{ openia: {} }', 'did you mean `openai`?'],
    ['{ body: 1GiB }', '`body` must be'],
    ['{ wait: 1h }', '`wait` must be'],
    ['{ wait: 5 }', '`wait` must be'],
  ])('reports the mistake in %s', (llm, message) => {
    expect(mistakes(llm)).toContain(message)
  })
})

describe('the keys of model servers', () => {
  const config = (key: string): { llm: LlmConfig } => ({ llm: read(`{ openai: { url: "${URL}", ${key} } }`) })

  it('come from the environment or from a private file', () => {
    expect(modelAddresses(config('key-env: MY_KEY'), { MY_KEY: 'sk-1' }).get('openai')?.key).toBe('sk-1')
    const file = join(data, 'a.key')
    writeFileSync(file, 'sk-2\n', { mode: 0o600 })
    expect(modelAddresses(config('key-file: a.key')).get('openai')?.key).toBe('sk-2')
    chmodSync(file, 0o644)
    expect(() => modelAddresses(config('key-file: a.key'))).toThrow('can be read by other users')
  })

  it('are named if they are missing, and never shown', () => {
    expect(() => modelAddresses(config('key-env: MY_KEY'), {})).toThrow('`MY_KEY` contains no key')
    expect(() => modelAddresses(config('key-file: none.key'))).toThrow('cannot be read')
    const broken = 'sk-\nsecret'
    expect(() => modelAddresses(config('key-env: MY_KEY'), { MY_KEY: broken })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('secret') as string }),
    )
  })

  it('are undefined if each client sends its own', () => {
    expect(modelAddresses(config('key: client')).get('openai')?.key).toBeUndefined()
  })
})
