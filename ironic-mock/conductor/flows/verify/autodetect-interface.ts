import type { NodeRecord } from '../../../../base/wire/index.js'
import { AUTODETECT } from '../../../drivers/deploy/autodetect.js'
import { BOOTC } from '../../../drivers/deploy/bootc.js'
import { supportsInstance } from '../../../drivers/deploy/deploy-interfaces.js'
import type { ConductorConf } from '../../core/conductor-conf.js'
import type { NodeTask } from '../../core/node-task.js'

/**
 * The interface that `autodetect` chooses: the first that supports the instance, else the last.
 *
 * @param imageIsBootc true for an image that its registry says to be a container that can be booted
 */
export function detectDeployInterface(
  { instance_info }: Pick<NodeRecord, 'instance_info'>,
  { autodetectDeployInterfaces: names }: Pick<ConductorConf, 'autodetectDeployInterfaces'>,
  imageIsBootc: boolean,
): { name: string; supported: boolean } {
  const found = names.find((name) => (name === BOOTC.name ? imageIsBootc : supportsInstance(name, instance_info)))
  return { name: found ?? names.at(-1) ?? 'direct', supported: found !== undefined }
}

/** True if no interface before `bootc` supports the instance, so that the registry decides. */
export const asksForBootc = (
  { deploy_interface: own, instance_info }: Pick<NodeRecord, 'deploy_interface' | 'instance_info'>,
  { autodetectDeployInterfaces: names }: Pick<ConductorConf, 'autodetectDeployInterfaces'>,
): boolean =>
  own === AUTODETECT.name &&
  names.find((name) => name === BOOTC.name || supportsInstance(name, instance_info)) === BOOTC.name

/** Replaces `autodetect` by the chosen interface at the start of a flow, and stores that it was there. */
export function switchDeployInterface(task: NodeTask): void {
  const { node } = task
  if (node.deploy_interface !== AUTODETECT.name) return
  const { name, supported } = detectDeployInterface(node, task.conf, task.situation.imageIsBootc === true)
  if (!supported && node.instance_info.image_source)
    task.warn(`no deploy interface supports the image of node ${task.uuid}; autodetect takes ${name}`)
  task.setInfo({ original_deploy_interface: node.deploy_interface })
  node.deploy_interface = name
}

/** Restores `autodetect` after cleaning and servicing; a deployment, also a failed one, keeps the chosen interface. */
export function restoreDeployInterface(task: NodeTask): void {
  const original = task.info.original_deploy_interface
  if (typeof original !== 'string') return
  task.node.deploy_interface = original
  task.dropInfo('original_deploy_interface')
}
