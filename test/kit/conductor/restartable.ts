import { Probe, VirtualClock, seededRandom, silent } from '../../../base/runtime/index.js'
import { InProcessTransport, type NodeRecord, type ProvisionState } from '../../../base/wire/index.js'
import { UPSTREAM_CONF, openIronic, openStore } from '../../../ironic-mock/index.js'

/** Where Ironic's start leaves a node (Ironic's source). */
export const STATES_OF_RESTART: [ProvisionState, ProvisionState][] = [
  ['deploying', 'deploy failed'],
  ['cleaning', 'clean failed'],
  ['verifying', 'enroll'],
  ['inspecting', 'inspect failed'],
  ['adopting', 'adopt failed'],
  ['rescuing', 'rescue failed'],
  ['unrescuing', 'unrescue failed'],
  ['deleting', 'error'],
  ['servicing', 'service failed'],
  ['deploy hold', 'deploy hold'],
  ['clean hold', 'clean hold'],
  ['service hold', 'service hold'],
  ['manageable', 'manageable'],
  ['active', 'active'],
]

/** A node as a dead conductor left it, and as the next one makes of it. */
export async function restartable(
  patch: Partial<NodeRecord>,
  { effect = false, deadline = false }: { effect?: boolean; deadline?: boolean },
) {
  const clock = new VirtualClock()
  const store = openStore({ clock })
  const options = {
    store,
    host: 'lab',
    conf: { ...UPSTREAM_CONF, powerSyncInterval: 0 },
    bmcs: () => Promise.reject(new Error('no machine')),
    agents: new InProcessTransport(),
    clock,
    random: seededRandom(1),
    probe: new Probe(),
    logger: silent,
    ironicUrl: () => 'http://ironic.test',
  }
  const first = await openIronic(options)
  const { uuid } = await first.conductor.createNode({ driver: 'fake-hardware' })
  await first[Symbol.asyncDispose]()
  const job = {
    effect: { kind: 'power', target: 'power on' },
    rest: [],
    then: { flow: 'power', after: 'power-change' },
    memo: {},
  }
  await store.commit({
    node: uuid,
    expect: 1,
    patch,
    effects: effect ? [{ kind: 'power', payload: job }] : [],
    deadlines: deadline ? [{ kind: 'deploy callback', at: clock.now() + 1000 }] : [],
  })
  await openIronic(options)
  const found = (await store.node(uuid))!.node
  return { found, deadlines: await store.deadlines(), effects: await store.effects() }
}
