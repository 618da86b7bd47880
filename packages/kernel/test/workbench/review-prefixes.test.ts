// Remarks of `reviewPolicy` on conditions that compare characters of paths, hostnames and URLs.

import { describe, expect, it } from 'vitest'
import { reviewPolicy } from '../../src/workbench/review/review.ts'
import { policyOf } from './review-rig.ts'

const HEAD = 'tollgate: 1\nname: x\ntools:\n  fs/read: { effect: read }\nrules:\n'

/** Returns `CODE remedy` of the remarks on the condition of a rule. */
function said(action: string, condition: string): readonly string[] {
  const rule = `  - { id: a, ${action}: fs/read, when: ${JSON.stringify(condition)} }\n`
  return reviewPolicy(policyOf(HEAD + rule)).map(({ code, remedy }) => `${code} ${remedy}`)
}

const ITSELF = ', which also matches'

describe('a prefix or suffix test on a path, a hostname or a URL', () => {
  it.each([
    ['args.path.startsWith("/notes/")', `path.within(args.path, "/notes")\`${ITSELF} \`/notes\` itself`],
    ['args.file.startsWith("/notes")', 'path.within(args.file, "/notes")'],
    ['args.outputDir.startsWith("build/")', 'path.within(args.outputDir, "build")'],
    ['args["file_path"].startsWith("~/work/")', 'path.within(args["file_path"], "~/work")'],
    ['args.x.startsWith("/srv/notes/")', 'path.within(args.x, "/srv/notes")'],
    ['args.path.matches("^/notes/")', 'path.within(args.path, "/notes")'],
    ['matches(args.path, "^/notes/.*")', 'path.within(args.path, "/notes")'],
    ['args.paths.all(p, p.startsWith("/notes/"))', 'path.within(p, "/notes")'],
    ['(has(args.path) ? [args.path] : []).all(p, p.startsWith("/a/"))', 'path.within(p, "/a")'],
    ['args.path.contains("/notes/")', 'path.within(args.path, "/notes")'],
    ['args.path.startsWith("/notes/") && !args.path.contains("..")', 'path.within(args.path, "/notes")'],
    ['args.url.startsWith("https://example.com/api")', 'url.within(args.url, "https://example.com/api")'],
    ['args.target.startsWith("https://example.com")', 'url.within(args.target, "https://example.com")'],
    ['args.url.contains("example.com")', 'url.within(args.url, …)'],
    ['args.host.endsWith(".example.com")', 'host.within(args.host, "example.com")'],
    ['args.hostname.endsWith("example.com")', 'host.within(args.hostname, "example.com")'],
    ['args.host.startsWith("api.example.com")', 'host.within(args.host, "api.example.com")'],
  ])('%s gives the function to write', (condition, edit) => {
    for (const [action, source] of [
      ['allow', condition],
      ['require', condition],
      ['deny', `!(${condition})`],
    ] as const) {
      const [first = '', ...more] = said(action, source)
      expect(first).toContain(`PREFIX_BARE write \`${edit}`)
      expect(more).toEqual([])
    }
  })

  it('in a rule that denies gets the remedy to list what is allowed', () => {
    expect(said('deny', 'args.path.startsWith("/etc/")')).toEqual([
      'PREFIX_BARE list what is allowed instead, with `path.within(…)`',
    ])
  })

  it.each([
    'args.path == "/notes/a"',
    'args.path in ["/notes/a", "/notes/b"]',
    'args.path.matches("^/notes/[a-z]+$")',
    'args.path.startsWith("src/") && args.path.matches("^.{4}[a-z]+$")',
    'args.path.contains("..")',
    'args.path.endsWith(".md")',
    'args.text.startsWith("/help")',
    'args.command.matches("^npm (test|run)")',
    'tool.startsWith("fs/")',
    'args.name.matches("(?i)secret")',
    'path.within(args.path, "/notes")',
  ])('is not reported for %s', (condition) => {
    expect(said('allow', condition)).toEqual([])
  })
})

describe('`within`', () => {
  it('gets a remark if a rule denies what is inside, or allows what is not', () => {
    expect(said('deny', 'path.within(args.path, "/keys")')[0]).toContain('WITHIN_TURNED')
    expect(said('allow', '!url.within(args.url, "https://example.com")')[0]).toContain('WITHIN_TURNED')
    expect(said('deny', '!path.within(args.path, "/notes")')).toEqual([])
    expect(said('require', 'path.within(args.path, "/notes")')).toEqual([])
    expect(said('require', '!path.within(args.path, "/notes")')).toEqual([])
  })

  it('is understood in contradictions', () => {
    for (const condition of [
      'path.within(args.p, "/a") && path.within(args.p, "/b")',
      'path.within(args.p, "/a") && !path.within(args.p, "/a")',
      'path.within(args.p, "/a") && args.p == "/b/c"',
      'path.within(args.p, "/a") && args.p in ["/a/../b", "/ab"]',
      'host.within(args.p, "a.test") && args.p == "b.test"',
      'url.within(args.p, "https://a.test") && args.p == "https://a.test.evil.test/"',
    ]) {
      expect(said('require', condition).map((text) => text.split(' ')[0])).toContain('CONDITION_NEVER_TRUE')
    }
    expect(said('require', 'path.within(args.p, "/a") && path.within(args.p, "/a/b")')).toEqual([])
    expect(said('require', 'path.within(args.p, "/a") && args.p == "/a/c"')).toEqual([])
  })

  it('of a variable does not count as a loop', () => {
    expect(said('require', 'path.within(tool, "fs") && tool == "fs/read"')).toEqual([])
  })
})
