// The MCP clients that setup knows: where their configuration is, and under which keys it lists servers.

import { homedir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

/** Names for `--client`. */
export const CLIENTS = [
  'claude-desktop',
  'claude-code',
  'cursor',
  'vscode',
  'windsurf',
  'zed',
  'codex',
] as const
/** A client. */
export type ClientId = (typeof CLIENTS)[number]

/** A file in which a client may list servers. */
export interface ClientFile {
  readonly client: ClientId
  /** The name of the client. */
  readonly name: string
  readonly file: string
  readonly format: 'json' | 'toml'
  /** The keys that lead to the servers. `*` is any key. */
  readonly sections: readonly (readonly string[])[]
  /** Where the client starts the servers of this file, as far as that is known. */
  readonly cwd: string
}

/** The places that paths are relative to. */
export interface Surroundings {
  readonly platform: NodeJS.Platform
  readonly env: NodeJS.ProcessEnv
  readonly home: string
  /** The directory of the project: the current one. */
  readonly project: string
}

/** The surroundings of this process. */
export function ownSurroundings(): Surroundings {
  return { platform: process.platform, env: process.env, home: homedir(), project: process.cwd() }
}

const SERVERS = [['mcpServers']] as const

/** Returns every file in which a known client may list servers, whether or not it exists. */
export function clientFiles(at: Surroundings): readonly ClientFile[] {
  const { home, project, env } = at
  const mine = (client: ClientId, ...path: readonly string[]): ClientFile => ({
    ...baseOf(client),
    file: join(...path),
    cwd: home,
  })
  const ours = (client: ClientId, ...path: readonly string[]): ClientFile => ({
    ...baseOf(client),
    file: join(project, ...path),
    cwd: project,
  })
  const settings = settingsFolder(at)
  const all = [
    mine('claude-desktop', settings, 'Claude', 'claude_desktop_config.json'),
    mine('claude-code', home, '.claude.json'),
    ours('claude-code', '.mcp.json'),
    mine('cursor', home, '.cursor', 'mcp.json'),
    ours('cursor', '.cursor', 'mcp.json'),
    mine('vscode', settings, 'Code', 'User', 'mcp.json'),
    mine('vscode', settings, 'Code', 'User', 'settings.json'),
    ours('vscode', '.vscode', 'mcp.json'),
    mine('windsurf', home, '.codeium', 'windsurf', 'mcp_config.json'),
    mine('zed', ...zedFolder(at), 'settings.json'),
    ours('zed', '.zed', 'settings.json'),
    mine('codex', given(env['CODEX_HOME'], home, '.codex'), 'config.toml'),
    ours('codex', '.codex', 'config.toml'),
  ]
  // In the home directory, a file of the user and a file of the project can be the same.
  return [...new Map(all.toReversed().map((each) => [each.file, each])).values()].toReversed()
}

function baseOf(client: ClientId): Pick<ClientFile, 'client' | 'name' | 'format' | 'sections'> {
  return { client, format: client === 'codex' ? 'toml' : 'json', ...KINDS[client] }
}

const KINDS: Readonly<Record<ClientId, Pick<ClientFile, 'name' | 'sections'>>> = {
  'claude-desktop': { name: 'Claude Desktop', sections: SERVERS },
  'claude-code': { name: 'Claude Code', sections: [...SERVERS, ['projects', '*', 'mcpServers']] },
  cursor: { name: 'Cursor', sections: SERVERS },
  vscode: { name: 'VS Code', sections: [['servers'], ['mcp', 'servers']] },
  windsurf: { name: 'Devin (Windsurf)', sections: SERVERS },
  zed: { name: 'Zed', sections: [['context_servers']] },
  codex: { name: 'Codex', sections: [['mcp_servers']] },
}

/** The folder that a variable names. An empty variable counts as not set. */
function given(value: string | undefined, ...otherwise: readonly string[]): string {
  return value === undefined || value === '' ? join(...otherwise) : value
}

/** The folder in which programs of the platform keep their settings. */
function settingsFolder({ platform, env, home }: Surroundings): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support')
  if (platform === 'win32') return given(env['APPDATA'], home, 'AppData', 'Roaming')
  return given(env['XDG_CONFIG_HOME'], home, '.config')
}

function zedFolder(at: Surroundings): readonly string[] {
  if (at.platform === 'darwin') return [at.home, '.config', 'zed']
  return [settingsFolder(at), at.platform === 'win32' ? 'Zed' : 'zed']
}
