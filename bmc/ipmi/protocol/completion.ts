/** Completion codes; IPMI 2.0, table 5-2. */
export const COMPLETION = {
  ok: 0x00,
  /** The parameter of a configuration is not supported. */
  parameterNotSupported: 0x80,
  nodeBusy: 0xc0,
  invalidCommand: 0xc1,
  commandInvalidForLun: 0xc2,
  reservationCanceled: 0xc5,
  wrongLength: 0xc7,
  outOfRange: 0xc9,
  tooManyBytes: 0xca,
  notPresent: 0xcb,
  invalidField: 0xcc,
  insufficientPrivilege: 0xd4,
  notInPresentState: 0xd5,
  unspecified: 0xff,
} as const

/** A command that is answered by a completion code other than 0. */
export class IpmiCommandError extends Error {
  override name = 'CommandFailed'
  constructor(readonly completion: number) {
    super(`completion code ${completion.toString(16).padStart(2, '0')}h`)
  }
}
