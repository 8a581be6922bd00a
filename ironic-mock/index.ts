/** The mock Ironic: API, conductor, drivers, store. */
export { createIronicApi, type Guard, type IronicApiOptions, ironicRefusal } from './api/ironic-api.js'
export { basicAuth } from './auth/basic-auth.js'
export type { Conductor, DriverDescription } from './conductor/core/conductor.js'
export { type Ironic, type IronicState, openIronic } from './conductor/core/open-ironic.js'
export { type ConductorConf, UPSTREAM_CONF } from './conductor/core/conductor-conf.js'
export { deadlinesOf, type NodeDeadline } from './conductor/core/node-deadlines.js'
export { type PlanEntry, type StepPlan, stepPlan } from './conductor/steps/step-plan.js'
export {
  STABLE_STATES,
  STUCK_STATES,
  TRANSITIONS,
  UNSTABLE_STATES,
  PROVISION_VERBS,
} from './conductor/core/transitions.js'
export { missingPort } from './conductor/flows/clean/missing-port.js'
export type { DeployImages } from './conductor/flows/deploy/deploy-image-urls.js'
export { bootModeOf } from './drivers/deploy/agent-checks.js'
export { bootsIso } from './conductor/flows/deploy/deploy-images.js'
export { isSecret } from './conductor/records/secret-keys.js'
export { repetitionText } from './conductor/flows/deploy/repeated-deployments.js'
export { PROFILE_NAMES, type ProfileName } from './config/config-profiles.js'
export { type IronicConfigRequest, readIronicConfig, withDocuments } from './config/read-config.js'
export { SERVICE_DEFAULTS, type ServiceSettings } from './config/service-options.js'
export { redfishRequestOf, type RedfishRequest } from './drivers/redfish-errors.js'
export { BmcError, isBmcRead, type BmcRequest, type SentBmcRequest } from './drivers/bmc-error.js'
export type { Bmc, Bmcs, BootMedia, BootSource } from './drivers/bmc.js'
export { enabledTypes } from './drivers/enabled.js'
export { HARDWARE_TYPES, type HardwareType } from './drivers/hardware-types.js'
export type { BmcChange, BmcHardware, SystemReport } from './drivers/bmc-hardware.js'
export type { FindImage } from './conductor/core/find-images.js'
export { ERRORS } from './errors.js'
export { IRONIC_DATABASE } from './store/database-form.js'
export type { FaultToStore } from './members/fault-rows.js'
export type { MemberControl, MemberRole, MemberRow } from './members/member-rows.js'
export type { MachinesMember } from './members/machines-member.js'
export {
  joinWithMachines,
  openSharedDatabase,
  readDatabaseAddress,
  type MemberDatabase,
  type SharedDatabase,
} from './members/shared-database.js'
export { openStore, type StoreView } from './store/open-store.js'
export type { DatabaseAddress } from './store/postgres/database-address.js'
export type { NodePatch, Store } from './store/store.js'
export { emptyState, type StoreState } from './store/store-state.js'
export { bodyLimitsOf } from './api/body-limits.js'
