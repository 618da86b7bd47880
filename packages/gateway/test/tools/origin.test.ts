// The origin of a server, derived from its command line or URL.

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { originOf } from '../../src/tools/origin.ts'

/** The origin of a command line, written with spaces between its words. */
function check(line: string, cwd?: string): string {
  const [command = '', ...args] = line.split(' ')
  return originOf({ transport: 'stdio', command, args, ...(cwd !== undefined && { cwd }) })
}

const HASHED = /^\S+ sha256:[0-9a-f]{16}$/

describe('the origin of a launcher is what it runs', () => {
  test.each([
    ['npx @modelcontextprotocol/server-filesystem /safe', 'npx @modelcontextprotocol/server-filesystem'],
    ['npx -y @a/b@1.2.3 /', 'npx @a/b'],
    ['npx --yes b@latest --key s3cret', 'npx b'],
    ['npx -y -- b@^1.2 x', 'npx b'],
    ['npx -p @a/b server', 'npx -p @a/b server'],
    ['npx --package=@a/b@2 --quiet server', 'npx --package @a/b server'],
    ['npx --registry https://me:pw@evil.test/npm?k=1 b', 'npx --registry https://evil.test/npm b'],
    ['npx github:user/repo', 'npx github:user/repo'],
    ['npx git+https://tok:x@github.com/u/r.git#main', 'npx git+https://github.com/u/r.git'],
    ['npx git@github.com:u/r', 'npx git@github.com:u/r'],
    ['npx b@npm:@evil/c@1.0.0', 'npx b@npm:@evil/c'],
    ['npx b@file:../evil', 'npx b@file:../evil'],
    ['C:\\node\\npx.cmd -y b', 'npx b'],
    ['/usr/local/bin/npx b', 'npx b'],
    ['bunx --bun b@1', 'bunx b'],
    ['bun x b', 'bun x b'],
    ['bun run /x/server.ts', 'bun run /x/server.ts'],
    ['bun /x/server.ts', 'bun /x/server.ts'],
    ['pnpm dlx b@1', 'pnpm dlx b'],
    ['pnpm --package=@a/b dlx b', 'pnpm dlx --package @a/b b'],
    ['yarn dlx -q b', 'yarn dlx b'],
    ['npm exec -- b@1 x', 'npm exec b'],
    ['npm x b', 'npm x b'],
    ['uvx mcp-server-git --repository /x', 'uvx mcp-server-git'],
    ['uvx --from git+https://t@github.com/u/r b', 'uvx --from git+https://github.com/u/r b'],
    ['uvx --python 3.12 --from b==1.2 c', 'uvx --from b c'],
    ['uvx b[cli]>=1,<2', 'uvx b[cli]'],
    ['uv tool run b@1', 'uv tool run b'],
    ['uv --directory /x run server.py', 'uv run --directory /x server.py'],
    ['uv run -m srv --key s3cret', 'uv run -m srv'],
    ['pipx run --spec b==1 c', 'pipx run --spec b c'],
    ['node /x/server.js --token s3cret', 'node /x/server.js'],
    ['node --no-warnings --import /x/pre.js /x/server.js', 'node --import /x/pre.js /x/server.js'],
    ['node -r /evil.cjs /x/server.js', 'node -r /evil.cjs /x/server.js'],
    ['node --max-old-space-size=4096 C:\\x\\server.js', 'node C:\\x\\server.js'],
    ['tsx /x/server.ts', 'tsx /x/server.ts'],
    ['tsx watch /x/server.ts', 'tsx watch /x/server.ts'],
    ['deno run -A --allow-net=a.test npm:@a/b@1.2', 'deno run npm:@a/b'],
    ['deno run https://u:p@x.test/s.ts?k=1#f', 'deno run https://x.test/s.ts'],
    ['python -m mcp_server --key s3cret', 'python -m mcp_server'],
    ['python3 -u /x/server.py', 'python3 /x/server.py'],
    ['python3.12 -X dev -m srv', 'python3.12 -m srv'],
  ])('%s', (line, origin) => {
    expect(check(line)).toBe(origin)
  })

  test('a file is an absolute path, if the working directory is known', () => {
    expect(check('node dist/index.js', '/home/me/notes')).toBe('node /home/me/notes/dist/index.js')
    expect(check('node ./../evil/index.js', '/home/me/notes')).toBe('node /home/me/evil/index.js')
    expect(check('node --import ./pre.js a.js', '/x')).toBe('node --import /x/pre.js /x/a.js')
    expect(check('npx ./local', '/x')).toBe('npx /x/local')
    expect(check('npx user/repo', '/x')).toBe('npx user/repo')
    expect(check('uv run server.py', '/x')).toBe('uv run /x/server.py')
    expect(check('uv --directory sub run server.py', '/x')).toBe('uv run --directory sub server.py')
    expect(check('node dist/index.js')).toBe('node dist/index.js')
  })

  test('a word with spaces or hidden characters stays one word', () => {
    const origin = originOf({ transport: 'stdio', command: 'node', args: ['/x/a b\u202e.js'] })
    expect(origin).toBe('node "/x/a b\u202e.js"')
  })
})

