import type { NodeRecord } from '../../../../wire/index.js'
import type { Policy } from '../../core/policy.js'
import type { NodeTask } from '../../core/node-task.js'

/** Whether a deploy interface would say that it can do what `instance_info` asks for (Ironic's source). */
const SUPPORTS: Readonly<Record<string, (instance: Readonly<NodeRecord['instance_info']>) => boolean>> = {
  // What to boot alone does not do: the instance has to say that it wants nothing on the disk.
  ramdisk: ({ boot_iso, kernel, ramdisk, ironic_ramdisk_deploy }) =>
    Boolean(ironic_ramdisk_deploy) && (Boolean(boot_iso) || (Boolean(kernel) && Boolean(ramdisk))),
  // Upstream asks the registry whether the container can boot; here there is none to ask.
  bootc: ({ image_source }) => typeof image_source === 'string' && image_source.startsWith('oci://'),
}

/** Which interface `autodetect` stands for: the first that supports the instance, else the last. */
export function detectDeployInterface(
  { instance_info }: Pick<NodeRecord, 'instance_info'>,
  { autodetectDeployInterfaces: names }: Pick<Policy, 'autodetectDeployInterfaces'>,
): { name: string; supported: boolean } {
  const found = names.find((name) => SUPPORTS[name]?.(instance_info) ?? true)
  return { name: found ?? names.at(-1) ?? 'direct', supported: found !== undefined }
}

/** Work on the node begins: `autodetect` gives way to what it stands for, and is remembered. */
export function switchDeployInterface(task: NodeTask): void {
  const { node } = task
  if (node.deploy_interface !== 'autodetect') return
  const { name, supported } = detectDeployInterface(node, task.policy)
  if (!supported && node.instance_info.image_source)
    task.warn(`no deploy interface supports the image of node ${task.uuid}; autodetect takes ${name}`)
  task.setInfo({ original_deploy_interface: node.deploy_interface })
  node.deploy_interface = name
}

/** The end of cleaning and servicing; a deployed node, or one whose deployment failed, keeps what it was deployed by. */
export function restoreDeployInterface(task: NodeTask): void {
  const original = task.info.original_deploy_interface
  if (typeof original !== 'string') return
  task.node.deploy_interface = original
  task.dropInfo('original_deploy_interface')
}
