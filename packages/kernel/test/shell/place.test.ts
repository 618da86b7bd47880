// Where a call acts: the paths that a door resolves, and what a rule may conclude from them.

import { describe, expect, it } from 'vitest'
import { answerRequest } from '../../src/admin/answers.ts'
import { pathsNamed } from '../../src/open/paths.ts'
import { capturePlace, isRealPath } from '../../src/shell/place.ts'
import { createRig } from '../rig.ts'

const POLICY = `
tollgate: 1
name: files
principals: { "agent:*": { tier: admin } }
tools:
  edit: { effect: write, destinations: none, writes: [file, edits.file] }
  move: { effect: write, destinations: none, deletes: [from], writes: [to], cwd: dir }
  plain: { effect: write, destinations: none }
rules:
  - { id: secrets, deny: [edit, move], when: 'size(files.secrets) > 0' }
  - { id: asks, require: edit, when: 'files.writes.exists(p, p == "/proj/ask")' }
  - { id: inside, allow: [edit, move], when: 'files.writes.all(p, p.startsWith("/proj/"))' }
  - { id: declared, allow: plain, when: 'size(files.unresolved) == 0' }
  - { id: rest, allow: plain }
`

const place = { cwd: '/proj', home: '/home/dev', project: '/proj' }

describe('the paths that a door resolves', () => {
  it.each([
    [{ tool: 'edit', args: { file: 'a' } }, ['/proj/a']],
    [{ tool: 'edit', args: { file: '/etc/../a' } }, ['/etc/../a']],
    [{ tool: 'edit', args: { file: '~/a' } }, ['/home/dev/a']],
    [
      { tool: 'edit', args: { edits: [{ file: 'a' }, { file: 'b' }, { file: 'a' }] } },
      ['/proj/a', '/proj/b'],
    ],
    // A deletion removes a link, so only its folder is resolved.
    [{ tool: 'move', args: { from: 'x/link', to: 'y' } }, ['/proj/y', '/proj/x']],
    [{ tool: 'move', args: { from: 'x/..', dir: 'sub' } }, ['/proj/sub/x/..']],
    [{ tool: 'plain', args: { file: 'a' } }, []],
    [{ tool: 'missing', args: { file: 'a' } }, []],
  ])('%j', async (call, paths) => {
    const rig = await createRig({ policy: POLICY })
    expect(pathsNamed(rig.kernel, rig.call({ ...call, place }))).toEqual(paths)
  })
})

describe('a call with paths', () => {
  const real = (paths: Readonly<Record<string, string | null>>) => ({ ...place, paths })
  it.each([
    ['is judged by the real path', real({ '/proj/a': '/proj/a' }), 'ALLOW', 'RULE_ALLOWED'],
    ['does not pass over a link', real({ '/proj/a': '/etc/a' }), 'DENY', 'NO_RULE_MATCHED'],
    [
      'finds a secret behind a link',
      real({ '/proj/a': '/home/dev/.ssh/id_rsa' }),
      'DENY',
      'POLICY_VIOLATION',
    ],
    ['waits if its path is unresolved', real({ '/proj/a': null }), 'ESCALATE', 'CALL_NOT_UNDERSTOOD'],
    ['waits if its path was not asked about', real({}), 'ESCALATE', 'CALL_NOT_UNDERSTOOD'],
    ['is outside without a place', undefined, 'DENY', 'NO_RULE_MATCHED'],
  ])('%s', async (_, where, verdict, reason) => {
    const rig = await createRig({ policy: POLICY })
    const { decided } = await rig.authorize({
      tool: 'edit',
      args: { file: 'a' },
      ...(where && { place: where }),
    })
    expect([decided.verdict, decided.reason]).toEqual([verdict, reason])
  })

  it('is unresolved if an argument is not a text', async () => {
    const rig = await createRig({ policy: POLICY })
    const { decided } = await rig.authorize({ tool: 'edit', args: { file: { a: 1 } }, place })
    expect(decided.verdict).toBe('DENY')
  })

  it('of a tool that declares no arguments satisfies no condition about facts', async () => {
    const rig = await createRig({ policy: POLICY })
    const { decided } = await rig.authorize({ tool: 'plain', place })
    expect([decided.verdict, decided.rule]).toEqual(['ALLOW', 'rest'])
  })

  it('needs a new approval if the path now leads elsewhere', async () => {
    const rig = await createRig({ policy: POLICY })
    const call = { tool: 'edit', args: { file: 'ask' } }
    const asked = await rig.authorize({ ...call, place: real({ '/proj/ask': '/proj/ask' }) })
    const request = asked.decided.approval ?? ''
    await answerRequest(rig.kernel, { tenant: 'default', request, granted: true, approver: 'user:olga' })
    const moved = await rig.authorize({
      ...call,
      place: real({ '/proj/ask': '/proj/other' }),
      approval: request,
    })
    expect(moved.decided.verdict).not.toBe('ESCALATE')
    const elsewhere = { ...real({ '/proj/ask': '/proj/ask' }), project: '/' }
    const other = await rig.authorize({ ...call, place: elsewhere })
    expect(other.decided.verdict).toBe('ESCALATE')
    const same = await rig.authorize({ ...call, place: real({ '/proj/ask': '/proj/ask' }) })
    expect(same.decided.reason).toBe('APPROVAL_GRANTED')
  })

  it('commits to its place in the evidence, and only if it has one', async () => {
    const rig = await createRig({ policy: POLICY })
    const evidence: string[] = []
    for (const where of [undefined, place, real({ '/proj/a': '/proj/a' }), real({ '/proj/a': null })]) {
      await rig.authorize({ tool: 'plain', session_id: 'one', ...(where && { place: where }) })
      evidence.push(rig.last('decision').evidence)
    }
    expect(new Set(evidence).size).toBe(4)
  })
})

describe('a place', () => {
  it.each(['a', '/a/../b', '/a//b', '/a/', './a', '/a/./b', '', `/${'a'.repeat(5000)}`, '/a\0b'])(
    'has no path %j',
    (path) => {
      expect(isRealPath(path)).toBe(false)
      expect(() => capturePlace({ cwd: path })).toThrow(TypeError)
      expect(() => capturePlace({ paths: { x: path } })).toThrow(TypeError)
      expect(() => capturePlace({ gate: [path] })).toThrow(TypeError)
    },
  )

  it('has at most 256 paths', () => {
    const paths = Object.fromEntries(Array.from({ length: 257 }, (_, i) => [`/${i}`, null]))
    expect(() => capturePlace({ paths })).toThrow(TypeError)
  })
})
