import type { NodeRecord } from '../../../base/wire/index.js'
import { AUTODETECT } from './autodetect.js'
import { BOOTC } from './bootc.js'
import { CUSTOM_AGENT } from './custom-agent.js'
import type { DeployInterface } from './deploy-interface.js'
import { DIRECT } from './direct.js'
import { RAMDISK } from './ramdisk.js'
import { FAKE_DEPLOY, NOOP_DEPLOY } from './without-work.js'

/** Deploy interfaces, one row each. Lists of hardware types have this order. */
const DEPLOY_INTERFACES: readonly DeployInterface[] = [
  CUSTOM_AGENT,
  DIRECT,
  RAMDISK,
  AUTODETECT,
  BOOTC,
  FAKE_DEPLOY,
  NOOP_DEPLOY,
]

const BY_NAME = new Map(DEPLOY_INTERFACES.map((one) => [one.name, one]))

/** Deploy interface of a node; the API accepts no others. */
export function deployInterface({ deploy_interface: name }: Pick<NodeRecord, 'deploy_interface'>): DeployInterface {
  const found = BY_NAME.get(name)
  if (!found) throw new Error(`there is no deploy interface ${name}`)
  return found
}

/** Names for a hardware type's list. */
export const deployInterfacesOf = (...supporters: DeployInterface['supportedBy'][]): string[] =>
  DEPLOY_INTERFACES.filter(({ supportedBy }) => supporters.includes(supportedBy)).map(({ name }) => name)

/** All names, the default of nodes that name none first. */
export const DEPLOY_PREFERENCE: readonly string[] = [...DEPLOY_INTERFACES]
  .sort((one, other) => one.preference - other.preference)
  .map(({ name }) => name)

/** True when an instance can be deployed by the interface; one that is not simulated refuses none. */
export const supportsInstance = (name: string, instance: Readonly<NodeRecord['instance_info']>): boolean =>
  BY_NAME.get(name)?.supports?.(instance) ?? true
