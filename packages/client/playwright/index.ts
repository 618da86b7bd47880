// The public API of `@tollgate/client/playwright`: a page of Playwright whose actions the gateway decides.

export { guardPage, type GuardedPage, type PageGuardOptions, type Visit } from './guard-page.ts'
export type { ElementActions, Upload } from './element-actions.ts'
export type { Finders, GuardedLocator, TextOptions } from './guarded-locator.ts'
export type { ActionOptions } from './perform.ts'
export type { Readings } from './readings.ts'
