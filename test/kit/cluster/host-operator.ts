import { runActor, type ActorParts, type Kinds } from '../../../cluster/index.js'
import { installCoreos } from '../../../lab/index.js'
import { seconds } from '../../../runtime/index.js'
import type { IronicClient } from '../../../wire/index.js'

type Host = Kinds['BareMetalHost']

/** Provisions hosts and empties them as BareMetal Operator does, for scenarios that are about other operators. */
export function runHostOperator(parts: ActorParts, client: IronicClient): AsyncDisposable {
  const { kube } = parts
  type State = NonNullable<Host['status']>['provisioning']['state']
  const inState = async (host: Host, state: State): Promise<void> => {
    const { image, customDeploy } = host.spec
    const is = state === 'provisioned' ? { ...(image ? { image } : {}), ...(customDeploy ? { customDeploy } : {}) } : {}
    const provisioning = { ID: host.status!.provisioning.ID, state, ...is }
    await kube.updateStatus<'BareMetalHost'>({ ...host, status: { ...host.status!, provisioning } })
  }

  const provision = async ({ metadata, spec }: Host, uuid: string): Promise<void> => {
    const { url, checksum } = spec.image ?? {}
    const { name = '', namespace = '' } = spec.userData ?? {}
    const secret = await kube.get('Secret', { name, namespace })
    const fields = {
      deploy_interface: spec.customDeploy ? 'custom-agent' : 'direct',
      instance_info: { image_source: url, image_os_hash_algo: 'sha256', image_os_hash_value: checksum },
    }
    await client.patchNode(
      uuid,
      Object.entries(fields).map(([field, value]) => ({
        op: 'add' as const,
        path: `/${field}`,
        value: value as never,
      })),
    )
    await client.provision(uuid, 'active', {
      ...(spec.customDeploy ? { deploy_steps: [installCoreos()] } : {}),
      configdrive: {
        meta_data: { name: metadata.name, 'local-hostname': metadata.name },
        network_data: {},
        user_data: Buffer.from(secret.data!['userData']!, 'base64').toString(),
      },
    })
  }

  return runActor(
    {
      name: 'host-operator',
      watches: [{ kind: 'BareMetalHost' }],
      reconcile: async (at) => {
        const host = await kube.find('BareMetalHost', at)
        if (!host?.status) return undefined
        const { ID, state } = host.status.provisioning
        const isWanted = host.spec.image !== undefined || host.spec.customDeploy !== undefined
        const later = { again: seconds(5) }
        if (state === 'available' && isWanted) {
          await provision(host, ID)
          await inState(host, 'provisioning')
        } else if (state === 'provisioning') {
          const { provision_state: is } = await client.node(ID)
          if (is === 'active') await inState(host, 'provisioned')
          else return later
        } else if (state === 'provisioned' && !isWanted) {
          await client.provision(ID, 'deleted')
          await inState(host, 'deprovisioning')
        } else if (state === 'deprovisioning') {
          if ((await client.node(ID)).provision_state === 'available') await inState(host, 'available')
          else return later
        }
        return undefined
      },
    },
    parts,
  )
}
