import { UserError, defined } from '../../../base/runtime/index.js'
import type { ApiNode, Inventory, JsonObject, ProvisionState } from '../../../base/wire/index.js'
import { withBootNonce } from '../../runs/index.js'
import { diskAtPlace, refuseChanged, refuseUnexpected } from '../live/check-host.js'
import { hostStepsOf, verifiesBoot } from '../live/run-steps.js'
import type { HostContext } from '../pipeline/context.js'
import type { HostRunState } from '../pipeline/run-state.js'
import { retryIronic, waitForStates } from './retry-ironic.js'
import { diskIn, disksFor } from './node-disks.js'
import { RUN_MARK, nodeFieldsOf, nodeNameOf } from './host-node.js'

/** States in which a node that a run has registered is taken back, by a verb that writes no disk. */
const UNDONE: Partial<Record<ProvisionState, 'manage' | 'deleted'>> = {
  enroll: 'manage',
  available: 'manage',
  'clean failed': 'manage',
  'inspect failed': 'manage',
  active: 'deleted',
  'deploy failed': 'deleted',
  error: 'deleted',
}

/**
 * Registers the host as a node whose BMC the Ironic has reached, or takes the node of an earlier run. It is not cleaned
 * before all hosts were looked at.
 *
 * @throws UserError `ironic-node` for a node of another origin
 */
export async function register(context: HostContext, signal: AbortSignal): Promise<'done'> {
  const { host, state, access, ironic } = context
  const { client } = ironic!
  const ask = <T>(question: () => Promise<T>) => retryIronic(context, 'register', signal, question)
  const fields = nodeFieldsOf(host, await access.bmcAccount(host, signal))
  const name = nodeNameOf(host)
  const known = (await ask(() => client.nodes({ detail: true }))).find((node) => node.name === name)
  if (known && known.extra[RUN_MARK] === undefined)
    throw new UserError('ironic-node', `the Ironic at ${ironic!.url} has a node ${name} that no run has registered`, {
      remedy: `it was not touched; set another name with ironic: {node: NAME}, or delete the node`,
    })
  const extra = { [RUN_MARK]: context.runId }
  const node = known ?? (await ask(() => client.createNode({ ...fields, name, extra, automated_clean: false })))
  state.ironic = { node: node.uuid, asked: null }
  await context.save()
  if (known) await ask(() => renewed(context, known, { ...fields, extra, automated_clean: false }))
  const registered = new Set((await ask(() => client.ports(node.uuid))).map(({ address }) => address.toLowerCase()))
  for (const mac of host.macs ?? [])
    if (!registered.has(mac.toLowerCase())) await ask(() => client.createPort({ node_uuid: node.uuid, address: mac }))
  for (;;) {
    const { provision_state: now, maintenance } = await ask(() => client.node(node.uuid))
    // A failed cleaning leaves it so.
    if (maintenance) await ask(() => client.setMaintenance(node.uuid, false))
    if (now === 'manageable') return 'done'
    const verb = UNDONE[now]
    if (verb) {
      await ask(() => client.provision(node.uuid, verb))
      await waitForStates(context, 'register', verb === 'manage' ? ['manageable'] : ['available'], signal)
    } else await waitForStates(context, 'register', ['manageable', 'available', 'active', 'enroll'], signal)
  }
}

/** Fields of a node of an earlier run, as the file has them now. */
async function renewed({ ironic }: HostContext, node: ApiNode, fields: JsonObject): Promise<void> {
  const patch = Object.entries(fields)
    // Ironic shows a password as asterisks, so the two cannot be compared.
    .filter(
      ([key, value]) => key === 'driver_info' || JSON.stringify(node[key as keyof ApiNode]) !== JSON.stringify(value),
    )
    .map(([key, value]) => ({ op: 'replace' as const, path: `/${key}`, value }))
  await ironic!.client.patchNode(node.uuid, patch)
}

/**
 * Has the agent look at the machine: that it has the disk and the hardware of the file, and is the one of the run before.
 *
 * @throws UserError `ironic-failed`, `no-disk`, `hardware-unexpected`, `hardware-changed`
 */
