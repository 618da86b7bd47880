// The parts of this package that need Node: files, threads and terminals.

export { createSignaturePool, type SignaturePool } from './pool.ts'
export { coloured, formatReport, plain, type Paint } from './print.ts'
export { verifyFile, type VerifyFileOptions } from './verify-file.ts'
