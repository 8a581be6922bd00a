import type { Store } from '../ironic-mock/index.js'
import type { Machines, MachineSpec } from '../machine/index.js'
import { UserError, defined } from '../base/runtime/index.js'
import type { IronicClient } from '../base/wire/index.js'
import type { BmcAccount } from './bmcs/bmc-accounts.js'

export interface EnrollParts {
  client: IronicClient
  machines: Machines
  store: Store
  /** Account of the BMC at this address, if it has one. */
  account: (address: string) => BmcAccount | undefined
  /** Gives a BMC its account. */
  setAccount: (address: string, account: BmcAccount) => void
}

/** Account for a BMC without one; its node has it too. */
const FIRST_ACCOUNT: BmcAccount = { username: 'admin', password: 'password' }

/** Registers a machine as a node, as BareMetal Operator registers a Redfish host with customDeploy. */
export async function enroll(
  { client, machines, store, account, setAccount }: EnrollParts,
  spec: MachineSpec,
  fields: Record<string, unknown> = {},
): Promise<string> {
  if (!spec.bmc) throw new UserError('no-bmc', `the machine ${spec.id} has no BMC, so Ironic cannot switch it on`)
  if (!machines.get(spec.id)) await machines.create(spec)
  const name = (fields['name'] as string | undefined) ?? spec.id
  const { username, password } = { ...FIRST_ACCOUNT, ...account(spec.bmc.address), ...ownAccount(spec.bmc) }
  const known = (await store.node(name))?.node
  const node =
    known ??
    (await client.createNode({
      name,
      driver: 'redfish',
      driver_info: {
        redfish_address: `http://${spec.bmc.address}`,
        redfish_system_id: `/redfish/v1/Systems/${spec.bmc.systemId}`,
        redfish_username: username,
        redfish_password: password,
      },
      properties: { capabilities: `boot_mode:${spec.firmware}`, cpu_arch: spec.architecture },
      deploy_interface: 'custom-agent',
      inspect_interface: 'agent',
      ...fields,
    }))
  // The BMC knows it before the first call, so that a node with another password is refused from the beginning.
  const isUnknown = account(spec.bmc.address) === undefined && spec.bmc.password === undefined
  if (!known && isUnknown && fields['driver_info'] === undefined) setAccount(spec.bmc.address, { username, password })
  const registered = new Set((await client.ports(node.uuid)).map((port) => port.address))
  for (const { mac, pxe } of spec.nics)
    if (pxe && !registered.has(mac)) await client.createPort({ node_uuid: node.uuid, address: mac, pxe_enabled: true })
  return node.uuid
}

const ownAccount = ({ username, password }: Partial<BmcAccount>): Partial<BmcAccount> => defined({ username, password })
