// The servers of the configuration with their secrets, which are in the environment and nowhere else.

import process from 'node:process'
import type { Config, ServerConfig } from '../../config/config.ts'
import { GatewayError } from '../../error.ts'
import type { ServerAddress } from '../../mcp/server/upstream.ts'

const ALWAYS = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'TZ', 'TMPDIR']
// Without these, processes on Windows do not even start.
const ON_WINDOWS = [
  ...['APPDATA', 'COMSPEC', 'HOMEDRIVE', 'HOMEPATH', 'LOCALAPPDATA', 'NUMBER_OF_PROCESSORS', 'OS', 'PATH'],
  ...['PATHEXT', 'PROCESSOR_ARCHITECTURE', 'PROGRAMDATA', 'PROGRAMFILES', 'PROGRAMFILES(X86)', 'SYSTEMDRIVE'],
  ...['SYSTEMROOT', 'TEMP', 'TMP', 'USERDOMAIN', 'USERNAME', 'USERPROFILE', 'WINDIR'],
]

/**
 * How each server of the configuration is reached.
 *
 * @throws GatewayError `CONFIG_INVALID` that names every variable that is missing or cannot be used.
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
    throw new GatewayError('CONFIG_INVALID', `in the environment, ${wrong.join(', and ')}`, {
      hints: [`set it, or take it out of \`mcp.servers\` in the configuration in \`${data}\``],
    })
  }
  return new Map([...mcp.servers].map(([name, server]) => [name, addressOf(server, env)]))
}

/** What is wrong with the value of a variable; never the value. */
function mistakeOf(value: string | undefined, { transport }: ServerConfig): string | undefined {
  if (value === undefined || value === '') return 'is missing'
  return transport === 'http' && !/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)
    ? 'cannot be the value of a header'
    : undefined
}

function wantedBy(server: ServerConfig): readonly string[] {
  return server.transport === 'stdio' ? server.passEnv : Object.values(server.headersEnv)
}

function addressOf(server: ServerConfig, env: NodeJS.ProcessEnv): ServerAddress {
  if (server.transport === 'http') {
    const { url, headersEnv } = server
    const headers = Object.entries(headersEnv).map(([header, variable]) => [header, env[variable] ?? ''])
    // Sound: each has a name and a value.
    return { transport: 'http', url, headers: Object.fromEntries(headers) as Record<string, string> }
  }
  const { command, args, passEnv, cwd } = server
  return {
    transport: 'stdio',
    command,
    args,
    env: { ...smallEnvironment(env), ...some(env, passEnv), ...server.env },
    ...(cwd !== undefined && { cwd }),
  }
}

/** What a program needs to run at all, and nothing that is meant for another. */
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
