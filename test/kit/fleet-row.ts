import type { FleetRow } from '../../apps/ui/state/fleet-rows.js'
import { lookOf } from '../../apps/ui/state/looks.js'

/** A row of the dashboard's fleet: a node that is in a state, and about which nothing more is known. */
export const fleetRow = (name: string, state: string, more: Partial<FleetRow> = {}): FleetRow => ({
  id: `id-${name}`,
  name,
  isNode: true,
  machine: null,
  state,
  look: lookOf(state),
  power: null,
  target: null,
  since: null,
  step: null,
  error: null,
  waitsFor: null,
  isInMaintenance: false,
  ...more,
})
