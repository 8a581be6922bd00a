/** The mock Ironic: API, conductor, drivers, store. */
export * from './drivers/bmc.js'
export * from './store/store.js'
export * from './conductor/conductor.js'
export { openStore, type StoreOptions, type StoreView } from './store/open-store.js'
export { createIronicApi, type IronicApiOptions } from './api/index.js'
export { openIronic, type Ironic, type IronicOptions } from './conductor/open-ironic.js'
export { UPSTREAM_POLICY, type Policy } from './conductor/policy.js'
export { LOOKUP_STATES, STABLE_STATES, VERBS } from './conductor/transitions.js'
