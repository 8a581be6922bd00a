/** The `ironstage` command. */
export { printing, type RawEnvironment, Stopped } from './environment.js'
export { ERRORS } from './errors.js'
export { makeCommandLine, runCommandLine } from './cli-program.js'
export { ToolCommand } from './tool-command.js'
