/** The whole simulated computer. */
export * from './machine.js'
