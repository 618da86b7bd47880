// The public surface. Whatever is exported here is API: named, documented, and kept.

export { GatewayError, type GatewayErrorCode } from './error.ts'
export { foundLedger, openGateway, openView, type Gateway, type OpenView } from './open.ts'
