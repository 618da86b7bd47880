// The plugin of OpenCode. It asks the gateway about each call, and throws unless the gateway allows it.

import { SCRIPT_MARK, SECONDS } from './hook-script.ts'

/**
 * Returns the text of the plugin. `connection` is a JSON file with the address and the token, which is read at each call. OpenCode runs
 * without a plugin that cannot start, so nothing can fail before the first call.
 */
export function pluginText(connection: string): string {
  return `//${SCRIPT_MARK.slice(1)} Asks the gateway about each call of a tool. Every failure denies the call.
import { readFileSync } from 'node:fs'
import { request as plain } from 'node:http'
import { request as secure } from 'node:https'

const CONNECTION = ${JSON.stringify(connection)}
const PATIENCE = ${SECONDS.script * 1000}

function ask(payload) {
  return new Promise((resolve, reject) => {
    const { url, socket, token, ca } = JSON.parse(readFileSync(CONNECTION, 'utf8'))
    const body = JSON.stringify(payload)
    const headers = {
      authorization: 'Bearer ' + token,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'tollgate-wait': '${SECONDS.wait}s',
    }
    const options = { method: 'POST', headers, agent: false }
    if (socket) options.socketPath = socket
    if (ca) options.ca = readFileSync(ca)
    const send = url.startsWith('https:') ? secure : plain
    const sent = send(url + '/v1/hooks/opencode', options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part) => (text += part))
      response.on('aborted', () => reject(new Error('the answer ended early')))
      response.on('error', reject)
      response.on('end', () => {
        try {
          if (response.statusCode !== 200) throw new Error('the gateway answered with ' + response.statusCode)
          resolve(JSON.parse(text))
        } catch (fault) {
          reject(fault)
        }
      })
    })
    const timer = setTimeout(() => sent.destroy(new Error('the gateway did not answer in time')), PATIENCE)
    sent.on('close', () => clearTimeout(timer))
    sent.on('error', reject)
    sent.end(body)
  })
}

async function decide(payload) {
  let answer
  try {
    answer = await ask(payload)
  } catch (fault) {
    const why = fault && fault.message ? fault.message : 'the gateway could not be reached'
    throw new Error("[Tollgate] The call was not run (" + why + "). Ask the user to run 'tollgate doctor'.")
  }
  const { decision, reason, output } = answer === null ? {} : answer
  if (decision === 'allow') return undefined
  if (decision === 'replace' && typeof output === 'string') return output
  throw new Error(typeof reason === 'string' ? reason : '[Tollgate] The call was not run: no readable answer.')
}

function textOf(parts) {
  return parts.flatMap((part) => (part && part.type === 'text' && !part.synthetic ? [part.text] : [])).join('\\n')
}

export const Tollgate = async ({ directory } = {}) => ({
  'tool.execute.before': async ({ tool, sessionID, callID }, { args }) => {
    await decide({ event: 'tool.execute.before', session: sessionID, call: callID, tool, args, directory })
  },
  'tool.execute.after': async ({ tool, sessionID, callID, args }, result) => {
    const sent = { event: 'tool.execute.after', session: sessionID, call: callID, tool, args, directory }
    let output
    try {
      output = await decide({ ...sent, output: result.output })
    } catch (fault) {
      // The call is done, so only its output can be kept from the model.
      output = fault.message
    }
    if (output === undefined) return
    result.output = output
    result.metadata = {}
  },
  'chat.message': async ({ sessionID }, { parts }) => {
    const text = textOf(parts ?? [])
    if (text !== '') await decide({ event: 'chat.message', session: sessionID, text, directory })
  },
})
`
}
