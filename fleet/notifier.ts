import { errorChain, UserError, type Clock, type Logger } from '../runtime/index.js'
import { defaultMachineSpec, type Machine, type Machines, type MachineSpec } from '../machine/index.js'
import type { Dispatch, WireResponse } from '../wire/index.js'

export interface NotifierParts {
  machines: Machines
  /** URL at which the agents find their Ironic. */
  ironicUrl: string
  clock: Clock
  logger: Logger
}

/** A system as the fake driver of sushy-tools reports it with every change (`_send_external_notification`). */
interface ReportedSystem {
  uuid: string
  name: string
  nics: { mac: string; ip?: string }[]
  /** Default Hdd. */
  bootDevice: string
  pending: { on: boolean; /** Seconds since the epoch. */ at: number } | null
}

/**
 * Takes the place of fake-ipa behind an emulator of BMCs: `PUT /` tells of a system whose power is about to change, and the
 * machine of that system follows. The machine is created at the first report that switches it on. If its boot device is not the disk, it boots a ramdisk with an agent,
 * as fake-ipa starts an agent.
 */
export function notifier({ machines, ironicUrl, clock, logger }: NotifierParts): Dispatch {
  const follow = async (system: ReportedSystem, on: boolean): Promise<void> => {
    if (!on) return machines.get(system.uuid)?.setPower('off')
    const machine = machines.get(system.uuid) ?? (await machineOf(machines, system))
    if (machine.power() === 'on') return
    await machine.setBoot(
      system.bootDevice === 'Hdd' ? { kind: 'disk' } : { kind: 'ramdisk', parameters: { 'ipa-api-url': ironicUrl } },
    )
    await machine.setPower('on')
  }
  return (request) => {
    if (request.target !== '/' || request.method !== 'PUT')
      return Promise.resolve(answer(404, 'PUT / takes notifications of power changes'))
    try {
      const system = read(request.body)
      if (!system.pending) return Promise.resolve({ status: 204, headers: {} })
      const { on, at } = system.pending
      // The emulator has the new power from this time on.
      const wait = Math.max(0, at * 1000 - clock.now())
      clock
        .sleep(wait, { weak: true })
        .then(() => follow(system, on))
        .catch((error: unknown) =>
          logger('warn', `${system.name} did not follow its BMC: ${errorChain(error).join(': ')}`),
        )
      return Promise.resolve({ status: 204, headers: {} })
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      return Promise.resolve(answer(400, error.message))
    }
  }
}

const answer = (status: number, description: string): WireResponse => ({
  ...{ status, headers: { 'content-type': 'application/json' } },
  body: JSON.stringify({ code: status, description }),
})

function read(body: string | undefined): ReportedSystem {
  const wrong = (what: string): UserError => new UserError('notification', `the notification ${what}`)
  let document: unknown
  try {
    document = JSON.parse(body ?? '')
  } catch {
    throw wrong('is not JSON')
  }
  const { uuid, name, nics = [], boot_device: device = 'Hdd', pending_power: pending } = (document ?? {}) as Fields
  if (typeof uuid !== 'string' || uuid === '') throw wrong('has no uuid')
  if (!Array.isArray(nics) || !nics.every(isNic)) throw wrong('has nics that are no list of {mac, ip}')
  const system = { uuid, name: typeof name === 'string' ? name : uuid, nics, bootDevice: String(device) }
  if (pending === null || pending === undefined) return { ...system, pending: null }
  const { power_state: state, apply_time: at = 0 } = pending as Fields
  if (typeof state !== 'string' || typeof at !== 'number')
    throw wrong('has a pending_power without power_state and apply_time')
  // A restart reports the power that it ends with as `GracefulRestart` or `ForceRestart`.
  return { ...system, pending: { on: state === 'On' || state.includes('Restart'), at } }
}

type Fields = Readonly<Record<string, unknown>>

const isNic = (nic: unknown): nic is { mac: string; ip?: string } =>
  typeof (nic as Fields | null)?.['mac'] === 'string' &&
  /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i.test((nic as { mac: string }).mac)

/** Makes the machine of a reported system. The emulator is its BMC. */
function machineOf(machines: Machines, { uuid, nics }: ReportedSystem): Promise<Machine> {
  const spec: MachineSpec = defaultMachineSpec({ id: uuid })
  const ofSystem = nics.map(({ mac, ip }, index) => ({
    ...{ name: `eno${index + 1}`, mac: mac.toLowerCase(), ipv4: ip ?? null, carrier: true, pxe: index === 0 },
  }))
  return machines.create({
    ...{ ...spec, bmc: null, nics: ofSystem.length > 0 ? ofSystem : spec.nics },
    disks: spec.disks.map((disk) => ({ ...disk, backing: { kind: 'described' } })),
  })
}
