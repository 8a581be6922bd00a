import { UserError } from '../../base/runtime/index.js'

/** The error of a dump that cannot be used. @param message says which dump, where in it, and what is wrong */
export const unusableDump = (message: string, remedy?: string, cause?: unknown): UserError =>
  new UserError('bmc-dump', message, {
    kind: 'usage',
    cause,
    remedy: remedy ?? 'make a whole one: ironstage bmc dump URL, or Redfish-Mockup-Creator with -H',
  })
