/** The `ironstage` command. */
export { Stopped, type Environment } from './environment.js'
export { run } from './program.js'
