// Parsing and reviewing policies without the rest of the kernel. Programs that need nothing else start faster with this entry.

export type { Limit } from './gates/temporal/settings.ts'
export { isWithinBase } from './policy/cel/within.ts'
export { conditionText } from './policy/condition-text.ts'
export { conditionEnvironment } from './policy/condition.ts'
export { explain, type Explained } from './policy/evaluate.ts'
export type { Examined, Look } from './policy/examine.ts'
export {
  CONDITION_VARIABLES,
  POLICY_QUOTED,
  POLICY_SCHEMA,
  parsePolicy,
  type Action,
  type ParsedPolicy,
  type Policy,
  type Rule,
  type ToolDeclaration,
} from './policy/parse/parse.ts'
export { GATE_SECTIONS, type GateSettings } from './policy/parse/settings.ts'
export { isWithin, meaningOf } from './policy/reader/meaning.ts'
export { firstMistakes, readYaml, type Mistake, type Place, type Reader } from './policy/reader/read.ts'
export type { GateSection, Quoted, Shown } from './policy/reader/section.ts'
export { remembersData } from './policy/uses.ts'
export { REMARK_CODES, type Remark, type RemarkCode } from './workbench/review/remark.ts'
export { reviewPolicy } from './workbench/review/review.ts'
