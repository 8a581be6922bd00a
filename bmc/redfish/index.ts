/** Redfish services in front of simulated machines. */
export type { RedfishCredentials, RedfishAccounts } from './access/redfish-credentials.js'
export { redfishRefusal, refuseUnreadRequest } from './protocol/redfish-answers.js'
export { refusalBody } from './dialects/refusal-body.js'
export { REDFISH_CALLS, redfishCallsAt, standardRedfishPath } from './call-names.js'
export type { RedfishPoint } from './dispatch.js'
export { createRedfishService, type RedfishOptions, type RedfishService } from './service.js'
export type { FetchFirmware } from './service-parts.js'
