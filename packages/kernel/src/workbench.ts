// Tools for policies: replay, explanation, proposals, and the alternatives of a condition.

export {
  explainCall,
  type Explanation,
  type Obstacle,
  type StepReport,
} from './workbench/explain/explanation.ts'
export { foresee } from './workbench/explain/foresee.ts'
export { tryCall, type Trial } from './workbench/explain/trial.ts'
export { proposalFor, proposeScope, type Proposal, type ProposedTool } from './workbench/propose/propose.ts'
export {
  STATEFUL_KINDS,
  createReplay,
  type JudgedAgain,
  type Looked,
  type Replay,
  type Replayed,
} from './workbench/replay/replay.ts'
export type { TraceEntry } from './workbench/replay/trace.ts'
export type { Clue } from './workbench/review/clue.ts'
export { ITEM, waysOf, type Way, type Ways } from './workbench/review/clues.ts'
