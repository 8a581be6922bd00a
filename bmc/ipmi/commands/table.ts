import { APP_COMMANDS } from './app-commands.js'
import { BOOT_OPTION_COMMANDS } from './boot-option-commands.js'
import { CHASSIS_COMMANDS } from './chassis-commands.js'
import type { IpmiCommand } from './command.js'
import { FRU_COMMANDS } from './fru-commands.js'
import { LAN_COMMANDS } from './lan-commands.js'
import { SDR_COMMANDS } from './sdr-commands.js'
import { SEL_COMMANDS } from './sel-commands.js'
import { SENSOR_COMMANDS } from './sensor-commands.js'
import { SOL_COMMANDS } from './sol-commands.js'
import { USER_COMMANDS } from './user-commands.js'

/** All commands that a BMC knows. */
const IPMI_COMMANDS: readonly IpmiCommand[] = [
  ...CHASSIS_COMMANDS,
  ...BOOT_OPTION_COMMANDS,
  ...APP_COMMANDS,
  ...USER_COMMANDS,
  ...SENSOR_COMMANDS,
  ...SDR_COMMANDS,
  ...SEL_COMMANDS,
  ...FRU_COMMANDS,
  ...LAN_COMMANDS,
  ...SOL_COMMANDS,
]

const BY_NUMBER = new Map(IPMI_COMMANDS.map((each) => [commandNumberOf(each.netFn, each.command), each]))

function commandNumberOf(netFn: number, command: number): number {
  return netFn * 256 + command
}

export const commandOf = (netFn: number, command: number): IpmiCommand | undefined =>
  BY_NUMBER.get(commandNumberOf(netFn, command))

/** Call name of an unknown command number. */
export const RAW_CALL = 'raw'

/** The names by which commands pass the probe. */
export const IPMI_CALLS: readonly string[] = [...new Set([RAW_CALL, ...IPMI_COMMANDS.map(({ call }) => call)])]
