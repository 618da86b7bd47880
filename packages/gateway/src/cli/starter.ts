// What `tollgate init` writes as `policy.yaml`: small, and every part of it does something.

/** A policy to begin with. */
export const STARTER_POLICY = `# Who may do what. Every call is judged by this file and leaves a signed receipt.
#
# A change is pending until you run \`tollgate policy activate\`; \`tollgate policy check\` tells every mistake.
tollgate: 1
name: starter

# How far principals are trusted. The name comes from the token of the caller, not from what the caller says.
principals:
  "agent:*": { tier: standard }

# The catalogue: which tools exist, what they do, and which arguments say where data goes.
# A tool that is not here does not exist for an agent.
# Effects: read, write, delete, execute, send, pay, admin.
tools:
  "demo/read_note":   { effect: read, destinations: none }
  "demo/delete_note": { effect: delete, destinations: none }
  "demo/post_note":   { effect: send, destinations: [url] }

# In order; the first that fits decides, and if none fits the call is denied.
#   allow    lets it pass        deny    refuses it        require    asks a person first
# Conditions are CEL; they see args, destinations, principal, session, risk, time and more.
rules:
  - id: secrets
    deny: "demo/*"
    when: 'has(args.name) && string(args.name).matches("(^|/)\\\\.env")'
    because: secrets stay here

  - { id: reading, allow: "demo/read_note" }

  - id: posting-inside
    allow: "demo/post_note"
    when: 'destinations.all(d, d.host == "example.com")'

  - id: posting-outside
    require: "demo/post_note"
    expires: 15m
    # approvers: [ops]             # people, or groups of their tokens; left out, any operator but the one who asks

  - { id: no-deleting, deny: "demo/delete_note", because: notes are kept }

# What watches over every call, whatever the rules say.
gates:
  # Where data may go. \`ask\` lets a person decide; what is on no list is denied.
  egress: { allow: ["example.com"], ask: ["partner.example"] }
  # Calls that are harmless one by one, and together are not.
  session-risk: { threshold: 0.38, window: 8 }
  temporal: { rate: { "demo/post_note": 60/h } }
`
