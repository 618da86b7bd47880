// Adds the secrets to the configured servers. Secrets are only in the environment.

import process from 'node:process'
import type { Config, ServerConfig } from '../../config/config.ts'
import { GatewayError } from '../../error.ts'
import type { ServerAddress } from '../../mcp/server/upstream.ts'

const ALWAYS = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'TZ', 'TMPDIR']
// Windows processes do not start without these.
const ON_WINDOWS = [
  ...['APPDATA', 'COMSPEC', 'HOMEDRIVE', 'HOMEPATH', 'LOCALAPPDATA', 'NUMBER_OF_PROCESSORS', 'OS', 'PATH'],
  ...['PATHEXT', 'PROCESSOR_ARCHITECTURE', 'PROGRAMDATA', 'PROGRAMFILES', 'PROGRAMFILES(X86)', 'SYSTEMDRIVE'],
  ...['SYSTEMROOT', 'TEMP', 'TMP', 'USERDOMAIN', 'USERNAME', 'USERPROFILE', 'WINDIR'],
]

/**
 * Returns the address of each configured server.
 *
 * @throws GatewayError `CONFIG_INVALID` with every variable that is missing or unusable.
 */
export function serverAddresses(
  { data, mcp }: Pick<Config, 'data' | 'mcp'>,
  env: NodeJS.ProcessEnv = process.env,
): ReadonlyMap<string, ServerAddress> {
  const wrong = [...mcp.servers].flatMap(([name, server]) =>
    wantedBy(server).flatMap((variable) => {
      const what = mistakeOf(env[variable], server)
      return what === undefined ? [] : [`\`${variable}\` of the server \`${name}\` ${what}`]
    }),
  )
  if (wrong.length > 0) {
    throw new GatewayError('CONFIG_INVALID', `environment: ${wrong.join(', and ')}`, {
      hints: [`set it, or remove it from \`mcp.servers\` in the configuration in \`${data}\``],
    })
  }
  return new Map([...mcp.servers].map(([name, server]) => [name, addressOf(server, env)]))
}

/** Returns the problem with the value of a variable, without the value. */
function mistakeOf(value: string | undefined, { transport }: ServerConfig): string | undefined {
  if (value === undefined || value === '') return 'is missing'
  return transport === 'http' && !/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)
    ? 'is not a valid header value'
    : undefined
}

function wantedBy(server: ServerConfig): readonly string[] {
  const shared = server.transport === 'stdio' ? server.passEnv : Object.values(server.headersEnv)
  return [...shared, ...[...(server.own?.values() ?? [])].flatMap((own) => Object.values(own))]
}

function addressOf(server: ServerConfig, env: NodeJS.ProcessEnv): ServerAddress {
  const values = (names: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(names).map(([name, variable]) => [name, env[variable] ?? '']))
  const own = server.own && {
    own: new Map([...server.own].map(([principal, names]) => [principal, values(names)])),
  }
  if (server.transport === 'http')
    return { transport: 'http', url: server.url, headers: values(server.headersEnv), ...own }
  const { command, args, passEnv, cwd, browser } = server
  return {
    transport: 'stdio',
    command,
    args,
    env: { ...smallEnvironment(env), ...some(env, passEnv), ...server.env },
    ...(cwd !== undefined && { cwd }),
    ...(browser && { browser }),
    ...own,
  }
}

/** Returns the variables that a program needs to run, and no others. */
function smallEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  if (process.platform === 'win32') {
    return some(
      env,
      Object.keys(env).filter((name) => ON_WINDOWS.includes(name.toUpperCase())),
    )
  }
  return some(env, [...ALWAYS, ...Object.keys(env).filter((name) => name.startsWith('LC_'))])
}

function some(env: NodeJS.ProcessEnv, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))
}
