/** The `ironstage` command. */
export { type Environment, Stopped } from './environment.js'
export { ERRORS } from './errors.js'
export { commandLine, run } from './program.js'
export { ToolCommand } from './tool-command.js'
