// Kinds of files, known by their paths: secrets, files that other programs run by themselves, and configuration of the gate.

import type { FileUse } from './facts.ts'
import { mayMatch } from './pattern.ts'

/**
 * Paths that contain secrets. `/` at the end means a directory with everything in it. A path without a leading `/` is found in
 * any directory. `*` matches any characters of one name.
 */
const SECRETS = [
  '.env',
  '.env.*',
  '*.env',
  '.netrc',
  '_netrc',
  '.npmrc',
  '.yarnrc.yml',
  '.pypirc',
  '.pgpass',
  '.my.cnf',
  '.htpasswd',
  '.git-credentials',
  '.vault-token',
  '.ssh/',
  '.gnupg/',
  '.aws/',
  '.azure/',
  '.kube/',
  '.docker/config.json',
  '.config/gcloud/',
  '.config/gh/',
  '.config/op/',
  '.config/hub',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.gem/credentials',
  '.m2/settings.xml',
  '.gradle/gradle.properties',
  '.terraform.d/credentials.tfrc.json',
  '.password-store/',
  '.local/share/keyrings/',
  'library/keychains/',
  'id_rsa',
  'id_dsa',
  'id_ecdsa',
  'id_ed25519',
  '*.pem',
  '*.key',
  '*.p12',
  '*.pfx',
  '*.jks',
  '*.keystore',
  '*.kdbx',
  '*.tfstate',
  '*.tfstate.backup',
  '*.tfstate.*.backup',
  '*.tfvars',
  'credentials',
  'credentials.json',
  'credentials.yaml',
  'credentials.yml',
  'service-account*.json',
  'secret',
  'secrets',
  'secret.json',
  'secret.yaml',
  'secret.yml',
  'secret.toml',
  'secrets.json',
  'secrets.yaml',
  'secrets.yml',
  'secrets.toml',
  '.claude/.credentials.json',
  '.codex/auth.json',
  '/etc/shadow',
  '/etc/gshadow',
  '/etc/sudoers',
  '/proc/*/environ',
]

/** Examples and public halves, which contain no secret. */
const NO_SECRETS = ['.env.example', '.env.sample', '.env.template', '.env.dist', '*.pub']

/** Files that a shell, git, an editor or a service runs or obeys by itself. */
const STARTUP = [
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.bash_aliases',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.inputrc',
  '.vimrc',
  '.config/fish/',
  '.config/autostart/',
  '.config/systemd/',
  '.local/bin/',
  'library/launchagents/',
  '.gitconfig',
  '.config/git/',
  '.git/config',
  '.git/hooks/',
  '.git/info/attributes',
  '.gitmodules',
  '.husky/',
  '.envrc',
  '.vscode/',
  '.idea/',
  '.devcontainer/',
  '.github/workflows/',
  '.github/actions/',
  '.gitlab-ci.yml',
  '.circleci/',
  'jenkinsfile',
  '.pre-commit-config.yaml',
  '.ssh/',
  '/etc/',
  '/usr/',
  '/bin/',
  '/sbin/',
  '/lib/',
  '/boot/',
  '/var/spool/cron/',
]

/** Hook and tool configuration of coding agents, and the gate's own files. Only changes count. */
const CLIENTS = [
  '.claude/',
  '.claude.json',
  '.mcp.json',
  'managed-settings.json',
  '/etc/claude-code/',
  '/etc/codex/',
  '/etc/cursor/',
  '/etc/github-copilot/',
  'library/application support/claudecode/',
  'library/application support/cursor/hooks.json',
  '.codex/',
  '.cursor/',
  '.copilot/',
  '.github/hooks/',
  '.github/copilot/',
  '.opencode/',
  'opencode.json',
  'opencode.jsonc',
  '.config/opencode/',
  '.gemini/',
  '.windsurf/',
  '.codeium/',
  '.config/goose/',
  '.config/amp/',
  '.cline/',
  '.clinerules/',
  'tollgate.yaml',
]

/** The gate's own directory. Reading counts too, because it contains keys. */
const GATE = ['.local/state/tollgate/', '.local/state/tollgate-setup/', '.config/tollgate/', '/etc/tollgate/']

/** Returns whether a path, which may end in a pattern, may contain a secret. */
export function isSecretPath(path: string): boolean {
  const known = SECRETS.some((entry) => isAt(path, entry))
  return known && (mayBeMany(path) || !NO_SECRETS.some((entry) => isAt(path, entry)))
}

/** Returns whether other programs run the file at a path by themselves. */
export function isStartupPath(path: string): boolean {
  return STARTUP.some((entry) => isAt(path, entry))
}

/** Returns whether a use of a path touches the gate or the hooks of a client. `own` are the gate's own paths. */
export function isGatePath(path: string, use: FileUse, own: readonly string[]): boolean {
  if (GATE.some((entry) => isAt(path, entry)) || own.some((entry) => touches(path, entry))) return true
  return use !== 'reads' && CLIENTS.some((entry) => isAt(path, entry))
}

function mayBeMany(path: string): boolean {
  return /[*?[]/.test(path)
}

function touches(path: string, entry: string): boolean {
  return path === entry || path.startsWith(`${entry}/`)
}

/** Returns whether a path is an entry of a list, or below one that is a directory. */
function isAt(path: string, entry: string): boolean {
  const names = path.toLowerCase().split('/')
  const isBelow = entry.endsWith('/')
  const wanted = (isBelow ? entry.slice(0, -1) : entry).split('/')
  const rooted = wanted[0] === ''
  const last = rooted ? 0 : names.length - wanted.length
  for (let at = 0; at <= last; at++) {
    const ends = at + wanted.length === names.length
    if ((ends || isBelow) && wanted.every((name, i) => mayMatch(names[at + i] ?? '', name))) return true
  }
  return false
}
