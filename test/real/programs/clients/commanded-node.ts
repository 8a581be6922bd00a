import { setTimeout as sleep } from 'node:timers/promises'
import type { Baremetal } from './baremetal.js'
import type { ServedIronic } from './served.js'

/** A node that is only worked by commands. */
export interface CommandedNode {
  readonly name: string
  readonly uuid: string
  readonly mac: string
  show(): Promise<Record<string, unknown>>
  /** Its record, once it has come to be so; the changes are asked of Ironic itself, commands are slow. */
  until(wanted: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>>
  /** A verb that has to work, and is waited for. */
  waited(verb: string, ...more: string[]): Promise<void>
}

/** For a command's `--wait`, in seconds. */
const THREE_MINUTES = '180'
/** Milliseconds for what no command waits for. */
const COMMANDED_NODE_TIMEOUT = 30_000

let last = 0

/** Registers a machine behind a Redfish BMC of its own, with the port that it boots from. */
export async function commandedNode(
  { baremetal, ironic }: { baremetal: Baremetal; ironic: ServedIronic },
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
  const show = () => baremetal.json(`node show ${name}`)
  return {
    name,
    uuid,
    mac,
    show,
    until: async (wanted) => {
      const found = async () => {
        const record = (await ironic.stage.store.node(uuid))?.node as Record<string, unknown> | undefined
        return record && Object.entries(wanted).every(([key, value]) => record[key] === value)
      }
      for (const end = Date.now() + COMMANDED_NODE_TIMEOUT; !(await found()); await sleep(20))
        if (Date.now() > end)
          throw new Error(`${name} does not get to ${JSON.stringify(wanted)}: ${JSON.stringify(await show())}`)
      return show()
    },
    waited: async (verb, ...more) => void (await baremetal.ok(`node ${verb} ${name} --wait ${THREE_MINUTES}`, ...more)),
  }
}
