// The text that `tollgate up` prints when the gateway is ready: commands to try.

import { shellWord } from '../program/launcher.ts'
import { shown } from '../program/table.ts'
import { SAMPLE_PRINCIPAL, type SampleCall, type Samples } from './samples.ts'

interface WelcomeFacts {
  readonly url: string
  /** The words that start `tollgate` from any directory and with any PATH. */
  readonly words: readonly string[]
  /** The option that names the data directory; empty if it is the default one. */
  readonly data: string
  /** The data directory; undefined if it is the default one. */
  readonly directory: string | undefined
  /** An agent token for the examples, valid for this run only. */
  readonly agent: string
  /** Calls under the policy in force. */
  readonly samples: Samples
  /** The first admin token and its principal; undefined if an admin token existed before. */
  readonly admin: { readonly token: string; readonly of: string } | undefined
  /** The gateway listens on another address than the configured one, so commands need `TOLLGATE_URL`. */
  readonly elsewhere: boolean
  /** A token is stored for this data directory. Commands with it use the operator socket and need no address. */
  readonly hasLogin: boolean
}

/** Returns the lines of the text. */
export function welcome(about: WelcomeFacts): readonly string[] {
  const { data } = about
  return [
    ...settings(about),
    ...calls(about),
    ...section(
      'The console, a web page to see calls and to answer requests. Sign in with the admin token:',
      `${about.url}/console`,
    ),
    ...section(
      'To put a coding agent, or the MCP servers of your clients, behind the gateway (each shows every change first):',
      `tollgate setup claude-code${data}`,
      `tollgate setup mcp${data}`,
    ),
    ...section(
      'Or wrap the command of one server by hand, like this. After its client has connected, approve the tools:',
      entry(about),
      `tollgate mcp list${data}`,
      `tollgate mcp approve NAME${data}`,
    ),
    ...section(
      'Evidence: list the receipts, export a trust file and a pack, and verify the pack without the gateway:',
      `tollgate receipts list${data}`,
      `tollgate keys trust${data} > trust.json`,
      `tollgate export${data} -o all.pack`,
      `tollgate verify all.pack --trust trust.json`,
    ),
    '',
  ]
}

function calls(about: WelcomeFacts): readonly string[] {
  const { data, hasLogin, samples } = about
  const { principal, allowed, denied, escalated } = samples
  const whose = principal === SAMPLE_PRINCIPAL ? 'agent token' : `token of ${shown(principal)}`
  const missing = [
    ...(allowed ? [] : ['is allowed']),
    ...(denied ? [] : ['is denied']),
    ...(escalated ? [] : ['needs approval']),
  ]
  return [
    ...(allowed
      ? section(`A call that is allowed (this ${whose} is valid for this run only):`, call(about, allowed))
      : []),
    ...(denied ? section('A call that is denied:', call(about, denied)) : []),
    ...(escalated
      ? section(
          `A call that needs approval. List and approve it in another terminal${hasLogin ? ', with your passphrase' : ''}:`,
          call(about, escalated),
          `tollgate approvals list${data}`,
          `tollgate approvals approve ID${data}`,
        )
      : []),
    ...(missing.length > 0
      ? ['', `Found no call of ${shown(principal)} that ${missing.join(' or ')} under the policy in force.`]
      : []),
  ]
}

function settings({ admin, elsewhere, url, data, hasLogin }: WelcomeFacts): readonly string[] {
  const token = admin
    ? [
        ...section(`Admin token of ${admin.of}, shown only once:`, admin.token),
        ...section(
          'Store it under a passphrase in another terminal. Do not put it into a variable: an agent inherits variables.',
          `tollgate login${data}`,
        ),
      ]
    : []
  const address =
    elsewhere && !admin && !hasLogin
      ? section(
          'This address differs from the configured one. Set it for the other commands:',
          `export TOLLGATE_URL=${url}`,
        )
      : []
  return [...token, ...address]
}

function section(title: string, ...commands: readonly string[]): readonly string[] {
  return ['', title, '', ...commands.map((command) => `  ${command}`)]
}

function entry({ words: [program, ...words], directory }: WelcomeFacts): string {
  const where = directory === undefined ? [] : ['--data', directory]
  const server = ['npx', '-y', '@modelcontextprotocol/server-everything']
  return `"everything": ${JSON.stringify({ command: program, args: [...words, 'mcp', ...where, '--', ...server] })}`
}

function call({ url, agent }: WelcomeFacts, sample: SampleCall): string {
  return [
    `curl -s ${url}/v1/evaluate -H 'authorization: Bearer ${agent}' \\`,
    `    -H 'content-type: application/json' -d ${shellWord(JSON.stringify(sample))}`,
  ].join('\n')
}
