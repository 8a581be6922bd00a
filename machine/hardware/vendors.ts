import { dialectOf, type DialectChoice, type FirmwareMaker } from '../../bmc/dialects/index.js'

/** The parts of a machine that tell who made its firmware. */
export interface MadeMachine {
  manufacturer: string
  dialect?: DialectChoice
}

/** The maker whose firmware settings a machine has. */
export const firmwareMaker = (machine: MadeMachine): FirmwareMaker => dialectOf(machine).maker

/** True if a machine is one of Dell's, whose BMC is an iDRAC. A BMC that the hardware names tells it, or else the maker. */
export const isDell = (machine: MadeMachine): boolean =>
  machine.dialect === undefined ? /^dell\b/i.test(machine.manufacturer) : firmwareMaker(machine) === 'dell'
