/** What acts on a target: the step SDK, the steps, executors, hardware. */
export * from './executors/executor.js'
export * from './sdk.js'
