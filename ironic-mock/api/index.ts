export { createIronicApi, type IronicApiOptions } from './ironic-api.js'
