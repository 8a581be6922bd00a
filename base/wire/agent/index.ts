/** The agent's side: its API, its errors, and what it sends to Ironic. */
export * from './agent-client.js'
export * from './command-results.js'
export * from './errors.js'
export * from './inventory.js'
export * from './ironic-calls.js'
export * from './agent-operations.js'
export * from '../python/python-repr.js'
