// A published server that calls arguments with a default required: its own client may leave them out.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { canonicalize, sha256Hex } from '@tollgate/evidence'
import { expect, it } from 'vitest'
import { npm, saw } from '../../../../tools/compat/saw.ts'
import { newFolder } from '../gateway-rig.ts'
import { openGate } from './gate.ts'
import { connectPeer, seen, tapped } from './peers.ts'

const SERVER = fileURLToPath(new URL('../../../../compat/node_modules/.bin/playwright-mcp', import.meta.url))

it('@playwright/mcp gets the level of the console that its client leaves out', async () => {
  const tap = join(newFolder(), 'tap')
  const gate = await openGate({ web: { command: tapped(tap, [process.execPath, SERVER]) } })
  try {
    await gate.meet('web')
    await gate.pin('web')
    const peer = await connectPeer('v1', gate.place('web'))
    await peer.ask('tools/call', { name: 'browser_console_messages', arguments: {} })
    await peer.close()
    const filled = { level: 'info' }
    expect(seen(tap, 'tools/call')).toMatchObject([{ params: { arguments: filled } }])
    const [recorded] = await gate.record('web/browser_console_messages')
    const hash = sha256Hex(canonicalize(filled))
    expect(recorded?.decision).toMatchObject({ verdict: 'ALLOW', args_hash: hash })
    saw(npm('@playwright/mcp', 'defaults'), 'MCP, stdio', 'allowed')
  } finally {
    await gate.close()
  }
})
