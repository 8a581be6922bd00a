import { createRequire } from 'node:module'
import type * as Ssh2 from 'ssh2'
import type Constants from 'ssh2/lib/protocol/constants.js'
import { loadPackage } from '../../base/runtime/index.js'

const require = createRequire(import.meta.url)

/** Loaded on first use: most processes never reach a host, and it takes a tenth of a second. */
export const loadSsh2 = (): typeof Ssh2 => loadPackage('ssh2', () => require('ssh2') as typeof Ssh2)

export const ssh2Constants = (): typeof Constants =>
  loadPackage('ssh2', () => require('ssh2/lib/protocol/constants.js') as typeof Constants)
