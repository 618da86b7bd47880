// Passes a streamed reply through a rewriter, event by event.

import { createSseReader, type SseEvent } from '../sse.ts'
import { Garbled, type Rewriter } from './dialect.ts'
import type { Outgoing } from './outgoing.ts'
import { LlmUpstreamFault } from './upstream.ts'

// The last event may repeat the whole reply.
const MAX_EVENT = 16 << 20

/** Passes a reply through a rewriter. @throws Garbled, UpstreamFault if it stops before its end. */
export async function pump(
  body: AsyncIterable<Uint8Array>,
  rewriter: Rewriter,
  outgoing: Pick<Outgoing, 'write' | 'drained'>,
): Promise<void> {
  let events: SseEvent[] = []
  const state = { overflown: false }
  const reader = createSseReader(MAX_EVENT, {
    onEvent: (event) => events.push(event),
    onOverflow: () => (state.overflown = true),
  })
  for await (const chunk of body) {
    reader.push(chunk)
    if (state.overflown) throw new Garbled('an event is too large')
    if (events.length === 0) continue
    const came = events
    events = []
    let made = ''
    for (const event of came) {
      const taken = rewriter.take(event)
      if (typeof taken === 'string') made += taken
      else {
        // Text that needs no judgement does not wait for text that does.
        outgoing.write(made)
        made = await taken
      }
    }
    outgoing.write(made)
    await outgoing.drained()
  }
  if (!rewriter.ended)
    throw new LlmUpstreamFault(502, 'CUT', 'the model server stopped before the end of its reply')
}
