// The script that coding agents run before and after each call. It asks the gateway with `curl`, and denies in the form of its client
// if anything fails. It writes no files, so a full disk changes nothing.

import { shellWord } from '../../program/launcher.ts'
import type { AgentId } from './names.ts'

/** The first line after `#!`. */
export const SCRIPT_MARK = '# Made by `tollgate setup`.'

interface ScriptFacts {
  readonly agent: AgentId
  /** The absolute path of `curl`: a PATH is easily changed. */
  readonly curl: string
  /** The file with the options of `curl`: address, time limits and token. */
  readonly connection: string
  /** The address of the gateway, without a path. */
  readonly url: string
}

/** Returns the text of the script. It gets the name of the event as its argument, and the payload on its standard input. */
export function hookScript({ agent, curl, connection, url }: ScriptFacts): string {
  return [
    '#!/bin/sh',
    `${SCRIPT_MARK} Asks the gateway about a call of a coding agent. Every failure denies the call.`,
    `event=\${1-}`,
    `curl=${shellWord(curl)}`,
    `connection=${shellWord(connection)}`,
    `url=${shellWord(`${url}/v1/hooks/${agent}`)}`,
    ...REFUSE[agent],
    ...ASK,
    ...ANSWER[agent],
    '',
  ].join('\n')
}

// The texts that `deny` gets contain no quotation marks, so they are safe in JSON.
const SAY = [
  'deny() {',
  '  trap "" HUP INT TERM',
  '  why="[Tollgate] Blocked, because $1. Ask the user to run \'tollgate doctor\'."',
]

/** How a client blocks a call. Exit code 2 with a text blocks in all of them. */
const REFUSE: Readonly<Record<AgentId, readonly string[]>> = {
  'claude-code': [...SAY, `  printf '%s\\n' "$why" >&2`, '  exit 2', '}'],
  codex: [...SAY, `  printf '%s\\n' "$why" >&2`, '  exit 2', '}'],
  cursor: [
    ...SAY,
    `  printf '{"continue":false,"permission":"deny","user_message":"%s","agent_message":"%s"}\\n' "$why" "$why"`,
    `  printf '%s\\n' "$why" >&2`,
    '  exit 2',
    '}',
  ],
  copilot: [
    ...SAY,
    `  printf '{"permissionDecision":"deny","permissionDecisionReason":"%s"}\\n' "$why"`,
    `  printf '%s\\n' "$why" >&2`,
    '  exit 2',
    '}',
  ],
  opencode: [],
}

const ASK = [
  `trap 'deny "its hook was stopped"' HUP INT TERM`,
  'case $event in',
  '  *[!A-Za-z.]* | "") deny "its hook names no event" ;;',
  'esac',
  // Only a name, because it becomes a header.
  'entry=${CLAUDE_CODE_ENTRYPOINT-}',
  'case $entry in',
  '  *[!a-z-]*) entry=unknown ;;',
  'esac',
  // `-q` must be first: it ignores the configuration file of the user, which could name a proxy.
  'answer=$("$curl" -q --config "$connection" --header "tollgate-entry: $entry" --data-binary @- \\',
  `  --write-out '\\n%{http_code} %{content_type}' --url "$url?event=$event" 2>/dev/null)`,
  'code=$?',
  'status=${answer##*"',
  '"}',
  'body=${answer%"',
  '"*}',
  'case $code in',
  '  0) ;;',
  '  7) deny "the gateway does not run" ;;',
  '  28) deny "the gateway did not answer in time" ;;',
  '  26) deny "its hook could not read its connection file" ;;',
  '  126 | 127) deny "its hook found no curl" ;;',
  '  *) deny "the gateway could not be reached (curl $code)" ;;',
  'esac',
  'case $status in',
  '  "200 application/json") ;;',
  '  401*) deny "the gateway does not know the token of its hook" ;;',
  '  [1-5][0-9][0-9]*) deny "the gateway answered with an error (${status%% *})" ;;',
  '  *) deny "the gateway gave no readable answer" ;;',
  'esac',
]

