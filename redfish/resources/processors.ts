import { collection, head, link, status, type Document } from '../protocol/document.js'
import { ofMachine, type MachineCall, type Resource } from '../protocol/resource.js'

/** Model of the CPU of each architecture. */
export const CPU_MODELS = { x86_64: 'Simulated x86-64 CPU', aarch64: 'Simulated ARM CPU' } as const

function processorOf({ machine: { spec }, params }: MachineCall): Document | undefined {
  if (params['processor'] !== 'CPU.1') return undefined
  const isX86 = spec.architecture === 'x86_64'
  return {
    ...head('Processor', ['Systems', spec.id, 'Processors', 'CPU.1'], 'CPU 1'),
    ProcessorType: 'CPU',
    Socket: 'CPU.1',
    ProcessorArchitecture: isX86 ? 'x86' : 'ARM',
    InstructionSet: isX86 ? 'x86-64' : 'ARM-A64',
    Manufacturer: spec.manufacturer,
    Model: CPU_MODELS[spec.architecture],
    MaxSpeedMHz: 2400,
    TotalCores: spec.cpus,
    TotalThreads: spec.cpus,
    Status: status(),
  }
}

/** Modules of this size make the memory, the last one what is left. */
const MODULE_MIB = 16 * 1024

function memoryOf({ machine: { spec }, params }: MachineCall): Document | undefined {
  const index = modulesOf(spec.memoryMib).indexOf(params['module']!)
  if (index < 0) return undefined
  return {
    ...head('Memory', ['Systems', spec.id, 'Memory', params['module']!], params['module']!),
    MemoryType: 'DRAM',
    MemoryDeviceType: 'DDR5',
    CapacityMiB: Math.min(MODULE_MIB, spec.memoryMib - index * MODULE_MIB),
    OperatingSpeedMhz: 4800,
    Manufacturer: spec.manufacturer,
    Status: status(),
  }
}

const modulesOf = (mib: number): string[] =>
  Array.from({ length: Math.ceil(mib / MODULE_MIB) }, (_, index) => `DIMM.${index + 1}`)

/** CPUs and memory. */
export const PROCESSOR_RESOURCES: readonly Resource[] = [
  ofMachine('/Systems/{machine}/Processors', {
    reads: 'read hardware',
    get: ({ machine: { spec } }) => {
      const path = ['Systems', spec.id, 'Processors']
      return collection('ProcessorCollection', path, 'Processors', [link(...path, 'CPU.1')])
    },
  }),
  ofMachine('/Systems/{machine}/Processors/{processor}', { reads: 'read hardware', get: processorOf }),
  ofMachine('/Systems/{machine}/Memory', {
    reads: 'read hardware',
    get: ({ machine: { spec } }) => {
      const path = ['Systems', spec.id, 'Memory']
      const members = modulesOf(spec.memoryMib).map((name) => link(...path, name))
      return collection('MemoryCollection', path, 'Memory', members)
    },
  }),
  ofMachine('/Systems/{machine}/Memory/{module}', { reads: 'read hardware', get: memoryOf }),
]
