import { errorChain, UserError, type Clock, type Logger } from '../../base/runtime/index.js'
import { defaultMachineSpec, type Machine, type Machines, type MachineSpec } from '../../machine/index.js'
import type { Dispatch, WireResponse } from '../../base/wire/index.js'
import { agentParameters } from './boot-agent.js'
import { readSystem, type SushySystem } from './sushy-system.js'

export interface NotifierParts {
  machines: Machines
  /** URL at which the agents find their Ironic. */
  ironicUrl: string
  /** Most machines of the fleet. Default: as many as a fleet can start with. */
  most?: number
  clock: Clock
  logger: Logger
}

/** A system as the fake driver of sushy-tools reports it with every change (`_send_external_notification`). */
interface ReportedSystem extends SushySystem {
  /** Default Hdd. */
  bootDevice: string
  pending: { on: boolean; /** Seconds since the epoch. */ at: number } | null
}

/** Limit of `ironstage fleet --count` too. */
const MAX_FLEET_MACHINES = 10_000

/**
 * Takes the place of fake-ipa behind an emulator of BMCs: `PUT /` tells of a system whose power is about to change, and the
 * machine of that system follows. The machine is created at the first report that switches it on. If its boot device is not the disk, it boots a ramdisk with an agent,
 * as fake-ipa starts an agent.
 */
export function makeNotifier({
  machines,
  ironicUrl,
  most = MAX_FLEET_MACHINES,
  clock,
  logger,
}: NotifierParts): Dispatch {
  /** Machines that notifications will create. */
  const awaited = new Set<string>()
  const follow = async (system: ReportedSystem, on: boolean): Promise<void> => {
    if (!on) return machines.get(system.id)?.setPower('off')
    const machine = machines.get(system.id) ?? (await makeReportedMachine(machines, system))
    if (machine.power() === 'on') return
    await machine.setBoot(
      system.bootDevice === 'Hdd' ? { kind: 'disk' } : { kind: 'ramdisk', parameters: agentParameters(ironicUrl) },
    )
    await machine.setPower('on')
  }
  return (request) => {
    if (request.target !== '/' || request.method !== 'PUT')
      return Promise.resolve(notifierAnswer(404, 'PUT / takes notifications of power changes'))
    try {
      const system = readNotification(request.body)
      if (!system.pending) return Promise.resolve({ status: 204, headers: {} })
      const { on, at } = system.pending
      if (on && !machines.get(system.id)) {
        awaited.add(system.id)
        if (machines.list().length + awaited.size > most) {
          awaited.delete(system.id)
          return Promise.resolve(notifierAnswer(409, `the fleet has ${most} machines, its limit`))
        }
      }
      // The emulator has the new power from this time on.
      const wait = Math.max(0, at * 1000 - clock.now())
      clock
        .sleep(wait, { weak: true })
        .then(() => follow(system, on))
        .catch((error: unknown) =>
          logger('warn', `${system.id} did not follow its BMC: ${errorChain(error).join(': ')}`),
        )
        .finally(() => awaited.delete(system.id))
      return Promise.resolve({ status: 204, headers: {} })
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      return Promise.resolve(notifierAnswer(400, error.message))
    }
  }
}

const notifierAnswer = (status: number, description: string): WireResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ code: status, description }),
})

function readNotification(body: string | undefined): ReportedSystem {
  const wrong = (what: string): UserError => new UserError('notification', `the notification ${what}`)
  let document: unknown
  try {
    document = JSON.parse(body ?? '')
  } catch {
    throw wrong('is not JSON')
  }
  const { id, nics } = readSystem(document, (key, what, remedy) =>
    wrong(`cannot be used: ${key === '' ? 'the system' : key} ${what}; ${remedy}`),
  )
  const { boot_device: device = 'Hdd', pending_power: pending } = document as Fields
  const system = { id, nics, bootDevice: String(device) }
  if (pending === null || pending === undefined) return { ...system, pending: null }
  const { power_state: state, apply_time: at = 0 } = pending as Fields
  if (typeof state !== 'string' || typeof at !== 'number')
    throw wrong('has a pending_power without power_state and apply_time')
  // A restart reports the power that it ends with as `GracefulRestart` or `ForceRestart`.
  return { ...system, pending: { on: state === 'On' || state.includes('Restart'), at } }
}

type Fields = Readonly<Record<string, unknown>>

/** Makes the machine of a reported system. The emulator is its BMC. */
function makeReportedMachine(machines: Machines, { id, nics }: ReportedSystem): Promise<Machine> {
  const spec: MachineSpec = defaultMachineSpec({ id })
  return machines.create({
    ...spec,
    bmc: null,
    nics: nics.length > 0 ? nics : spec.nics,
    disks: spec.disks.map((disk) => ({ ...disk, backing: { kind: 'described' } })),
  })
}