/** Passes an answer on only if it is one that the client obeys: it would run the call after any other. */
const ANSWER: Readonly<Record<AgentId, readonly string[]>> = {
  'claude-code': [
    'case $body in',
    `  '{}' | '{"hookSpecificOutput":{"hookEventName":"'"$event"'",'*'}}' | '{"decision":"block","reason":"'*'"}')`,
    `    printf '%s\\n' "$body" || exit 2 ;;`,
    '  *) deny "the gateway gave no readable answer" ;;',
    'esac',
  ],
  // Codex starts hooks with a login shell. Its profile may print something, and a denial after it would not be read from the output.
  codex: [
    'case $body in',
    "  '{}') exit 0 ;;",
    `  '{"hookSpecificOutput":{"hookEventName":"'"$event"'","permissionDecision":"deny","permissionDecisionReason":"'?*'"}}')`,
    `    why=\${body#*'"permissionDecisionReason":"'}`,
    `    printf '%b\\n' "\${why%'"}}'}" >&2 ;;`,
    `  '{"decision":"block","reason":"'?*'"}')`,
    `    why=\${body#*'"reason":"'}`,
    `    printf '%b\\n' "\${why%'"}'}" >&2 ;;`,
    '  *) deny "the gateway gave no readable answer" ;;',
    'esac',
    'exit 2',
  ],
  cursor: [
    'case $body in',
    `  '{}' | '{"permission":"'*'"}' | '{"continue":'*'}' | '{"updated_mcp_tool_output":'*'}' | '{"additional_context":"'*'"}')`,
    `    printf '%s\\n' "$body" || exit 2 ;;`,
    '  *) deny "the gateway gave no readable answer" ;;',
    'esac',
  ],
  copilot: [
    'case $body in',
    `  '{}' | '{"permissionDecision":"'*'"}' | '{"modifiedResult":{'*'}}')`,
    `    printf '%s\\n' "$body" || exit 2 ;;`,
    '  *) deny "the gateway gave no readable answer" ;;',
    'esac',
  ],
  opencode: [],
}

// Also if the script is missing or is killed. Any shell reads this line, also a login shell such as fish.
const FAILED = 'Tollgate: the hook failed'
const RUN = `/bin/sh "$0" "$1" && exit; [ $? = 2 ] || echo "${FAILED}" >&2; exit 2`

/** A text in each command line, by which a whole file of ours is known. */
export const LINE_MARK: string = FAILED

/** A text by which an entry of ours is known: the script as the command line has it. */
export function entryMark(script: string): string {
  return shellWord(script)
}

/** The command line for the configuration of a client. */
export function hookCommand(script: string, event: string): string {
  return `/bin/sh -c '${RUN}' ${shellWord(script)} ${event}`
}

/** Seconds. The client has to wait longer than the script, and the script longer than the gateway. */
export const SECONDS = { wait: 50, script: 55, client: 60 } as const

interface Connecting {
  /** The socket of the gateway on this machine; undefined if `url` is its address. */
  readonly socket: string | undefined
  readonly token: string
  readonly ca?: string | undefined
  /** Seconds that the gateway has for its answer. */
  readonly patience?: number
}

/** Returns the options of `curl`. They contain the token, so the file must be private. */
export function connectionText({ socket, token, ca, patience = SECONDS.script }: Connecting): string {
  const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
  return [
    `header = ${quoted(`authorization: Bearer ${token}`)}`,
    'header = "content-type: application/json"',
    `header = "tollgate-wait: ${SECONDS.wait}s"`,
    'header = "expect:"',
    ...(socket === undefined ? [] : [`unix-socket = ${quoted(socket)}`]),
    ...(ca === undefined ? [] : [`cacert = ${quoted(ca)}`]),
    'noproxy = "*"',
    'proto = "=http,https"',
    'connect-timeout = 5',
    `max-time = ${patience}`,
    'silent',
    '',
  ].join('\n')
}
