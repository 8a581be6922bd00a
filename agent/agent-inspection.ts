import { defined, errorChain, type Clock } from '../base/runtime/index.js'
import { runToEnd, type TargetHardware } from '../steps/index.js'
import type { Target } from '../targets/index.js'
import type { InspectionBody } from '../base/wire/index.js'
import { pciDevices, usbDevices } from './collectors/buses.js'
import { dmiData, parseDmi } from './collectors/dmi.js'
import { extraHardware } from './collectors/extra-hardware.js'
import { interfaceFrames } from './collectors/collect-lldp.js'
import { numaTopology } from './collectors/numa.js'
import type { Managers } from './agent-managers.js'

export type HardwareReader = (target: Target) => Promise<TargetHardware>

export interface InspectionOptions {
  target: Target
  collectors: readonly string[]
  managers: Managers
  hardware: () => Promise<TargetHardware>
  logs: () => Promise<string>
  clock: Clock
  /** Milliseconds. */
  lldpTimeout: number
  signal: AbortSignal
}

/** Collector: returns its part of the inspection data. */
type Collector = (options: InspectionOptions) => Promise<Partial<InspectionBody>>

/** The collectors of IPA that this agent has, in the order in which they run; the log of the others is in the last. */
const COLLECTORS: Readonly<Record<string, Collector>> = {
  default: async ({ hardware, managers, collectors }) => {
    const { inventory, rootDisk, bootInterface } = await hardware()
    return {
      inventory,
      ...defined({ root_disk: rootDisk ?? undefined }),
      boot_interface: bootInterface,
      configuration: {
        collectors: collectors.filter((name) => Object.hasOwn(COLLECTORS, name)),
        managers: managers.list(),
      },
    }
  },
  'extra-hardware': ({ target, signal }) => extraHardware(target, signal),
  'pci-devices': async ({ target }) => ({ pci_devices: await pciDevices(target.executor) }),
  'usb-devices': async ({ target }) => ({ usb_devices: await usbDevices(target.executor) }),
  'numa-topology': async ({ target }) => ({ numa_topology: await numaTopology(target.executor) }),
  'dmi-decode': async ({ target, signal }) => {
    const { exit, stdout, stderr } = await runToEnd(target.executor, ['dmidecode'], { effect: 'reads', signal })
    if (exit.kind !== 'exited' || exit.code !== 0) throw new Error(`dmidecode failed: ${stderr.trim()}`)
    return { dmi: dmiData(parseDmi(stdout)) }
  },
  lldp: async ({ target, hardware, clock, lldpTimeout: timeout, signal }) => {
    const { interfaces } = (await hardware()).inventory
    return { lldp_raw: await interfaceFrames(target, interfaces, { clock, timeout, signal }) }
  },
  logs: async ({ logs }) => ({ logs: await logs() }),
}

/**
 * Body of `POST /v1/continue_inspection` (ironic-python-agent 13.0.0 inspector.py inspect, call_inspector). A failed
 * collector does not stop the others: its error is sent along, and Ironic decides. Collectors that this agent lacks are
 * left out, and not listed as having run.
 */
export async function inspectionData(options: InspectionOptions): Promise<InspectionBody> {
  const errors: string[] = []
  let collected: Partial<InspectionBody> = {}
  for (const [name, collector] of Object.entries(COLLECTORS)) {
    if (!options.collectors.includes(name)) continue
    try {
      collected = { ...collected, ...(await collector(options)) }
    } catch (error) {
      options.signal.throwIfAborted()
      errors.push(`collector ${name} failed: ${errorChain(error).join(': ')}`)
    }
  }
  return { ...collected, error: errors.length === 0 ? null : asList(errors) }
}

const asList = (errors: readonly string[]): string =>
  `The following errors were encountered:\n${errors.map((error) => `* ${error}`).join('\n')}`
