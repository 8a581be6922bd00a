import { createIronicApi, openIronic, type Ironic, type IronicState } from '../../ironic-mock/index.js'
import type { Machines } from '../../machine/index.js'
import { defined, withFields } from '../../base/runtime/index.js'
import type { Dispatch } from '../../base/wire/index.js'
import type { BmcAccounts } from '../bmcs/bmc-accounts.js'
import { machineBmcs } from '../bmcs/bmcs.js'
import type { Elsewhere } from './stage-elsewhere.js'
import type { LiveImages } from '../images/live-images.js'
import { toAgentsOf } from './agent-addresses.js'
import type { Connections } from './connections.js'
import type { IronicSettings } from './ironic-settings.js'
import { nodeMachineSpecs } from './machine-specs.js'
import type { ReservationGate } from './reservation-gate.js'
import type { StageCore } from './stage-core.js'
import type { CurrentDatabase } from './stage-database.js'
import { labProxies, type StageOptions } from './stage-options.js'

/** The conductor's name where `[DEFAULT]host` has none: `reservation` of a locked node, `conductor` in the API. */
export const CONDUCTOR_HOST = 'ironstage'

/** The parts that the Ironic of a stage works with. */
interface IronicSurroundings {
  database: CurrentDatabase
  reservations: ReservationGate
  machines: Machines
  accounts: BmcAccounts
  live: LiveImages | undefined
  elsewhere: Elsewhere | undefined
  /** Puts the control API beside Ironic's. */
  withControl: (api: Dispatch) => Dispatch
}

/** Starts a conductor on the current database, and its API, which clients do not reach yet. */
export function ironicStarter(
  options: StageOptions,
  { clock, randomness, probe, events, logger }: StageCore,
  { conf, service, newest, types }: IronicSettings,
  { access, addresses, toAgents, url, ownExchanges }: Connections,
  { database, reservations, machines, accounts, live, elsewhere, withControl }: IronicSurroundings,
): (from?: IronicState) => Promise<{ ironic: Ironic; dispatch: Dispatch }> {
  const random = randomness.main
  const bmcs =
    elsewhere?.bmcs ??
    machineBmcs({
      machines,
      profile: nodeMachineSpecs(options),
      used: (machine, node) => reservations.belongs(machine, node),
      accounts,
      probe,
    })
  return async (from) => {
    const store = database.watched
    const { shared } = database
    const share = shared?.join()
    const role = shared?.self.role
    const ironic = await openIronic({
      store,
      host: shared?.self.host ?? service.conductorName ?? CONDUCTOR_HOST,
      bmcs,
      clock,
      random,
      probe,
      conf,
      types,
      agents: toAgentsOf(machines, { transport: toAgents, addresses, probe }),
      logger: withFields(logger, { room: 'conductor' }),
      ironicUrl: () => (role === 'conductor' ? (service.publicEndpoint ?? share?.apiUrl) : elsewhere?.ironicUrl) ?? url,
      proxies: labProxies(options),
      ...defined({ from, share, servedImages: elsewhere?.imagesFor ?? live?.imagesFor, findImage: options.findImage }),
      deploymentRepeated: (repeated) => events.emit({ kind: 'deployment-repeated', ...repeated }),
    })
    if (role === 'conductor') return { ironic, dispatch: withControl(refuseApiCall) }
    const api = createIronicApi({
      conductor: ironic.conductor,
      store,
      clock,
      random,
      service,
      newest,
      randomOfReads: randomness.reads,
      fastTrack: conf.fastTrack,
      ...defined({ guard: access.guard }),
      logger: withFields(logger, { room: 'api' }),
    })
    return { ironic, dispatch: withControl(ownExchanges.probed(api, probe)) }
  }
}

/** The API of a process that only works on nodes. */
const refuseApiCall: Dispatch = () =>
  Promise.resolve({
    status: 404,
    headers: { 'content-type': 'text/plain' },
    body: 'this process is a conductor, and has no API; send the request to one of --role api\n',
  })
