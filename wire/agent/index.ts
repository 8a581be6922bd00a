/** The agent's side: its API, its errors, and what it sends to Ironic. */
export * from './client.js'
export * from './commands.js'
export * from './errors.js'
export * from './inventory.js'
export * from './ironic-calls.js'
export * from './operations.js'
export * from '../python/python-repr.js'
