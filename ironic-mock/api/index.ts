export { bodyLimitsOf } from './body-limits.js'
export { createIronicApi, ironicRefusal, type IronicApiOptions } from './ironic-api.js'
