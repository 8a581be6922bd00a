/** Both protocols as data: what Ironic and the agent say to each other and to clients. */
export * from './exchange.js'
export * from './steps.js'
export * from './ironic/node.js'
export * from './ironic/errors.js'
export * from './agent/index.js'
