// One attacker: `node bench/abuse-attacker.mjs ATTACK PORT TOKEN BYTES MANY`. Everything goes to 127.0.0.1, over at most MANY
// connections at a time. Prints a line once it has begun, and ends when its standard input does.

import { connect } from 'node:net'

const [, , attack = '', port = '', token = '', bytes = '', many = ''] = process.argv
const SIZE = Number(bytes)
// A pause after a connection that failed, so that an attacker is not slowed by itself alone.
const PAUSE_MS = 1

/** A message of MCP with something as its argument, of about the size. */
const message = (argument) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":${argument}},"_meta":{` +
  '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}'
const filled = (piece) => piece.repeat(Math.floor((SIZE - 1000) / piece.length))

const BODIES = {
  valid: () => message(`"${filled('x')}"`),
  malformed: () => message(`[${filled('{"a":1},')}`),
  escapes: () => message(`"${filled('\\n')}"`),
  brackets: () => message(`[${filled('[],')}0]`),
}

function post(path, headers, body) {
  const lines = [`POST ${path} HTTP/1.1`, 'host: localhost', ...headers, 'content-type: application/json']
  return Buffer.from(
    `${[...lines, `content-length: ${Buffer.byteLength(body)}`].join('\r\n')}\r\n\r\n${body}`,
  )
}

const KNOWN = `authorization: Bearer ${token}`
const MCP = [
  KNOWN,
  'accept: application/json, text/event-stream',
  'mcp-protocol-version: 2026-07-28',
  'mcp-method: tools/call',
  'mcp-name: echo',
]

/** Sends the same again and again over one connection, and opens another when that is closed. */
function again(bytes, loops) {
  const open = () => {
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(bytes))
    socket.on('data', () => socket.write(bytes))
    socket.on('error', () => undefined)
    socket.on('close', () => setTimeout(open, PAUSE_MS))
  }
  for (let i = 0; i < loops; i++) open()
}

/** Opens connections that do nothing but be there, each with a first word. */
function hold(first, drip) {
  const open = () => {
    const socket = connect(Number(port), '127.0.0.1', () => {
      if (first) socket.write(first)
    })
    const dripping = drip && setInterval(() => socket.writable && socket.write(drip), 100)
    socket.on('data', () => undefined)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearInterval(dripping)
      setTimeout(open, PAUSE_MS)
    })
  }
  for (let i = 0; i < Number(many); i++) open()
}

const ATTACKS = {
  'half-open': () => hold('POST /mcp HTTP/1.1\r\nhost: local'),
  slow: () => hold(post('/mcp', MCP, ' '.repeat(SIZE)).subarray(0, 600), ' '),
  denied: () =>
    again(post('/v1/evaluate', [KNOWN], '{"tool":"t2/never","arguments":{},"session_id":"s"}'), 16),
}

if (attack in BODIES) again(post('/mcp/bench', MCP, BODIES[attack]()), 3)
else ATTACKS[attack]()
console.log('begun')
process.stdin.on('end', () => process.exit(0)).resume()
