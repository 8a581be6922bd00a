import { sha256Hex } from '../../../base/bytes/index.js'
import { defaultMachineSpec, type DiskSpec, type MachineSpec } from '../../../machine/index.js'
import { REHEARSAL_IMAGE } from '../../../lab/index.js'
import { defined, parseSize } from '../../../base/runtime/index.js'
import type { Host } from '../hosts/host.js'

/** The simulated machine of a host: it has what the file says of it, and what the file expects. */
export function makeHostMachine(host: Host, index: number): MachineSpec {
  const { name, expect = {}, macs = [], disk } = host
  const spec = defaultMachineSpec(index + 1)
  const [first, second] = spec.disks as [DiskSpec, DiskSpec]
  const byId = disk['by-id']?.split('/').at(-1)
  const serial = disk.serial ?? byId?.split(/[_-]/).at(-1)
  const least = Math.max(first.size, expect['disk-size'] === undefined ? 0 : parseSize(String(expect['disk-size'])))
  const size = disk.size === undefined ? least : parseSize(String(disk.size))
  const byPath = disk['by-path']?.split('/').at(-1)
  const kernelName = disk.name?.replace(/^\/dev\//, '')
  const wanted: DiskSpec = {
    ...first,
    size,
    ...defined({ name: kernelName, byPath, serial, wwn: disk.wwn, model: expect['disk-model'] }),
  }
  const other = { ...second, name: second.name === wanted.name ? 'sdz' : second.name }
  const nics = spec.nics.map((nic, at) => (macs[at] === undefined ? nic : { ...nic, mac: macs[at].toLowerCase() }))
  const more = macs
    .slice(nics.length)
    .map((mac, at) => ({ ...spec.nics[1]!, name: `eno${at + 3}`, mac: mac.toLowerCase() }))
  return {
    ...spec,
    id: name,
    bmc: { address: name, systemId: name },
    metalImage: REHEARSAL_IMAGE,
    serial: expect.serial ?? `RH-${sha256Hex(name).slice(0, 8).toUpperCase()}`,
    ...defined({
      product: expect.product,
      cpus: expect.cpus === undefined ? undefined : Math.max(spec.cpus, expect.cpus),
    }),
    memoryMib: Math.max(
      spec.memoryMib,
      expect.memory === undefined ? 0 : Math.ceil(parseSize(String(expect.memory)) / 2 ** 20),
    ),
    nics: [...nics, ...more],
    disks: [wanted, other],
  }
}
