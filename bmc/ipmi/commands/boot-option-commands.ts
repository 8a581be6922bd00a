import { dialectOf } from '../../dialects/index.js'
import type { BootTarget, Machine } from '../../../machine/index.js'
import { COMPLETION, IpmiCommandError } from '../protocol/completion.js'
import { NET_FN, type CommandBmc, type IpmiCall, type IpmiCommand } from './command.js'

/** Parameters of the system boot options; IPMI 2.0, table 28-14. */
const PARAMETER = { setInProgress: 0, clearing: 3, acknowledge: 4, flags: 5 } as const

/** Boot flags, byte 1. */
const VALID = 0x80
const PERSISTENT = 0x40
const EFI = 0x20

/** Bit of parameter 3: the flags stay valid without a chassis control command within the minute. */
const NO_TIMEOUT = 0x08
const BOOT_FLAGS_TIMEOUT = 60_000

/** Devices by their selector in byte 2 of the boot flags. Remote media are the BMC's virtual ones. */
const SELECTOR_TARGETS: Readonly<Record<number, BootTarget | undefined>> = {
  0: 'None',
  1: 'Pxe',
  2: 'Hdd',
  // In safe mode.
  3: 'Hdd',
  4: 'Diags',
  5: 'Cd',
  6: 'BiosSetup',
  7: 'Floppy',
  8: 'Cd',
  9: 'Usb',
  11: 'Usb',
  15: 'Floppy',
}

/** Supermicro's UEFI firmware boots its disk by the selector of remote media (its FAQ 25559; Ironic's driver). */
const bootTargetOf = (selector: number, { spec }: Machine): BootTarget | undefined =>
  selector === 9 && /supermicro/i.test(spec.manufacturer) ? 'Hdd' : SELECTOR_TARGETS[selector]

const SELECTORS: Readonly<Record<BootTarget, number>> = {
  None: 0,
  Pxe: 1,
  Hdd: 2,
  Diags: 4,
  Cd: 5,
  BiosSetup: 6,
  Usb: 9,
  Floppy: 15,
  // IPMI has no selectors for these.
  UefiTarget: 0,
  UefiHttp: 0,
}

const selectorIn = (flags: readonly number[]): number => (flags[1]! >> 2) & 0x0f

/** The boot flags. What IPMI has set is read back as it was, as long as the override is that one. */
function bootFlags(machine: Machine): readonly number[] {
  const { boot, bootMode, ipmi } = machine.firmware
  const { target, enabled } = boot.override
  const isEfi = bootMode === 'uefi' ? EFI : 0
  if (enabled === 'Disabled') return [isEfi, 0, 0, 0, 0]
  const valid = VALID | (enabled === 'Continuous' ? PERSISTENT : 0)
  const set = ipmi.get().bootFlags
  if (set && bootTargetOf(selectorIn(set), machine) === target) return [valid | (set[0]! & EFI), ...set.slice(1)]
  return [valid | isEfi, SELECTORS[target] << 2, 0, 0, 0]
}

async function setFlags(bmc: CommandBmc, flags: readonly number[]): Promise<void> {
  const { machine, memory } = bmc
  const { firmware } = machine
  const target = bootTargetOf(selectorIn(flags), machine)
  if (target === undefined) throw new IpmiCommandError(COMPLETION.invalidField)
  const isValid = (flags[0]! & VALID) !== 0
  const isPersistent = (flags[0]! & PERSISTENT) !== 0
  const { persistentBoot } = dialectOf(machine.spec).ipmi
  // The BMC answers as if it had taken them.
  if (isValid && isPersistent && persistentBoot === 'ignored') return
  const enabled = !isValid ? 'Disabled' : isPersistent && persistentBoot === 'kept' ? 'Continuous' : 'Once'
  // Firmware that boots by UEFI only has no other mode: flags without the bit do not change it.
  if (isValid && (flags[0]! & EFI) !== 0 && firmware.bootMode === 'bios') await firmware.setBootMode('uefi')
  await firmware.ipmi.set({ bootFlags: [...flags] })
  await firmware.boot.setOverride({ target: isValid ? target : 'None', enabled, uefiTarget: null, httpBootUri: null })
  memory.bootFlags.stop()
  if (isValid) expectControl(bmc)
}

/** Makes the boot flags invalid after a minute. A chassis control command restarts the minute. */
export function expectControl({ machine: { firmware }, memory }: CommandBmc): void {
  if (((firmware.ipmi.get().bootFlagClearing ?? 0) & NO_TIMEOUT) !== 0) return
  // A state that cannot be stored is reported by the next change.
  memory.bootFlags.start(
    BOOT_FLAGS_TIMEOUT,
    () => void firmware.boot.setOverride({ target: 'None', enabled: 'Disabled' }).catch(() => {}),
    { weak: true },
  )
}

function get({ bmc: { machine, memory }, data }: IpmiCall): number[] {
  const parameter = data[0]! & 0x7f
  const { bootFlagClearing = 0, bootInfoAcknowledge = [0, 0] } = machine.firmware.ipmi.get()
  const values: Readonly<Record<number, readonly number[] | undefined>> = {
    [PARAMETER.setInProgress]: [memory.bootSetInProgress],
    [PARAMETER.clearing]: [bootFlagClearing],
    [PARAMETER.acknowledge]: bootInfoAcknowledge,
    [PARAMETER.flags]: bootFlags(machine),
  }
  const value = values[parameter]
  if (!value) throw new IpmiCommandError(COMPLETION.parameterNotSupported)
  return [0x01, parameter, ...value]
}

async function set({ bmc, data }: IpmiCall): Promise<void> {
  const { machine, memory } = bmc
  const { flagClearing } = dialectOf(machine.spec).ipmi
  const values = [...data.subarray(1)]
  const needs = (length: number): void => {
    if (values.length < length) throw new IpmiCommandError(COMPLETION.wrongLength)
  }
  switch (data[0]! & 0x7f) {
    case PARAMETER.setInProgress:
      needs(1)
      memory.bootSetInProgress = values[0]! & 3
      return
    case PARAMETER.clearing:
      needs(1)
      if (flagClearing === 'refused') throw new IpmiCommandError(COMPLETION.parameterNotSupported)
      if (flagClearing === 'ignored') return
      await machine.firmware.ipmi.set({ bootFlagClearing: values[0]! & 0x1f })
      if ((values[0]! & NO_TIMEOUT) !== 0) memory.bootFlags.stop()
      return
    case PARAMETER.acknowledge: {
      needs(2)
      const [mask, marks] = values as [number, number]
      const [, before] = machine.firmware.ipmi.get().bootInfoAcknowledge ?? [0, 0]
      // The mask says which of the bits are written; it is read back as 0.
      await machine.firmware.ipmi.set({ bootInfoAcknowledge: [0, (before! & ~mask) | (marks & mask)] })
      return
    }
    case PARAMETER.flags:
      needs(5)
      return setFlags(bmc, values.slice(0, 5))
    default:
      throw new IpmiCommandError(COMPLETION.parameterNotSupported)
  }
}

/** The system boot options. The boot override is the machine's own, which Redfish has too. */
export const BOOT_OPTION_COMMANDS: readonly IpmiCommand[] = [
  {
    title: 'Set System Boot Options',
    netFn: NET_FN.chassis,
    command: 0x08,
    call: 'set boot',
    privilege: 'operator',
    length: [1, 18],
    run: set,
  },
  {
    title: 'Get System Boot Options',
    netFn: NET_FN.chassis,
    command: 0x09,
    call: 'read boot',
    privilege: 'operator',
    length: [3, 3],
    run: get,
  },
]
