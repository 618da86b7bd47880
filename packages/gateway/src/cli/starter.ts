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
  # Orders to the agent, attacks on tools and disguised text, in arguments and in what tools answer. With {}, what is certain
  # is denied or cut out, and what is likely asks a person.
  threat: {}
  # Classes of data. Keys and passwords do not leave, and are cut out of what tools answer; for what is personal a person is
  # asked. Inside is not leaving. A value that only a flagged text has named acts nowhere.
  taint: { deny: [secret], ask: [personal], internal: ["example.com"], results: { secret: redact } }
  # What a tier may do: standard reads, writes and sends. For more, a person raises the session, for a while.
  privilege: { elevation: { up-to: elevated, for: 15m } }
  # Everybody begins in the middle, at 500 of 1000. What is denied or refused costs, attacks cost most, and half of it is
  # forgotten in a day. Below these scores, calls of the class are denied.
  trust: { needs: { write: 300, delete: 300, execute: 300, send: 300, pay: 400, admin: 400 } }
  # Calls that are harmless one by one, and together are not.
  session-risk: { threshold: 0.38, window: 8 }
  temporal: { rate: { "demo/post_note": 60/h } }
`
