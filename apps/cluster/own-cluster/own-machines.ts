import { fittingMachine } from '../../../baremetal-operator/index.js'
import { withHardware, type MachineSpec } from '../../../machine/index.js'
import { defined } from '../../../base/runtime/index.js'
import { hardwareOf } from './own-cluster.js'
import type { OwnHost, OwnObjects } from './own-objects.js'

/** A computer to be simulated for a host, or for a node whose host is unknown. */
export interface WantedComputer {
  /** Name of the host. */
  name: string
  host: OwnHost | undefined
  /** Name of the node that it is to become; undefined for a host that is none. */
  node: string | undefined
}

/** A simulated computer for a host. */
interface OwnMachineSpec {
  spec: MachineSpec
  /** False where no disk of its HardwareData fits the host's hints: they would keep it from being installed. */
  fitsHints: boolean
}

/** The simulated computer of a host: with the hardware that its inspection has found, and the BMC of the lab. */
export function ownMachine(
  plain: MachineSpec,
  { name, host, node }: WantedComputer,
  objects: OwnObjects,
): OwnMachineSpec {
  const fitting = host ? fittingOwnHost(host, objects) : { hardware: {}, notes: [] }
  const known = fitting.hardware
  const { bmc: _dialect, architecture: _architecture, hostname: _hostname, ...hardware } = known
  const shaped = withHardware(plain, { ...hardware, bmc: 'standard' })
  const mac = host?.spec.bootMACAddress?.toLowerCase()
  const nics = known.nics || mac === undefined ? shaped.nics : withBootMac(shaped.nics, mac)
  const spec = { ...shaped, id: name, nics, ...defined({ hostname: node }) }
  return { spec, fitsHints: !fitting.notes.some((note) => note.startsWith('no disk')) }
}

function fittingOwnHost({ metadata, spec }: OwnHost, objects: OwnObjects) {
  const { rootDeviceHints = {}, bmc } = spec
  const hardware = hardwareOf(metadata.name, objects)
  return fittingMachine({
    host: {
      kind: 'BareMetalHost',
      metadata,
      spec: {
        online: spec.online ?? false,
        customDeploy: { method: 'install_coreos' },
        rootDeviceHints,
        ...defined({
          bmc: bmc && { address: bmc.address, credentialsName: bmc.credentialsName ?? '' },
          bootMode: spec.bootMode,
          bootMACAddress: spec.bootMACAddress,
        }),
      },
    },
    secrets: [],
    others: hardware ? [{ kind: 'HardwareData', metadata, spec: { hardware } }] : [],
  })
}

const withBootMac = ([first, ...more]: MachineSpec['nics'], mac: string): MachineSpec['nics'] =>
  first ? [{ ...first, mac }, ...more] : []
