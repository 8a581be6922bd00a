/** BareMetal Operator's requests to Ironic, its manifests, and what explains them. */
export { bmcAccess, type BmcAccess, type BmcAccount } from './bmc-access.js'
export { ERRORS } from './errors.js'
export { explainHost, type ExplainOptions, type HostExplanation } from './explain.js'
export type { ExplainedCall } from './explained-calls.js'
export type { Host, HostStatus } from './host.js'
export { BareMetalOperator, type OperatorOptions } from './operator.js'
export { type ManifestFinding, manifestFindingLine } from './read-manifests.js'
export { type WantedHost, wantedHosts } from './wanted-hosts.js'
