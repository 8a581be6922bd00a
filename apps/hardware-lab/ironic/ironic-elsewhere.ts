import type { IronicClient } from '../../../base/wire/index.js'

/** An Ironic that takes hosts from their BMCs to an installed system, in place of the run itself. */
export interface IronicElsewhere {
  /** Its URL, without credentials. */
  readonly url: string
  readonly client: IronicClient
}
