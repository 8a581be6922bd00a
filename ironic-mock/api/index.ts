export { bodyLimitsOf } from './body.js'
export { createIronicApi, ironicRefusal, type IronicApiOptions } from './ironic-api.js'
