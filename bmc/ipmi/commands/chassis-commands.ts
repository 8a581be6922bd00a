import { dialectOf } from '../../dialects/index.js'
import { commandPower, delayedPower } from '../../../machine/index.js'
import { seconds } from '../../../base/runtime/index.js'
import { COMPLETION, IpmiCommandError } from '../protocol/completion.js'
import { expectControl } from './boot-option-commands.js'
import { NET_FN, type IpmiCall, type IpmiCommand } from './command.js'

const RESTORE_POLICIES = ['always off', 'previous', 'always on'] as const

function readChassisStatus({ bmc: { machine, memory, clock } }: IpmiCall): number[] {
  const { firmware } = machine
  const policy = RESTORE_POLICIES.indexOf(firmware.ipmi.get().powerRestorePolicy ?? 'always off')
  const delay = seconds(dialectOf(machine.spec).ipmi.shownAfter)
  const isOn = delayedPower(machine, clock.now(), delay) === 'on'
  const isIdentified = firmware.indicator('chassis', 'LED') !== 'off'
  const identify = !isIdentified ? 0 : memory.identifiesForAWhile ? 1 : 2
  return [(policy << 5) | Number(isOn), memory.poweredByCommand ? 0x10 : 0, 0x40 | (identify << 4)]
}

/** Time that a command waits for the machine, so that a caller sees the new state at once. */
const CHASSIS_POWER_TIMEOUT = 100

async function control({ bmc, data }: IpmiCall): Promise<void> {
  const { machine, memory } = bmc
  const wanted = CONTROLS[data[0]! & 0x0f]
  if (!wanted) throw new IpmiCommandError(COMPLETION.invalidField)
  // Boot flags that were set for this command must not end while it is carried out.
  if (memory.bootFlags.isRunning) expectControl(bmc)
  if (wanted.needsPower && machine.power() === 'off') throw new IpmiCommandError(COMPLETION.notInPresentState)
  if (wanted.does === 'diagnostic interrupt') return machine.firmware.signal('nmi')
  const { clock, logger } = bmc
  const options = { soft: wanted.isSoft ?? false, timeout: CHASSIS_POWER_TIMEOUT, clock, logger }
  if (!(await commandPower(machine, wanted.does, options))) throw new IpmiCommandError(COMPLETION.nodeBusy)
  if (wanted.does !== 'off') memory.poweredByCommand = true
}

interface Control {
  does: 'on' | 'off' | 'reboot' | 'diagnostic interrupt'
  /** True if it makes no sense for a machine that is off. */
  needsPower?: boolean
  isSoft?: boolean
}

/** IPMI 2.0, table 28-4. */
const CONTROLS: Readonly<Record<number, Control | undefined>> = {
  0: { does: 'off' },
  1: { does: 'on' },
  2: { does: 'reboot', needsPower: true },
  3: { does: 'reboot', needsPower: true },
  4: { does: 'diagnostic interrupt', needsPower: true },
  5: { does: 'off', isSoft: true, needsPower: true },
}

const IDENTIFY_SECONDS = 15

async function identify({ bmc: { machine, memory }, data }: IpmiCall): Promise<void> {
  const { firmware } = machine
  const seconds = data[0] ?? IDENTIFY_SECONDS
  const isForced = ((data[1] ?? 0) & 1) !== 0
  memory.identify.stop()
  const isOn = isForced || seconds > 0
  await firmware.setIndicator('chassis', 'LED', isOn ? 'blinking' : 'off')
  memory.identifiesForAWhile = isOn && !isForced
  if (memory.identifiesForAWhile)
    // A state that cannot be stored is reported by the next change.
    memory.identify.start(seconds * 1000, () => void firmware.setIndicator('chassis', 'LED', 'off').catch(() => {}), {
      weak: true,
    })
}

async function setRestorePolicy({ bmc: { machine }, data }: IpmiCall): Promise<number[]> {
  const number = data[0]! & 7
  // 3 asks only which policies there are.
  if (number > 3) throw new IpmiCommandError(COMPLETION.invalidField)
  if (number < 3) await machine.firmware.ipmi.set({ powerRestorePolicy: RESTORE_POLICIES[number]! })
  return [0x07]
}

export const CHASSIS_COMMANDS: readonly IpmiCommand[] = [
  {
    title: 'Get Chassis Capabilities',
    netFn: NET_FN.chassis,
    command: 0x00,
    call: 'read hardware',
    privilege: 'user',
    length: [0, 0],
    // It has a diagnostic interrupt; all devices are the BMC.
    run: () => [0x04, 0x20, 0x20, 0x20, 0x20, 0x20],
  },
  {
    title: 'Get Chassis Status',
    netFn: NET_FN.chassis,
    command: 0x01,
    call: 'read power',
    privilege: 'user',
    length: [0, 0],
    run: readChassisStatus,
  },
  {
    title: 'Chassis Control',
    netFn: NET_FN.chassis,
    command: 0x02,
    call: 'set power',
    privilege: 'operator',
    length: [1, 1],
    run: control,
  },
  {
    title: 'Chassis Identify',
    netFn: NET_FN.chassis,
    command: 0x04,
    call: 'change indicators',
    privilege: 'operator',
    length: [0, 2],
    run: identify,
  },
  {
    title: 'Set Power Restore Policy',
    netFn: NET_FN.chassis,
    command: 0x06,
    call: 'change firmware',
    privilege: 'operator',
    length: [1, 1],
    run: setRestorePolicy,
  },
  {
    title: 'Get System Restart Cause',
    netFn: NET_FN.chassis,
    command: 0x07,
    call: 'read power',
    privilege: 'user',
    length: [0, 0],
    run: ({ bmc: { memory } }) => [memory.poweredByCommand ? 0x01 : 0x00, 0x01],
  },
]
