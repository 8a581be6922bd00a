import type { FunctionComponent } from 'preact'
import { ExchangesView } from './exchanges.js'
import { FaultsView } from './faults.js'
import { FleetView } from './fleet.js'
import { MachineView } from './machine.js'
import { NodeView } from './node.js'
import { RecordingsView } from './recordings.js'
import { RunView } from './run.js'

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
  /** Shown where the machines are the hosts of a run. */
  readonly ofRun?: true
  readonly show: FunctionComponent<{ ident: string | null }>
}

export const VIEWS: readonly View[] = [
  { view: 'run', title: 'Run', key: '4', ofRun: true, show: RunView },
  { view: 'fleet', title: 'Fleet', key: '1', show: FleetView },
  { view: 'nodes', title: null, below: 'fleet', show: NodeView },
  { view: 'machines', title: null, below: 'fleet', show: MachineView },
  { view: 'exchanges', title: 'Exchanges', key: '2', show: ExchangesView },
  { view: 'recordings', title: 'Recordings', key: '5', show: RecordingsView },
  { view: 'faults', title: 'Faults and clock', key: '3', show: FaultsView },
]
