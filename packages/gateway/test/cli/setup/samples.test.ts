// The samples of the banner do what they promise, under every example policy. Real kernels in memory.

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { authorize, type Kernel } from '@tollgate/kernel'
import { setFreeze } from '@tollgate/kernel/admin'
import { parsePolicy, type Policy } from '@tollgate/kernel/policy'
import { describe, expect, it } from 'vitest'
import { findSamples, type SampleCall, type Samples } from '../../../src/cli/setup/samples.ts'
import { STARTER_CASES, STARTER_POLICY } from '../../../src/cli/setup/starter.ts'
import { welcome } from '../../../src/cli/setup/welcome.ts'
import { readCaseFile } from '../../../src/workbench/case-file.ts'
import { draftsIn } from '../../../src/workbench/generate/cases.ts'
import type { Draft } from '../../../src/workbench/generate/draft.ts'
import { createStages } from '../../../src/workbench/stage.ts'

const FOLDER = fileURLToPath(new URL('../../../../../examples/policies/', import.meta.url))
const EXAMPLES = readdirSync(FOLDER).filter((name) => /^[^.]+\.yaml$/.test(name))

function policyOf(text: string): Policy {
  const parsed = parsePolicy(text)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.mistakes))
  return parsed.policy
}

async function kernelOf(text: string): Promise<Kernel> {
  const stages = await createStages(policyOf(text))
  return (await stages.open(Date.UTC(2026, 0, 5, 9), 'default')).kernel
}

function draftsOf(cases: string) {
  const read = readCaseFile(cases)
  if (!read.ok) throw new Error(JSON.stringify(read.mistakes))
  return draftsIn(read.file)
}

const KINDS = ['allowed', 'denied', 'escalated'] as const

/** The verdicts of the gateway on the samples. */
async function answersTo(kernel: Kernel, samples: Samples): Promise<Readonly<Record<string, string>>> {
  const answers: Record<string, string> = {}
  for (const kind of KINDS) {
    const call = samples[kind]
    if (call) answers[kind] = await verdictOf(kernel, samples.principal, call)
  }
  return answers
}

async function verdictOf(kernel: Kernel, principal: string, call: SampleCall): Promise<string> {
  const { tool, arguments: args, context } = call
  const caller = { tenant: 'default', principal }
  const asked = {
    caller,
    door: 'http',
    assurance: 'advised',
    tool,
    args,
    ...(context && { context }),
  } as const
  return (await authorize(kernel, asked)).decided.verdict
}

const ALL = { allowed: 'ALLOW', denied: 'DENY', escalated: 'ESCALATE' }

const FEWER: ReadonlyMap<string, readonly string[]> = new Map([
  // Calls of a browser go through a route of their own.
  ['browser-agent.yaml', []],
  // A part to copy: it allows tools that do nothing, and knows no others.
  ['framework-tools.yaml', ['allowed']],
])

describe('the samples of the banner', () => {
  it('of the starter policy are its three calls', async () => {
    const kernel = await kernelOf(STARTER_POLICY)
    const samples = await findSamples(kernel, 'default', draftsOf(STARTER_CASES))
    expect(samples).toEqual({
      principal: 'agent:demo',
      allowed: { tool: 'demo/read_note', arguments: { name: 'shopping' } },
      denied: { tool: 'demo/delete_note', arguments: { name: 'shopping' } },
      escalated: {
        tool: 'demo/post_note',
        arguments: { url: 'https://partner.example/in', name: 'shopping' },
      },
    })
    expect(await answersTo(kernel, samples)).toEqual(ALL)
  })

  it.each(EXAMPLES)('get the promised answers under %s', async (name) => {
    const text = readFileSync(FOLDER + name, 'utf8')
    const cases = draftsOf(readFileSync(FOLDER + name.replace('.yaml', '.test.yaml'), 'utf8'))
    for (const known of [cases, []]) {
      const kernel = await kernelOf(text)
      const samples = await findSamples(kernel, 'default', known)
      const kinds = KINDS.filter((kind) => samples[kind])
      expect(await answersTo(kernel, samples)).toEqual(
        Object.fromEntries(kinds.map((kind) => [kind, ALL[kind]])),
      )
      if (known.length > 0) expect(kinds).toEqual(FEWER.get(name) ?? KINDS)
    }
  })

  it('come from the case file, if it has them', async () => {
    const [text, cases] = ['.yaml', '.test.yaml'].map((end) =>
      readFileSync(`${FOLDER}deployer${end}`, 'utf8'),
    )
    const drafts = draftsOf(cases ?? '')
    const { principal, allowed, denied, escalated } = await findSamples(
      await kernelOf(text ?? ''),
      'default',
      drafts,
    )
    expect(principal).toBe('agent:deployer')
    const written = drafts.map(({ tool, args }) => ({ tool, arguments: args }))
    for (const call of [allowed, denied, escalated]) expect(written).toContainEqual(call)
  })

  it('are missing where the policy, or a freeze, has none', async () => {
    const closed = await kernelOf('tollgate: 1\nname: closed\ntools: {}\nrules: []\n')
    expect(await findSamples(closed, 'default', draftsOf(STARTER_CASES))).toEqual({ principal: 'agent:demo' })
    const frozen = await kernelOf(STARTER_POLICY)
    await setFreeze(frozen, { scope: 'all', tenant: 'default', by: 'user:ann', frozen: true })
    expect(await findSamples(frozen, 'default', [])).toEqual({ principal: 'agent:demo' })
  })

  it('never contain what a terminal or a shell would read differently', async () => {
    const kernel = await kernelOf(STARTER_POLICY)
    const told = ['\u001b[2J', 'a\nb', '\u202e', 'é', 'back\\slash'].map((name) => noted({ name }))
    expect((await findSamples(kernel, 'default', told)).allowed).toEqual(noted({ name: 'shopping' }).call)
    const quoted = { tool: 'demo/read_note', arguments: { name: "it's; $(x) `y`" } }
    const lines = bannerOf({ principal: 'agent:demo', allowed: quoted }).join('\n')
    const [, word = ''] = / -d (.*)$/m.exec(lines) ?? []
    expect(execFileSync('/bin/sh', ['-c', `printf %s ${word}`], { encoding: 'utf8' })).toBe(
      JSON.stringify(quoted),
    )
  })

  it('name what was not found, and the principal', () => {
    const text = bannerOf({ principal: 'agent:ci', denied: { tool: 'x', arguments: {} } }).join('\n')
    expect(text).toContain(
      'Found no call of agent:ci that is allowed or needs approval under the policy in force.',
    )
    expect(text).not.toContain('approvals approve')
  })
})

function noted(args: { readonly name: string }): Draft & { readonly call: SampleCall } {
  const draft = { principal: 'agent:demo', session: 's', door: 'http', tenant: 'default', time: 0 } as const
  return { ...draft, tool: 'demo/read_note', args, call: { tool: 'demo/read_note', arguments: args } }
}

function bannerOf(samples: Samples): readonly string[] {
  const facts = { url: 'http://127.0.0.1:1', words: ['/x'], data: '', directory: undefined, agent: 't' }
  return welcome({ ...facts, samples, admin: undefined, elsewhere: false, hasLogin: true })
}
