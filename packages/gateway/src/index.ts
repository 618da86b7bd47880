// The public API of the package.

export { GatewayError, type GatewayErrorCode } from './error.ts'
export { foundLedger, openGateway, openView, type Gateway, type OpenView } from './open.ts'
