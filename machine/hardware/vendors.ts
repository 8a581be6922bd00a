import { dialectOf, type DialectChoice, type FirmwareMaker } from '../../bmc/dialects/index.js'

/** The parts of a machine that tell who made its firmware. */
export interface MadeMachine {
  manufacturer: string
  dialect?: DialectChoice
}

/** The maker whose firmware settings a machine has. */
export const firmwareMaker = (machine: MadeMachine): FirmwareMaker => dialectOf(machine).maker

/** True if a machine is one of Dell's, whose BMC is an iDRAC. A maker's BMC tells it, or else the manufacturer. */
export function isDell(machine: MadeMachine): boolean {
  const { dialect = 'standard', manufacturer } = machine
  return dialect === 'standard' ? /^dell\b/i.test(manufacturer) : firmwareMaker(machine) === 'dell'
}
