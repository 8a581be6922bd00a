/** IPMI over LAN in front of simulated machines. */
export { IPMI_CALLS } from './commands/table.js'
export { accountProblem, type IpmiAccount } from './accounts.js'
export { createIpmiBmc, type IpmiBmc, type IpmiParts, type IpmiPoint, NODE_BUSY } from './bmc.js'
export { type IpmiAddress, type IpmiServer, serveIpmi } from './server.js'
