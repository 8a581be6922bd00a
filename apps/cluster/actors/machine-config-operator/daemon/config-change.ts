import { isDeepStrictEqual } from 'node:util'
import type { MachineConfig } from '../../../../../base/kubernetes/index.js'
import { SYSTEMD } from '../machine-config-names.js'
import { ignitionOf } from '../rendered-config.js'
import type { ConfigChange } from './node-disruption.js'
import { configFilesOf } from './on-disk.js'

/**
 * Differences between two configurations (newMachineConfigDiff of pkg/daemon/update.go of machine-config-operator 7ff337a).
 * Without a configuration before, the system differs.
 *
 * @param booted image that the node runs
 */
export function configChange(
  before: MachineConfig | undefined,
  after: MachineConfig,
  booted: string | null,
): ConfigChange {
  const { osImageURL = '', kernelArguments = [] } = after.spec
  const isOfSystem =
    before === undefined ||
    (osImageURL !== '' && osImageURL !== booted) ||
    !isDeepStrictEqual(kernelArguments, before.spec.kernelArguments ?? [])
  if (before === undefined) return { files: [], units: [], hasOtherKeys: false, isOfSystem }
  const units = changedUnits(before, after)
  const files = changedFiles(before, after).filter((path) => !units.some((unit) => isOfUnit(path, unit)))
  const hasOtherKeys = !isDeepStrictEqual(ignitionOf(before.spec).passwd, ignitionOf(after.spec).passwd)
  return { files, units, hasOtherKeys, isOfSystem }
}

function changedFiles(before: MachineConfig, after: MachineConfig): string[] {
  const old = configFilesOf(before)
  const wanted = configFilesOf(after)
  const isSame = (path: string): boolean => {
    const one = old.get(path)
    const other = wanted.get(path)
    return (
      one !== undefined && other !== undefined && one.mode === other.mode && Buffer.from(one.bytes).equals(other.bytes)
    )
  }
  return [...new Set([...old.keys(), ...wanted.keys()])].filter((path) => !isSame(path)).sort()
}

/** Names of units that differ, with their drop-ins. */
function changedUnits(before: MachineConfig, after: MachineConfig): string[] {
  const old = ignitionOf(before.spec).systemd?.units ?? []
  const wanted = ignitionOf(after.spec).systemd?.units ?? []
  const names = [...new Set([...old, ...wanted].flatMap(({ name }) => name ?? []))].sort()
  return names.filter(
    (name) =>
      !isDeepStrictEqual(
        old.filter((unit) => unit.name === name),
        wanted.filter((unit) => unit.name === name),
      ),
  )
}

const isOfUnit = (path: string, unit: string): boolean =>
  path === `${SYSTEMD}/${unit}` || path.startsWith(`${SYSTEMD}/${unit}.d/`)
