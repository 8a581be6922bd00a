/** Ironic, machines, agents, clock and faults composed; what the package exports. */
export { hours, minutes, seconds, UserError, type Clock, type Logger } from '../runtime/index.js'
export { openStateFolder, type StateFolder } from './state-folder.js'
