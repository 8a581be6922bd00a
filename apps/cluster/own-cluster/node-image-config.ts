import { isEmptySelector, selectsLabels } from '../../../base/kubernetes/index.js'
import { overridingConfig } from '../actors/machine-config-operator/rendered-config.js'
import type { OwnMachineConfig, OwnObjects, OwnPool } from './own-objects.js'

/** The MachineConfig by which a pool's nodes run another image than that of the release; undefined for none. */
export function nodeImageConfig(
  { spec }: OwnPool,
  { MachineConfig: configs }: Pick<OwnObjects, 'MachineConfig'>,
): OwnMachineConfig | undefined {
  const selector = spec.machineConfigSelector
  if (!selector || isEmptySelector(selector)) return undefined
  const selected = configs.filter(({ metadata }) => selectsLabels(selector, metadata.labels ?? {}))
  return overridingConfig(selected.filter(({ metadata }) => !metadata.ownerReferences?.some(isPool)))
}

const isPool = ({ kind }: { kind: string }): boolean => kind === 'MachineConfigPool'
