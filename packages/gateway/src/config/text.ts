// What `tollgate init` writes as `tollgate.yaml`.

/** What `init` fills in. */
interface ConfigTextOptions {
  readonly ledger: string
  readonly port: number
  /** `plain` if not given. */
  readonly commit?: 'plain' | 'salted'
}

/** The text of a new `tollgate.yaml`, with a word on everything that can be set. */
export function defaultConfigText({ ledger, port, commit = 'plain' }: ConfigTextOptions): string {
  return `# How this gateway runs. Who may do what is in policy.yaml. A change is in force after a restart.
tollgate: 1

# The name of the ledger. Every receipt and checkpoint carries it: it cannot be changed later.
ledger: ${JSON.stringify(ledger)}

# Where to listen. Agents on other machines need \`host: 0.0.0.0\` and TLS: tokens travel with every call.
listen:
  host: 127.0.0.1
  port: ${port}
  # tls: { cert: /path/to/cert.pem, key: /path/to/key.pem }

# Further names by which the gateway is called in its URL.
# hosts: [gate.example.com]

# Paths are relative to this directory. A changed policy is pending until \`tollgate policy activate\`.
policy: policy.yaml

# \`salted\` hides guessable arguments from whoever holds receipts, and needs the private store to check them.
# A ledger that was begun as salted stays so.
commit: ${commit}

# How long the state of an idle session is kept; left out, forever. Receipts are always kept.
# retention: { sessions: 30d }

# How long the calls themselves are kept, with their arguments: encrypted, in this directory, never in receipts or packs. It is
# what \`tollgate policy replay\`, \`diff\` and \`learn\` work on. Left out, only calls that observe mode let pass are, for a week.
# The key is in ~/.config/tollgate, or where \`key-file\` says; never in this directory. Back it up apart from it.
keep: { calls: 7d }

# Remembers the newest head outside of this directory, so that a restored old copy is noticed.
# Left out, it is beside the default data directory; \`off\` switches it off.
# head-guard: /var/lib/tollgate-heads

# If the key files have a passphrase: a program that prints it, run without a shell. TOLLGATE_KEY_PASSPHRASE comes first.
# keys: { passphrase-command: [pass, show, tollgate] }

# Who is told when something waits for a person. Requests are signed with the secret in that variable.
# webhooks: [{ url: "https://hooks.example.com/tollgate", secret-env: TOLLGATE_WEBHOOK_SECRET }]

# Traces, by OTLP over HTTP.
# telemetry: { endpoint: "http://127.0.0.1:4318" }

# MCP servers, at /mcp and /mcp/NAME. A program gets a small environment and what is named here; \`pass-env\` and
# \`headers-env\` name variables of the gateway's own environment, so that no secret is in this file.
# mcp:
#   servers:
#     files: { command: [npx, -y, "@modelcontextprotocol/server-filesystem", /srv/files] }
#     issues: { url: "https://mcp.example.com/mcp", headers-env: { authorization: ISSUES_AUTHORIZATION } }

# Model servers, at /openai/v1 and /anthropic/v1: agents change their base URL, and give a token of this gateway as their key.
# \`key-env\` names the variable that holds the server's key, \`key-file\` a file that does.
# llm:
#   openai: { url: "https://api.openai.com/v1", key-env: OPENAI_API_KEY }
#   anthropic: { url: "https://api.anthropic.com/v1", key-env: ANTHROPIC_API_KEY }

limits:
  body: 1MiB
  connections: 1024
  # Bytes that the gateway reads for one principal: each second, and at once after a pause.
  # reading: { rate: 1MiB, burst: 16MiB }
  # What receipts and private records of one principal may take on one day (UTC), or \`off\`.
  # storage: 1GiB

# debug, info, warn or error
log: info
`
}
