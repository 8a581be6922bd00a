import { pythonRepr, formatClientValue, type NodeRecord } from '../../../base/wire/index.js'
import type { BootSource } from '../bmc.js'
import { capabilitiesProblem, pythonText } from './agent-checks.js'
import { bootPreparationFailed, DEPLOY_STEP, type DeployCandidate, type DeployInterface } from './deploy-interface.js'

/** The instance runs from an image in memory; nothing is written to the disk. */
export const RAMDISK: DeployInterface = {
  name: 'ramdisk',
  preference: 3,
  supportedBy: 'every type',
  runs: 'live image',
  steps: [DEPLOY_STEP],
  problem: (candidate) =>
    bootInterfaceProblem(candidate) ??
    candidate.bootProblem ??
    liveImageProblem(candidate.node) ??
    capabilitiesProblem(candidate.node),
  adoptionProblem,
  // Boot images alone are not enough: ironic_ramdisk_deploy says that nothing is written to the disk.
  supports: ({ boot_iso, kernel, ramdisk, ironic_ramdisk_deploy }) =>
    Boolean(ironic_ramdisk_deploy) && (Boolean(boot_iso) || (Boolean(kernel) && Boolean(ramdisk))),
  instanceSource,
  bootDeviceFailed: bootPreparationFailed,
}

function instanceSource(
  { instance_info: info }: Readonly<NodeRecord>,
  { fetchesImages }: { fetchesImages: boolean },
): BootSource {
  if (info.boot_iso && fetchesImages) return { kind: 'iso', url: formatClientValue(info.boot_iso) }
  if (info.boot_iso) return { kind: 'live', image: { iso: formatClientValue(info.boot_iso) } }
  return { kind: 'live', image: { kernel: formatClientValue(info.kernel), ramdisk: formatClientValue(info.ramdisk) } }
}

function bootInterfaceProblem({ bootsRamdisks }: DeployCandidate): string | undefined {
  if (bootsRamdisks) return undefined
  return 'Invalid configuration: The boot interface must have the `ramdisk_boot` capability. You are using an incompatible boot interface.'
}

function liveImageProblem({ instance_info: info }: Readonly<NodeRecord>): string | undefined {
  const { image_source, boot_iso } = info
  if (image_source && boot_iso)
    return "An 'image_source' and 'boot_iso' parameter may not be specified at the same time."
  if (boot_iso) return undefined
  const missing = missingImages(info)
  if (missing.length === 0) return undefined
  return `Image ${pythonText(image_source)} is missing the following properties: ${missing.join(', ')}`
}

/** Problem that a boot interface's validation finds for an instance that runs from memory. */
function adoptionProblem({ node, bootProblem }: DeployCandidate): string | undefined {
  if (node.boot_interface === 'fake') return undefined
  const { image_source, boot_iso, kernel, ramdisk } = node.instance_info
  if (boot_iso || (image_source && !kernel && !ramdisk)) return bootProblem ?? liveImageProblem(node)
  const missing = missingImages(node.instance_info)
  const incomplete = `Cannot validate image information for node ${node.uuid} because one or more parameters are missing from its instance_info and insufficient information is present to boot from a remote volume. Missing are: ${pythonRepr(missing)}`
  return bootProblem ?? (missing.length > 0 ? incomplete : undefined)
}

const missingImages = (info: Readonly<NodeRecord['instance_info']>): string[] =>
  ['kernel', 'ramdisk'].filter((name) => !info[name])
