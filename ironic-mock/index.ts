/** The mock Ironic: API, conductor, drivers, store. */
export * from './drivers/bmc.js'
export { BmcRefused } from './drivers/bmc-error.js'
export * from './drivers/hardware.js'
export * from './store/store.js'
export * from './conductor/conductor.js'
export { openStore, type StoreOptions, type StoreView } from './store/open-store.js'
export { createIronicApi, ironicRefusal, type IronicApiOptions } from './api/index.js'
export { openIronic, type Ironic, type IronicOptions } from './conductor/open-ironic.js'
export { repetitionText, type RepeatedDeployment } from './conductor/repeated-deployments.js'
export { bootsIso, type DeployImages } from './conductor/deploy-images.js'
export { UPSTREAM_POLICY, type Policy } from './conductor/policy.js'
export {
  LOOKUP_STATES,
  STABLE_STATES,
  STUCK_STATES,
  TRANSITIONS,
  UNSTABLE_STATES,
  VERBS,
} from './conductor/transitions.js'
export { readIronicConfig, withDocuments, type IronicConfig, type IronicConfigRequest } from './config/read-config.js'
export { PROFILES, type ProfileName } from './config/profiles.js'
export { SERVICE_DEFAULTS, type ServiceSettings } from './config/service-options.js'
export { type DriverSettings } from './drivers/enabled.js'
export { basicAuth, basicAuthorization, type BasicAuthOptions, type Credentials } from './auth/basic-auth.js'
export { enabledTypes } from './drivers/enabled.js'
export { HARDWARE_TYPES, type HardwareType } from './drivers/hardware-types.js'
export type { Guard } from './api/ironic-api.js'
export type { FindImage } from './drivers/images.js'
