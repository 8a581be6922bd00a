import { pythonRepr, textOf, type JsonObject, type NodeRecord, type StepKind } from '../../../wire/index.js'
import type { BmcChange } from '../../drivers/hardware.js'
import { biosChange, biosVerdict, fakeBios } from './bios-steps.js'
import type { EffectBody, Outcome } from '../core/effects.js'
import { lookAtHardware } from '../power/hardware-report.js'
import { bootRamdisk } from '../agents/ramdisk.js'
import type { Turn } from '../core/turn.js'

/** A flow that runs steps of the node's interfaces among others. */
export interface DrivenFlow {
  readonly kind: StepKind
  /** Prefix of its continuations and of its marks in `driver_internal_info`. */
  readonly name: 'cleaning' | 'servicing' | 'deployment'
  /** Whether an agent runs the other steps, so that the machine has to be back in its ramdisk afterwards. */
  hasAgent(turn: Turn): boolean
  next(turn: Turn): void
  fail(turn: Turn, error: string): void
}

/** What a step comes to. */
export type StepWork =
  | { do: 'nothing' }
  | { do: 'fail'; error: string }
  /** `reboot` when it takes effect at a boot. */
  | { do: 'change'; changes: [BmcChange, ...BmcChange[]]; reboot: boolean }

/**
 * Begins a step of an interface other than deploy.
 *
 * @returns whether there is something to wait for
 */
export function runDriverStep(flow: DrivenFlow, turn: Turn, step: JsonObject): boolean {
  const work = workOf(turn, step)
  switch (work.do) {
    case 'nothing':
      return false
    case 'fail':
      flow.fail(turn, work.error)
      return true
    case 'change': {
      const changes = work.changes.map((change): EffectBody => ({ kind: 'bmc-change', change }))
      const reboot: EffectBody[] = !work.reboot
        ? []
        : flow.hasAgent(turn)
          ? bootRamdisk(turn)
          : [{ kind: 'power', target: 'rebooting' }]
      const [first, ...rest] = [...changes, ...reboot]
      turn.run([first!, ...rest], `${flow.name}.driven`, { phase: 'changed', reboot: work.reboot })
      return true
    }
  }
}

/** Over the work outside: whether the machine was only changed yet, and whether it was booted for it. */
export interface DrivenMemo {
  phase: 'changed' | 'looked at'
  reboot: boolean
}

/** What was changed has taken effect, or was refused. */
export function driverStepDriven(flow: DrivenFlow, turn: Turn, outcome: Outcome, { phase, reboot }: DrivenMemo): void {
  const step = turn.node[`${flow.kind}_step`]
  if (!outcome.ok) return flow.fail(turn, refusal(turn, step, outcome.error))
  if (phase === 'changed') {
    // As upstream's, which leaves the node to its periodic look at the BMC.
    if (reboot) turn.process('wait')
    const look = lookAtHardware(turn.node)[0] ?? { kind: 'proceed' }
    return turn.run([look], `${flow.name}.driven`, { phase: 'looked at', reboot })
  }
  const problem = finished(turn, step)
  if (problem !== undefined) return flow.fail(turn, problem)
  if (!reboot) return flow.next(turn)
  if (flow.hasAgent(turn)) {
    turn.setInfo({ [`${flow.name}_reboot`]: true })
    return turn.rest()
  }
  turn.process('resume')
  flow.next(turn)
}

const argsOf = (step: JsonObject): JsonObject => (step.args ?? {}) as JsonObject
const isFake = (node: Readonly<NodeRecord>, step: JsonObject): boolean =>
  node[`${textOf(step.interface)}_interface` as 'bios_interface'] === 'fake'

function workOf(turn: Turn, step: JsonObject): StepWork {
  const args = argsOf(step)
  switch (`${textOf(step.interface)}.${textOf(step.step)}`) {
    case 'bios.apply_configuration':
      return isFake(turn.node, step) ? fakeBios(turn, args.settings) : biosChange(turn, args.settings)
    case 'bios.factory_reset':
      if (!isFake(turn.node, step)) return change({ change: 'bios defaults' }, { reboot: true })
      turn.setSheet('bios', [])
      return { do: 'nothing' }
    case 'firmware.update':
      return isFake(turn.node, step) ? { do: 'nothing' } : firmwareUpdate(args.settings)
    case 'raid.apply_configuration':
      return volumes(turn, (args.raid_config ?? {}) as JsonObject, args)
    case 'raid.create_configuration':
      return volumes(turn, turn.node.target_raid_config, args)
    case 'raid.delete_configuration':
      return change({ change: 'volumes', volumes: [] })
    case 'vendor.send_raw':
      return change({ change: 'raw', bytes: textOf(args.raw_bytes) })
    default:
      return { do: 'nothing' }
  }
}

