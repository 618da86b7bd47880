// What `tollgate up` says when the gateway is open: commands to paste, each doing something worth seeing.

/** What is told. */
interface WelcomeFacts {
  readonly url: string
  /** How the commands are called, such as `tollgate`. */
  readonly command: string
  /** The option that names the data directory; empty if it is the default one. */
  readonly data: string
  /** The data directory; undefined if it is the default one. */
  readonly directory: string | undefined
  /** A token for the calls, good for this run only. */
  readonly agent: string
  /** The first admin token and whose it is; undefined if there was one before. */
  readonly admin: { readonly token: string; readonly of: string } | undefined
  /** The configuration names another address, so commands must be told this one. */
  readonly elsewhere: boolean
}

/** The lines of it. */
export function welcome(about: WelcomeFacts): readonly string[] {
  const { command, data } = about
  return [
    ...settings(about),
    ...section(
      'A call that is allowed (the token is good for this run only):',
      call(about, 'demo/read_note', { name: 'shopping' }),
    ),
    ...section('One that is denied:', call(about, 'demo/delete_note', { name: 'shopping' })),
    ...section(
      'One that waits for a person. In another terminal, with the admin token, see and answer it:',
      call(about, 'demo/post_note', { url: 'https://partner.example/in', name: 'shopping' }),
      `${command} approvals list${data}`,
      `${command} approvals approve ID${data}`,
    ),
    ...section(
      'An MCP server behind the gateway: in the configuration of the client, put this in front of its command;',
      entry(about),
    ),
    ...section(
      'once the client has connected, look at what the server offers, and approve of it:',
      `${command} mcp list${data}`,
      `${command} mcp approve NAME${data}`,
    ),
    ...section(
      'The evidence: what happened, who can vouch for it, and a check that needs no gateway:',
      `${command} receipts list${data}`,
      `${command} keys trust${data} > trust.json`,
      `${command} export${data} -o all.pack`,
      `${command} verify all.pack --trust trust.json`,
    ),
    '',
  ]
}

function settings({ admin, elsewhere, url }: WelcomeFacts): readonly string[] {
  const address = elsewhere ? [`export TOLLGATE_URL=${url}`] : []
  if (admin) {
    const title = `The admin token of ${admin.of}, shown this once; keep it where you keep passwords:`
    return section(title, `export TOLLGATE_TOKEN=${admin.token}`, ...address)
  }
  return elsewhere
    ? section('The configuration names another address, so tell commands this one:', ...address)
    : []
}

function section(title: string, ...commands: readonly string[]): readonly string[] {
  return ['', title, '', ...commands.map((command) => `  ${command}`)]
}

/** A server in the configuration of a client. */
function entry({ command, directory }: WelcomeFacts): string {
  const [program, ...words] = command.split(' ')
  const where = directory === undefined ? [] : ['--data', directory]
  const server = ['npx', '-y', '@modelcontextprotocol/server-everything']
  return `"everything": ${JSON.stringify({ command: program, args: [...words, 'mcp', ...where, '--', ...server] })}`
}

function call({ url, agent }: WelcomeFacts, tool: string, args: object): string {
  const body = JSON.stringify({ tool, arguments: args })
  return [
    `curl -s ${url}/v1/evaluate -H 'authorization: Bearer ${agent}' \\`,
    `    -H 'content-type: application/json' -d '${body}'`,
  ].join('\n')
}
