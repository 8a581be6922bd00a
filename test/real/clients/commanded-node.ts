import type { Baremetal } from './baremetal.js'

/** A node that is only worked by commands. */
export interface CommandedNode {
  readonly name: string
  readonly uuid: string
  readonly mac: string
  show(): Promise<Record<string, unknown>>
  /** A verb that has to work, and is waited for. */
  waited(verb: string, ...more: string[]): Promise<void>
}

const THREE_MINUTES = '180'

let last = 0

/** Registers a machine behind a Redfish BMC of its own, with the port that it boots from. */
export async function commandedNode(
  baremetal: Baremetal,
  name: string,
  ...fields: readonly string[]
): Promise<CommandedNode> {
  const n = ++last
  const mac = `52:54:00:c1:00:${n.toString(16).padStart(2, '0')}`
  const info = {
    redfish_address: `https://10.1.0.${n}`,
    redfish_system_id: '/redfish/v1/Systems/1',
    redfish_username: 'admin',
    redfish_password: 'secret',
  }
  const driverInfo = Object.entries(info).flatMap(([key, value]) => ['--driver-info', `${key}=${value}`])
  const words = `node create --driver redfish --name ${name}`
  const { uuid } = await baremetal.json<{ uuid: string }>(words, ...driverInfo, ...fields)
  await baremetal.ok(`port create ${mac} --node ${uuid}`)
  return {
    ...{ name, uuid, mac },
    show: () => baremetal.json(`node show ${name}`),
    waited: async (verb, ...more) => void (await baremetal.ok(`node ${verb} ${name} --wait ${THREE_MINUTES}`, ...more)),
  }
}
