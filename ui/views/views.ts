import type { FunctionComponent } from 'preact'
import { ExchangesView } from './exchanges.js'
import { FaultsView } from './faults.js'
import { FleetView } from './fleet.js'
import { MachineView } from './machine.js'
import { NodeView } from './node.js'

/** A page of the dashboard. */
export interface View {
  /** First part of its address. */
  readonly view: string
  /** In the list of pages; null for one that others lead to. */
  readonly title: string | null
  /** Page that it is shown below. */
  readonly below?: string
  /** Key that leads to it. */
  readonly key?: string
  readonly show: FunctionComponent<{ ident: string | null }>
}

export const VIEWS: readonly View[] = [
  { view: 'fleet', title: 'Fleet', key: '1', show: FleetView },
  { view: 'nodes', title: null, below: 'fleet', show: NodeView },
  { view: 'machines', title: null, below: 'fleet', show: MachineView },
  { view: 'exchanges', title: 'Exchanges', key: '2', show: ExchangesView },
  { view: 'faults', title: 'Faults and clock', key: '3', show: FaultsView },
]
