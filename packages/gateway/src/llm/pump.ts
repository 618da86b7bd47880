// A streamed reply on its way through: bytes become events, events are rewritten, and what may go on goes on at once.

import { createSseReader, type SseEvent } from '../sse.ts'
import { Garbled, type Rewriter } from './dialect.ts'
import type { Outgoing } from './outgoing.ts'
import { LlmUpstreamFault } from './upstream.ts'

// The last event of a reply may hold all of it once more.
const LARGEST_EVENT = 16 << 20

/** Takes a reply through a rewriter. @throws Garbled, UpstreamFault if it stops before its end. */
export async function pump(
  body: AsyncIterable<Uint8Array>,
  rewriter: Rewriter,
  outgoing: Pick<Outgoing, 'write' | 'drained'>,
): Promise<void> {
  let events: SseEvent[] = []
  const state = { overflown: false }
  const reader = createSseReader(LARGEST_EVENT, {
    onEvent: (event) => events.push(event),
    onOverflow: () => (state.overflown = true),
  })
  for await (const chunk of body) {
    reader.push(chunk)
    if (state.overflown) throw new Garbled('an event is larger than it may be')
    if (events.length === 0) continue
    const came = events
    events = []
    let made = ''
    for (const event of came) {
      const taken = rewriter.take(event)
      if (typeof taken === 'string') made += taken
      else {
        // What may go on does not wait for what has to be judged.
        outgoing.write(made)
        made = await taken
      }
    }
    outgoing.write(made)
    await outgoing.drained()
  }
  if (!rewriter.ended)
    throw new LlmUpstreamFault(502, 'CUT', 'the model server stopped in the middle of its reply')
}
