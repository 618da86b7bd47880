// The text of a new `tollgate.yaml`.

interface ConfigTextOptions {
  readonly ledger: string
  readonly port: number
  /** The environment variable with the URL of the database; undefined for a ledger in a file. */
  readonly urlEnv?: string
  /** `plain` if not given. */
  readonly commit?: 'plain' | 'salted'
}

/** Returns the text of a new `tollgate.yaml`, with a comment for every setting. */
export function defaultConfigText({ ledger, port, commit = 'plain', urlEnv }: ConfigTextOptions): string {
  const database =
    urlEnv === undefined
      ? '# database: { url-env: TOLLGATE_DATABASE_URL, writer: gateway }'
      : `database: { url-env: ${urlEnv}, writer: gateway }`
  return `# Configuration of this gateway. The policy is in policy.yaml. Restart the gateway after a change.
tollgate: 1

# Name of the ledger. It is part of every receipt and checkpoint and cannot be changed later.
ledger: ${JSON.stringify(ledger)}

# PostgreSQL database with the ledger, for several gateways. \`url-env\` names the environment variable with its URL; each gateway has
# its own \`writer\`. Without this setting, the ledger is the file \`ledger.sqlite\` in this directory.
${database}

# Address to listen on. For agents on other machines use \`host: 0.0.0.0\` with TLS, because every call carries a token.
listen:
  host: 127.0.0.1
  port: ${port}
  # tls: { cert: /path/to/cert.pem, key: /path/to/key.pem }

# PEM file of the authority that signed \`cert\`, if it is your own: commands on this directory then trust only that authority.
# ca: /path/to/ca.pem

# Further hostnames of the gateway, as clients write them in its URL.
# hosts: [gate.example.com]

# Web pages of other origins that may use the gateway with a token, exactly as browsers name them.
# cors: ["https://app.example.com"]

# OpenID Connect issuer whose access tokens agents and people can use instead of tokens of the gateway.
# sign-in: { issuer: "https://login.example.com", audience: "https://gate.example.com/mcp" }

# Policy file. Paths are relative to this directory. A change takes effect with \`tollgate policy activate\`.
policy: policy.yaml

# How receipts commit to arguments: \`plain\` or \`salted\`. With \`salted\`, readers of receipts cannot guess arguments by their hash.
# Checking them then needs the private store. A ledger that was created with \`salted\` stays salted.
commit: ${commit}

# How long the state of an idle session is kept. Default: forever. Receipts are always kept.
# retention: { sessions: 30d }

# How long calls are kept with their arguments. They are encrypted, in this directory, never in receipts or packs.
# \`tollgate policy replay\`, \`diff\` and \`learn\` need them. Without this key, only calls that observe
# mode allowed are kept, for 7 days.
# The key is in ~/.config/tollgate, or at \`key-file\`; never in this directory. Back it up separately.
keep: { calls: 7d }

# Directory that stores the newest checkpoint, so that the gateway detects a restored old copy of the ledger. It must be outside of
# this directory. Default: this directory with \`-heads\` appended. \`off\` switches it off.
# head-guard: /var/lib/tollgate-heads

# Program that prints the passphrase of the key files. It runs without a shell. TOLLGATE_KEY_PASSPHRASE has priority.
# keys: { passphrase-command: [pass, show, tollgate] }

# Called when a call waits for approval, a person answers, something is frozen, or tools wait for review. Messages are signed with
# the secret in this environment variable. \`events\` selects the events; \`format: slack\` sends to a Slack incoming webhook.
# console: { url: "https://gate.example.com" }
# webhooks: [{ url: "https://hooks.example.com/tollgate", secret-env: TOLLGATE_WEBHOOK_SECRET }]

# File that gets one JSON line for each decision and effect, without arguments; \`-\` is standard output.
# decision-log: /var/log/tollgate/decisions.jsonl

# Collector for traces (OTLP over HTTP, as JSON). \`headers-env\` names variables of the gateway's environment.
# telemetry: { endpoint: "http://127.0.0.1:4318", headers-env: { authorization: OTLP_AUTHORIZATION } }

# MCP servers, at /mcp and /mcp/NAME. A program gets a small environment plus the variables named here. \`pass-env\` and
# \`headers-env\` name variables of the gateway's environment, so that this file contains no secrets.
# At /mcp, tools have names that every model provider accepts, such as \`files__read\`; \`names: slash\` lists them as \`files/read\`.
# \`wait\` is how long a call waits for its approval; by default, the agent must send the call again.
# mcp:
#   names: plain
#   wait: 5m
#   servers:
#     files: { command: [npx, -y, "@modelcontextprotocol/server-filesystem", /srv/files] }
#     issues: { url: "https://mcp.example.com/mcp", headers-env: { authorization: ISSUES_AUTHORIZATION } }

# A published browser server gets a guarded Chromium of its own with \`browser: playwright\` or \`browser: devtools\`:
#     web: { command: [npx, -y, "@playwright/mcp@0.0.83"], browser: playwright }
# Its connections obey \`gates.egress\`, on Linux; elsewhere, \`without-egress: true\` starts it without that, and receipts say so.
# browser: { headless: true, executable: /usr/bin/chromium, without-egress: false }

# Model servers, at /openai/v1, /azure/openai, /anthropic/v1 and /gemini. Agents change their base URL and use a token of this gateway as
# API key.
# \`key-env\` names the environment variable with the key of the server; \`key-file\` names a file.
# llm:
#   openai: { url: "https://api.openai.com/v1", key-env: OPENAI_API_KEY }
#   azure: { url: "https://NAME.openai.azure.com/openai", key-env: AZURE_OPENAI_API_KEY }
#   anthropic: { url: "https://api.anthropic.com/v1", key-env: ANTHROPIC_API_KEY }
#   gemini: { url: "https://generativelanguage.googleapis.com", key-env: GEMINI_API_KEY }

limits:
  body: 1MiB
  connections: 1024
  # Bytes that the gateway reads for one principal: per second, and as a burst after a pause.
  # reading: { rate: 1MiB, burst: 16MiB }
  # Storage for receipts and private records of one principal per day (UTC), or \`off\`.
  # storage: 1GiB

# debug, info, warn or error.
log: info
`
}
