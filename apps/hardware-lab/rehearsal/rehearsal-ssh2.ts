import { createRequire } from 'node:module'
import type * as Ssh2 from 'ssh2'

const require = createRequire(import.meta.url)

/**
 * Loaded when a rehearsal begins. It is not of the door of `targets/`: what the package exports passes there, and users have
 * no types of this package.
 */
export const loadRehearsalSsh2 = (): typeof Ssh2 => require('ssh2') as typeof Ssh2