const change = (first: BmcChange, { reboot = false }: { reboot?: boolean } = {}): StepWork => ({
  do: 'change',
  changes: [first],
  reboot,
})

/** A BMC's refusal in upstream's words, as far as they say more than the BMC's. */
function refusal({ uuid }: Turn, step: JsonObject, error: string): string {
  const what: Readonly<Record<string, string>> = {
    'bios.apply_configuration': `Redfish BIOS apply configuration failed for node ${uuid}. Error: `,
    'bios.factory_reset': `Redfish BIOS factory reset failed for node ${uuid}. Error: `,
    'firmware.update': `Failed to update firmware on node ${uuid}. Error: `,
  }
  const name = `${textOf(step.interface)}.${textOf(step.step)}`
  return `Redfish exception occurred. Error: ${what[name] ?? ''}${error}`
}

/** What is left to settle once the machine was looked at; gives what has not become as it should. */
function finished(turn: Turn, step: JsonObject): string | undefined {
  const args = argsOf(step)
  switch (`${textOf(step.interface)}.${textOf(step.step)}`) {
    case 'bios.apply_configuration':
      return biosVerdict(turn, args.settings)
    case 'raid.apply_configuration':
      turn.node.raid_config = made(turn, (args.raid_config ?? {}) as JsonObject, args)
      return undefined
    case 'raid.create_configuration':
      turn.node.raid_config = made(turn, turn.node.target_raid_config, args)
      return undefined
    case 'raid.delete_configuration':
      turn.node.raid_config = {}
      return undefined
    default:
      return undefined
  }
}

function volumes(turn: Turn, config: JsonObject, args: JsonObject): StepWork {
  const disks = wanted(config, args)
  if (disks.length === 0) return { do: 'fail', error: `Node ${turn.uuid} has no target RAID configuration.` }
  return change({ change: 'volumes', volumes: disks })
}

/** The root volume, the others, or both. */
function wanted(
  config: JsonObject,
  { create_root_volume = true, create_nonroot_volumes = true }: JsonObject,
): JsonObject[] {
  const disks = Array.isArray(config.logical_disks) ? (config.logical_disks as JsonObject[]) : []
  return disks.filter((disk) => (disk.is_root_volume === true ? create_root_volume : create_nonroot_volumes))
}

const made = (turn: Turn, config: JsonObject, args: JsonObject): JsonObject => ({
  logical_disks: wanted(config, args),
  last_updated: turn.now,
})

const COMPONENT = /^(bios|bmc|nic:.*)$/

function firmwareUpdate(settings: unknown): StepWork {
  const problem = firmwareProblem(settings)
  if (problem !== undefined)
    return { do: 'fail', error: `Invalid firmware update ${pythonRepr(settings)}. Errors: ${problem}` }
  const changes = (settings as { component: string; url: string }[]).map(({ component, url }): BmcChange => ({
    change: 'firmware',
    component,
    url,
  }))
  return { do: 'change', changes: changes as [BmcChange], reboot: true }
}

function firmwareProblem(settings: unknown): string | undefined {
  if (!Array.isArray(settings)) return `${pythonRepr(settings)} is not of type 'array'`
  if (settings.length === 0) return '[] should be non-empty'
  for (const item of settings as unknown[]) {
    if (typeof item !== 'object' || item === null) return `${pythonRepr(item)} is not of type 'object'`
    const { component, url } = item as JsonObject
    if (component === undefined || url === undefined)
      return `'${component === undefined ? 'component' : 'url'}' is a required property`
    if (typeof component !== 'string' || !COMPONENT.test(component))
      return `${pythonRepr(component)} is not valid under any of the given schemas`
    if (typeof url !== 'string' || url === '') return `${pythonRepr(url)} should be non-empty`
  }
  return undefined
}
