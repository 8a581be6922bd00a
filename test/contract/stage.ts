import { defined, Probe, seededRandom, silent, systemClock, type Clock } from '../../base/runtime/index.js'
import {
  createIronicApi,
  HARDWARE_TYPES,
  openIronic,
  openStore,
  UPSTREAM_CONF,
  type ConductorConf,
  type Ironic,
  type Store,
  type StoreView,
  type IronicApiOptions,
} from '../../ironic-mock/index.js'
import type { WorkShare } from '../../ironic-mock/members/work-share.js'
import { IronicClient, InProcessTransport, type Dispatch } from '../../base/wire/index.js'

/** `[DEFAULT]enabled_deploy_interfaces` of the recorded Ironic. */
const DEPLOY = ['custom-agent', 'direct', 'fake', 'noop', 'ramdisk']
const recordedTypes = HARDWARE_TYPES.map((type) => ({
  ...type,
  interfaces: { ...type.interfaces, deploy: type.interfaces.deploy.filter((name) => DEPLOY.includes(name)) },
}))

export interface Stage extends AsyncDisposable {
  readonly api: Dispatch
  readonly ironic: Ironic
  readonly store: Store & StoreView
  readonly client: IronicClient
}

/** The API over a conductor in memory, as the recorded Ironic was set up: fake hardware, and no machine behind a BMC. */
export async function openStage({
  host = 'peers-conductor',
  seed = 1,
  api: more = {},
  earlier,
  clock = systemClock(),
  conf = {},
  share,
}: {
  host?: string
  seed?: number
  api?: Partial<IronicApiOptions>
  /** The store of an earlier conductor; its owner closes it. */
  earlier?: Store & StoreView
  clock?: Clock
  conf?: Partial<ConductorConf>
  /** Default: all nodes are this conductor's. */
  share?: WorkShare
} = {}): Promise<Stage> {
  const random = seededRandom(seed)
  const probe = new Probe()
  const logger = silent
  const store = earlier ?? openStore({ clock })
  const transport = new InProcessTransport()
  const endpoint = 'http://ironic.test:6385'
  const ironic = await openIronic({
    store,
    host,
    conf: { ...UPSTREAM_CONF, ...conf },
    bmcs: () => Promise.reject(new Error('no machine answers at this address')),
    agents: transport,
    clock,
    random,
    probe,
    logger,
    ironicUrl: () => endpoint,
    types: recordedTypes,
    ...defined({ share }),
  })
  const api = createIronicApi({ conductor: ironic.conductor, store, clock, random, logger, ...more })
  transport.register(endpoint, api)
  return {
    api,
    ironic,
    store,
    client: new IronicClient({ transport, endpoint, clock }),
    [Symbol.asyncDispose]: async () => {
      await ironic[Symbol.asyncDispose]()
      if (!earlier) await store[Symbol.asyncDispose]()
    },
  }
}
