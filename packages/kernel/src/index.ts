// The public surface. Whatever is exported here is API: named, documented, and kept.

export { KernelError, type KernelErrorCode } from './error.ts'
