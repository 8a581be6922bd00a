import type { InventoryInterface } from '../../base/wire/index.js'
import type { Executor } from '../../targets/index.js'
import { runToEnd } from '../sdk/run-command.js'
import { sysNames, sysText } from './block-devices.js'
import { recordsIn, programJson, trimText, type ProgramRecord } from './program-json.js'

/**
 * The network interfaces that count as hardware: those with a device, bonds, and VLANs by their name `eth0.100`. Interfaces
 * without a MAC, or with a locally administered `fa:...` one, do not count, as in ironic-python-agent.
 */
export async function listInterfaces(executor: Executor): Promise<InventoryInterface[]> {
  const links = recordsIn(programJson((await runToEnd(executor, ['ip', '-j', 'addr'], { effect: 'reads' })).stdout))
  const names = await sysNames(executor, '/sys/class/net')
  const interfaces = await Promise.all(
    names.map(async (name) => {
      const link = links.find((candidate) => candidate['ifname'] === name)
      return (await counts(executor, name)) ? readInterface(executor, name, link ?? {}) : null
    }),
  )
  return interfaces.filter((found) => found !== null)
}

async function counts(executor: Executor, name: string): Promise<boolean> {
  const has = (file: string) => executor.files.exists(`/sys/class/net/${name}/${file}`)
  return /\.\d+$/.test(name) || (await has('device')) || (await has('bonding'))
}

async function readInterface(
  executor: Executor,
  name: string,
  link: ProgramRecord,
): Promise<InventoryInterface | null> {
  const sys = (file: string) => sysText(executor, `/sys/class/net/${name}/${file}`)
  const mac = (trimText(link['permaddr']) ?? (await sys('address')) ?? trimText(link['address']))?.toLowerCase()
  if (!mac || mac.startsWith('fa:')) return null
  const uevent = (await sys('device/uevent')) ?? ''
  const speed = Number((await sys('speed')) ?? -1)
  return {
    name,
    mac_address: mac,
    ipv4_address: chooseAddress(link, 'inet'),
    ipv6_address: chooseAddress(link, 'inet6'),
    has_carrier: (await sys('carrier')) === '1',
    lldp: null,
    vendor: await sys('device/vendor'),
    product: await sys('device/device'),
    client_id: null,
    biosdevname: null,
    speed_mbps: speed > 0 ? speed : null,
    pci_address: /^PCI_SLOT_NAME=(\S+)$/m.exec(uevent)?.[1] ?? null,
    driver: /^DRIVER=(\S+)$/m.exec(uevent)?.[1] ?? null,
  }
}

/** A global address, or else a link-local one with its interface, as Python writes it: `fe80::1%eth0`. */
function chooseAddress(link: ProgramRecord, family: 'inet' | 'inet6'): string | null {
  const all = recordsIn(link['addr_info']).filter((info) => info['family'] === family)
  const best = all.find((info) => info['scope'] === 'global') ?? all[0]
  const text = trimText(best?.['local'])
  return text && family === 'inet6' && best?.['scope'] === 'link' ? `${text}%${String(link['ifname'])}` : text
}
