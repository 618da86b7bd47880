// Converts a call to the form that rules see.

import type { Intent } from '../road/capture.ts'
import { NOBODY } from '../names.ts'
import type { Subject } from './evaluate.ts'
import { rememberedAs } from '../names.ts'
import type { Snapshot } from '../road/snapshot.ts'

/** Returns the call as rules see it. */
export function subjectOf(intent: Intent, snapshot: Snapshot): Subject {
  const principal = intent.principal ?? NOBODY
  return {
    tool: intent.tool,
    effect: snapshot.effect,
    principal,
    tier: snapshot.tier(),
    session: rememberedAs(intent),
    door: intent.door,
    tenant: intent.tenant,
    environment: intent.context.environment ?? '',
    workspace: intent.context.workspace ?? '',
    args: intent.args,
    time: snapshot.time,
    destinations: () => snapshot.destinations(),
    shell: () => snapshot.callFacts().shell,
    files: () => snapshot.callFacts().files,
    labels: () => snapshot.labels(),
    trust: () => snapshot.trust(),
    risk: () => snapshot.assessment().score,
  }
}
