import {
  makeCollection,
  resourceHead,
  referenceTo,
  enabledStatus,
  type RedfishDocument,
} from '../protocol/redfish-document.js'
import { ofMachine, type MachineCall, type RedfishResource } from '../protocol/resource.js'

/** Model of the CPU of each architecture. */
export const CPU_MODELS = { x86_64: 'Simulated x86-64 CPU', aarch64: 'Simulated ARM CPU' } as const

function processorOf({ machine: { spec }, params }: MachineCall): RedfishDocument | undefined {
  if (params['processor'] !== 'CPU.1') return undefined
  const isX86 = spec.architecture === 'x86_64'
  return {
    ...resourceHead('Processor', ['Systems', spec.id, 'Processors', 'CPU.1'], 'CPU 1'),
    ProcessorType: 'CPU',
    Socket: 'CPU.1',
    ProcessorArchitecture: isX86 ? 'x86' : 'ARM',
    InstructionSet: isX86 ? 'x86-64' : 'ARM-A64',
    Manufacturer: spec.manufacturer,
    Model: CPU_MODELS[spec.architecture],
    MaxSpeedMHz: 2400,
    TotalCores: spec.cpus,
    TotalThreads: spec.cpus,
    Status: enabledStatus(),
  }
}

/** Modules of this size make the memory, the last one what is left. */
const MODULE_MIB = 16 * 1024

function memoryOf({ machine: { spec }, params }: MachineCall): RedfishDocument | undefined {
  const index = modulesOf(spec.memoryMib).indexOf(params['module']!)
  if (index < 0) return undefined
  return {
    ...resourceHead('Memory', ['Systems', spec.id, 'Memory', params['module']!], params['module']!),
    MemoryType: 'DRAM',
    MemoryDeviceType: 'DDR5',
    CapacityMiB: Math.min(MODULE_MIB, spec.memoryMib - index * MODULE_MIB),
    OperatingSpeedMhz: 4800,
    Manufacturer: spec.manufacturer,
    Status: enabledStatus(),
  }
}

const modulesOf = (mib: number): string[] =>
  Array.from({ length: Math.ceil(mib / MODULE_MIB) }, (_, index) => `DIMM.${index + 1}`)

/** CPUs and memory. */
export const PROCESSOR_RESOURCES: readonly RedfishResource[] = [
  ofMachine('/Systems/{machine}/Processors', {
    reads: 'read hardware',
    get: ({ machine: { spec } }) => {
      const path = ['Systems', spec.id, 'Processors']
      return makeCollection('ProcessorCollection', path, 'Processors', [referenceTo(...path, 'CPU.1')])
    },
  }),
  ofMachine('/Systems/{machine}/Processors/{processor}', { reads: 'read hardware', get: processorOf }),
  ofMachine('/Systems/{machine}/Memory', {
    reads: 'read hardware',
    get: ({ machine: { spec } }) => {
      const path = ['Systems', spec.id, 'Memory']
      const members = modulesOf(spec.memoryMib).map((name) => referenceTo(...path, name))
      return makeCollection('MemoryCollection', path, 'Memory', members)
    },
  }),
  ofMachine('/Systems/{machine}/Memory/{module}', { reads: 'read hardware', get: memoryOf }),
]
