/** IPMI over LAN in front of simulated machines. */
export { IPMI_CALLS } from './commands/table.js'
export { accountProblem, type IpmiAccount } from './ipmi-accounts.js'
export { createIpmiBmc, type IpmiBmc, type IpmiParts, type IpmiPoint, NODE_BUSY } from './lan-bmc.js'
export { type IpmiAddress, type IpmiServer, serveIpmi } from './ipmi-server.js'