describe('the origin of other programs is the name and a hash of the command line', () => {
  test.each([
    ['docker run -e KEY=s3cret image', 'docker'],
    ['/opt/bin/server --token s3cret', 'server'],
    ['sh -c s3cret', 'sh'],
    ['env KEY=s3cret npx b', 'env'],
    ['npx', 'npx'],
    ['npx -c s3cret', 'npx'],
    ['npx --unknown s3cret b', 'npx'],
    ['npx -p', 'npx'],
    ['npx https://[s3cret b', 'npx'],
    ['node -e s3cret', 'node'],
    ['node --eval=s3cret /x/server.js', 'node'],
    ['node -', 'node'],
    ['python -c s3cret', 'python'],
    ['pnpm run s3cret', 'pnpm'],
    ['uv pip install s3cret', 'uv'],
    ['deno task s3cret', 'deno'],
    [`node /${'s3cret'.repeat(100)}`, 'node'],
  ])('%s', (line, program) => {
    const origin = check(line)
    expect(origin).toMatch(HASHED)
    expect(origin.startsWith(`${program} sha256:`)).toBe(true)
    expect(origin).not.toContain('s3cret')
  })

  test('another argument is another origin, and so is another directory for a relative path', () => {
    expect(check('docker run a')).not.toBe(check('docker run b'))
    expect(check('./server', '/a')).not.toBe(check('./server', '/b'))
    expect(check('server', '/a')).toBe(check('server', '/b'))
    // The boundaries between words matter too.
    const [one, two] = [['a b'], ['a', 'b']].map((args) =>
      originOf({ transport: 'stdio', command: 'x', args }),
    )
    expect(one).not.toBe(two)
  })
})

describe('the origin of a URL', () => {
  const of = (url: string): string => originOf({ transport: 'http', url })

  test('has scheme, host and path, and nothing that could be a secret', () => {
    expect(of('https://tracker.example/mcp')).toBe('https://tracker.example/mcp')
    expect(of('https://me:pw@Tracker.example:8443/mcp?key=s3cret#x')).toBe('https://tracker.example:8443/mcp')
    expect(of('http://127.0.0.1:80/')).toBe('http://127.0.0.1/')
  })

  test('has a hash instead of a key in the path', () => {
    const [one, two] = [
      of('https://x.test/s/4f9a0c1d2e3b4a5968778695/mcp'),
      of('https://x.test/s/4f9a0c1d2e3b4a5968778696/mcp'),
    ]
    expect(one).toMatch(/^https:\/\/x\.test\/s\/sha256:[0-9a-f]{16}\/mcp$/)
    expect(one).not.toBe(two)
  })

  test('is a hash if it is invalid or too long', () => {
    expect(of('s3cret')).toMatch(/^sha256:[0-9a-f]{16}$/)
    expect(of(`https://x.test/${'a/'.repeat(400)}`)).toMatch(/^sha256:[0-9a-f]{16}$/)
  })
})

test('for any command line, the origin is short, well-formed and deterministic', () => {
  const word = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('-y', '-p', '--', '--package', '-m', 'run', 'dlx', '@a/b@1', './x.js'),
  )
  const command = fc.oneof(word, fc.constantFrom('npx', 'node', 'uv', 'python', 'bun', 'pnpm'))
  fc.assert(
    fc.property(command, fc.array(word), fc.option(word, { nil: undefined }), (program, args, cwd) => {
      const address = {
        transport: 'stdio',
        command: program,
        args,
        ...(cwd !== undefined && { cwd }),
      } as const
      const origin = originOf(address)
      expect(origin.isWellFormed()).toBe(true)
      expect(origin.length).toBeLessThanOrEqual(400)
      expect(originOf(address)).toBe(origin)
    }),
  )
})
