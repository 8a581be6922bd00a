import { formatClientValue, type NodeRecord } from '../../../../base/wire/index.js'
import type { BootSource } from '../../../drivers/bmc.js'
import { implementationOf } from '../../../drivers/hardware-types.js'
import type { DeployImages } from './deploy-image-urls.js'
import type { ConductorConf } from '../../core/conductor-conf.js'
import type { NodeTask } from '../../core/node-task.js'

/** True when the boot interface boots an ISO; others boot a kernel and its initramfs over the network. */
export const bootsIso = ({ boot_interface }: Pick<NodeRecord, 'boot_interface'>): boolean =>
  implementationOf('boot', boot_interface)?.takesIso ?? false

/**
 * Images of a node's ramdisk: from its driver_info, else from the image service, else from the configuration. Undefined
 * without any, or when machines do not fetch images.
 */
export function deployImages({ node, conf, situation }: NodeTask): DeployImages | undefined {
  if (!conf.fetchBootImages) return undefined
  const rescuing = node.provision_state.includes('rescu')
  return (
    (rescuing ? ownImages(node, 'rescue') : undefined) ??
    ownImages(node, 'deploy') ??
    situation.servedImages?.(node) ??
    configuredImages(node, conf)
  )
}

function ownImages(node: Readonly<NodeRecord>, mode: 'deploy' | 'rescue'): DeployImages | undefined {
  const { [`${mode}_iso`]: iso, [`${mode}_kernel`]: kernel, [`${mode}_ramdisk`]: ramdisk } = node.driver_info
  if (iso && bootsIso(node)) return { iso: formatClientValue(iso) }
  if (kernel && ramdisk) return { kernel: formatClientValue(kernel), ramdisk: formatClientValue(ramdisk) }
  return undefined
}

function configuredImages(node: Readonly<NodeRecord>, conf: ConductorConf): DeployImages | undefined {
  const architecture = formatClientValue(node.properties.cpu_arch ?? '')
  if (conf.deployIso !== '' && bootsIso(node)) return { iso: conf.deployIso }
  const kernel = conf.deployKernelByArch[architecture] ?? conf.deployKernel
  const ramdisk = conf.deployRamdiskByArch[architecture] ?? conf.deployRamdisk
  return kernel && ramdisk ? { kernel, ramdisk } : undefined
}

/**
 * Boot source and kernel parameters of a ramdisk. A deploy ISO is used unchanged, without parameters and token. A kernel
 * and its ramdisk get the parameters on the command line. Virtual media also gets the agent's token, since its ISO does
 * not cross the provisioning network in clear (ironic drivers/modules/redfish/boot.py prepare_ramdisk).
 */
export function ramdiskSource(task: NodeTask, parameters: Record<string, string>): BootSource {
  const images = deployImages(task)
  if (!images) return { kind: 'ramdisk', parameters }
  if ('iso' in images) return { kind: 'iso', url: images.iso }
  const { node, conf, situation } = task
  const media = implementationOf('boot', node.boot_interface)?.virtualMedia ?? false
  const all = { ...parameters }
  if (media) {
    const token = situation.newToken?.()
    if (token !== undefined) {
      task.setInfo({ agent_secret_token: token, agent_secret_token_pregenerated: true })
      all['ipa-agent-token'] = token
    }
    all['boot_method'] = 'vmedia'
  }
  const words = [
    appendParameters(node, media ? conf.redfishKernelAppendParams : conf.pxeKernelAppendParams),
    images.append ?? '',
    ...Object.entries(all).map(([name, value]) => `${name}=${value}`),
  ]
  const { kernel, ramdisk } = images
  return { kind: 'pxe', kernel, ramdisk, append: words.filter((word) => word !== '').join(' ') }
}

/** A node's kernel parameters, in which `%default%` stands for the configured ones; without, the configured ones. */
function appendParameters({ instance_info, driver_info }: Readonly<NodeRecord>, configured: string): string {
  for (const info of [instance_info, driver_info])
    for (const name of ['kernel_append_params', 'pxe_append_params'])
      if (typeof info[name] === 'string') return info[name].replaceAll('%default%', () => configured)
  return configured
}
