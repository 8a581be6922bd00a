import { isObject, MIB } from '../../base/runtime/index.js'
import type { Inventory } from '../../base/wire/index.js'
import type { Executor } from '../../targets/index.js'
import { runToEnd } from '../sdk/run-command.js'
import { sysText } from './block-devices.js'
import { recordsIn, programJson, trimText, type ProgramRecord } from './program-json.js'

export interface HardwareTree {
  vendor: Inventory['system_vendor']
  /** Memory that is plugged in, in MiB. */
  memoryMib: number | null
}

/**
 * Reads vendor, firmware and plugged-in memory from lshw, as ironic-python-agent does. Without lshw, as on a bare CoreOS,
 * it reads sysfs and dmidecode; the real agent's inventory fails there.
 */
export async function readHardwareTree(executor: Executor): Promise<HardwareTree> {
  const { stdout } = await runToEnd(executor, ['lshw', '-quiet', '-json'], { effect: 'reads' })
  const tree = programJson(stdout)
  // Older versions print one object, newer ones a list of it.
  const system = isObject(tree) ? tree : recordsIn(tree)[0]
  return system ? fromLshw(system) : fromKernel(executor)
}

function fromLshw(system: ProgramRecord): HardwareTree {
  const core = recordsIn(system['children']).find((node) => node['id'] === 'core')
  const parts = recordsIn(core?.['children'])
  const firmware = parts.find((node) => node['id'] === 'firmware')
  return {
    vendor: {
      product_name: trimText(system['product']) ?? '',
      serial_number: trimText(system['serial']) ?? '',
      manufacturer: trimText(system['vendor']) ?? '',
      firmware: {
        vendor: trimText(firmware?.['vendor']) ?? '',
        version: trimText(firmware?.['version']) ?? '',
        build_date: trimText(firmware?.['date']) ?? '',
      },
    },
    memoryMib: lshwMemory(parts),
  }
}

/** Sums the memory banks, or the memory nodes without banks. lshw counts bytes. */
function lshwMemory(parts: readonly ProgramRecord[]): number | null {
  const memories = parts.filter((node) => /^memory(:\d+)?$/.test(String(node['id'])))
  const bytes = memories.reduce((sum, memory) => {
    const banks = recordsIn(memory['children']).filter((node) => String(node['id']).startsWith('bank'))
    const sized = banks.length > 0 ? banks : [memory]
    return sum + sized.reduce((all, node) => all + (typeof node['size'] === 'number' ? node['size'] : 0), 0)
  }, 0)
  return bytes > 0 ? Math.floor(bytes / MIB) : null
}

async function fromKernel(executor: Executor): Promise<HardwareTree> {
  const dmi = async (name: string) => (await sysText(executor, `/sys/class/dmi/id/${name}`)) ?? ''
  const [{ stdout }, product, serial, manufacturer, vendor, version, date] = await Promise.all([
    runToEnd(executor, ['dmidecode', '--type', '17'], { effect: 'reads' }),
    dmi('product_name'),
    dmi('product_serial'),
    dmi('sys_vendor'),
    dmi('bios_vendor'),
    dmi('bios_version'),
    dmi('bios_date'),
  ])
  const firmware = { vendor, version, build_date: date }
  return {
    vendor: { product_name: product, serial_number: serial, manufacturer, firmware },
    memoryMib: dmidecodeMemory(stdout),
  }
}

/** Sums `Size: 16 GB` over the memory devices; dmidecode's MB and GB are powers of 1024. */
export function dmidecodeMemory(text: string): number | null {
  const factor = { MB: 1, GB: 1024, TB: 1024 ** 2 } as const
  const sizes = [...text.matchAll(/^\s*Size: (\d+) (MB|GB|TB)$/gm)]
  const total = sizes.reduce((sum, size) => sum + Number(size[1]) * factor[size[2] as keyof typeof factor], 0)
  return total > 0 ? total : null
}
