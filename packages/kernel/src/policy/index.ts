// Reading and reviewing policies without the rest of the kernel: for programs that do nothing else, and are waited for.

export { parsePolicy, type ParsedPolicy, type Policy, type Rule } from './parse.ts'
export type { Mistake } from './read.ts'
export { REMARK_CODES, type Remark, type RemarkCode } from './review/remark.ts'
export { reviewPolicy } from './review/review.ts'
