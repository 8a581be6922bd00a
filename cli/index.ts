/** The `ironstage` command. */
export { Stopped, type Environment } from './environment.js'
export { commandLine, run } from './program.js'
export type { ToolCommand } from './tool-command.js'
