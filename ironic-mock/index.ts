/** The mock Ironic: API, conductor, drivers, store. */
export * from './drivers/bmc.js'
export * from './store/store.js'
export * from './conductor/conductor.js'
export { openStore, type StoreOptions } from './store/open-store.js'
export { createIronicApi, type IronicApiOptions } from './api/index.js'