export async function inspectHardware(context: HostContext, signal: AbortSignal): Promise<'done'> {
  const { host, state, ironic } = context
  const { client } = ironic!
  const { node } = state.ironic!
  const ask = <T>(question: () => Promise<T>) => retryIronic(context, 'inspect', signal, question)
  const ready: ProvisionState[] = ['manageable', 'inspect failed']
  if (ready.includes((await ask(() => client.node(node))).provision_state))
    await ask(() => client.provision(node, 'inspect'))
  await waitForStates(context, 'inspect', ['manageable'], signal)
  const inventory = (await ask(() => client.inventory(node))).inventory as unknown as Inventory
  const disk = diskIn(inventory.disks, host)
  Object.assign(state.facts, {
    systemSerial: inventory.system_vendor?.serial_number || null,
    product:
      [inventory.system_vendor?.manufacturer, inventory.system_vendor?.product_name].filter(Boolean).join(' ') || null,
    diskPath: disk.name,
    diskModel: disk.model,
    diskSerial: disk.serial,
    diskWwn: disk.wwn,
    diskSize: disk.size,
    diskAtPlace: diskAtPlace(host, disk),
    contents: null,
  } satisfies Partial<HostRunState['facts']>)
  await refuseUnexpected(host, state.facts, () => Promise.resolve(inventory))
  await refuseChanged(context)
  const { root, skip } = disksFor(inventory.disks, disk)
  const properties = {
    ...(await ask(() => client.node(node))).properties,
    root_device: root,
    skip_block_devices: skip ?? [],
  }
  await ask(() =>
    client.patchNode(node, [
      { op: 'replace', path: '/properties', value: properties },
      // Without names that last for the other disks, cleaning could erase them.
      { op: 'replace', path: '/automated_clean', value: skip !== null },
    ]),
  )
  return 'done'
}

/** Has the Ironic clean the one disk that the file names. */
export async function cleanHost(context: HostContext, signal: AbortSignal): Promise<'done' | 'skipped'> {
  const { automated_clean: cleans } = await retryIronic(context, 'clean', signal, () =>
    context.ironic!.client.node(context.state.ironic!.node),
  )
  await asked(context, { stage: 'clean', verb: 'provide', from: 'manageable', to: 'available', signal })
  return cleans === false ? 'skipped' : 'done'
}

/** Has the Ironic install the host by its steps, `install_coreos` by default. */
export async function deployHost(context: HostContext, signal: AbortSignal): Promise<'done'> {
  const { host, state, access, random, ironic } = context
  const config = await access.ignition(host, signal)
  if (state.nonce === null && verifiesBoot(host)) {
    state.nonce = withBootNonce(config, random).nonce
    await context.save()
  }
  const ignition = state.nonce === null ? config : withBootNonce(config, random, state.nonce.secret).config
  const { image, 'image-sha256': sha256, hostname = host.name, 'append-kargs': append = [] } = host
  if (image !== undefined && state.ironic!.asked !== 'active') {
    const digest = sha256 === undefined ? {} : { image_os_hash_algo: 'sha256', image_os_hash_value: sha256 }
    const value = { image_source: image, ...digest }
    await retryIronic(context, 'deploy', signal, () =>
      ironic!.client.patchNode(state.ironic!.node, [{ op: 'replace', path: '/instance_info', value }]),
    )
  }
  await asked(context, {
    stage: 'deploy',
    verb: 'active',
    from: 'available',
    to: 'active',
    signal,
    more: {
      // BareMetal Operator sends the same: the config as user data, the rest as meta data, a step of priority 80.
      configdrive: {
        user_data: JSON.stringify(ignition),
        meta_data: {
          name: hostname,
          'local-hostname': hostname,
          ...defined({ coreos_append_karg: append.length > 0 ? append : undefined }),
        },
      },
      deploy_steps: hostStepsOf(host).map(({ step, args }, index) => ({
        interface: 'deploy',
        step,
        priority: 80 - index,
        args: { ...args, ...(step === 'install_coreos' ? deletedKargs(host) : {}) } as JsonObject,
      })),
    },
  })
  return 'done'
}

/** Only the step's argument can remove kernel arguments: metadata has no key for it. */
const deletedKargs = ({ 'delete-kargs': deleted = [] }: HostContext['host']): JsonObject =>
  deleted.length === 0 ? {} : { delete_karg: deleted }

interface StageRequest {
  stage: 'clean' | 'deploy'
  verb: 'provide' | 'active'
  /** State in which the Ironic has not yet begun. */
  from: ProvisionState
  to: ProvisionState
  more?: Parameters<NonNullable<HostContext['ironic']>['client']['provision']>[2]
  signal: AbortSignal
}

/**
 * Sends a verb that writes a disk, and waits for its end. It is noted before it is sent: a process that goes on sends it
 * again only where the node is still in the state in which the Ironic has begun nothing.
 */
async function asked(context: HostContext, { stage, verb, from, to, more, signal }: StageRequest): Promise<void> {
  const { state, ironic } = context
  const { node } = state.ironic!
  const isOwn = state.ironic!.asked === verb
  state.ironic!.asked = verb
  await context.save()
  await retryIronic(context, stage, signal, async () => {
    const { client } = ironic!
    const { provision_state: now } = await client.node(node)
    // The failure of an attempt that was seen is tried again; one that an earlier process has not seen is the outcome.
    const again = now === `${stage} failed` && !isOwn
    if (again && stage === 'clean') {
      await client.setMaintenance(node, false)
      await client.provision(node, 'manage')
      await waitForStates(context, stage, ['manageable'], signal)
    }
    if (now === from || again) await client.provision(node, verb, more)
  })
  try {
    await waitForStates(context, stage, [to], signal)
  } catch (error) {
    if (!signal.aborted) {
      state.ironic!.asked = null
      await context.save()
    }
    throw error
  }
}
