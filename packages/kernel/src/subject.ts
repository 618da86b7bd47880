// What rules see of a call.

import { NOBODY, type Intent } from './call.ts'
import type { Subject } from './policy/evaluate.ts'
import { rememberedAs } from './remembered.ts'
import type { Snapshot } from './snapshot.ts'

/** What rules see of a call. */
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
    labels: () => snapshot.labels(),
    trust: () => snapshot.trust(),
    risk: () => snapshot.assessment().score,
  }
}
