import type { RootTree } from '../root/root-tree.js'
import { enableUnit } from './unit-links.js'
import { PRESET } from './ignition-units.js'

/** Enables units by the presets, as systemd does at the first start of a system. */
export function presetUnits(tree: RootTree): void {
  for (const line of tree.text(PRESET).split('\n')) {
    const [verb, unit, ...instances] = line.split(' ')
    if (verb !== 'enable' || !unit) continue
    if (instances.length === 0) enableUnit(tree, unit)
    for (const instance of instances) enableUnit(tree, unit, instance)
  }
}
