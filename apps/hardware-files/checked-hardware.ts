import { parse } from 'yaml'
import { defaultMachineSpec, readFleet, withHardware, type HardwareFleet } from '../../machine/index.js'

/**
 * The machines of a text that was made here, as `--hardware` reads them.
 *
 * @throws UserError `hardware-file` (usage) for one that no command would take
 */
export function checkedHardware(text: string, name: string): HardwareFleet {
  const fleet = readFleet(parse(text), `the hardware of ${name}`)
  for (const { hardware } of fleet) withHardware(defaultMachineSpec(1), hardware)
  return fleet
}
