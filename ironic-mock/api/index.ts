export { createIronicApi, ironicRefusal, type IronicApiOptions } from './ironic-api.js'
