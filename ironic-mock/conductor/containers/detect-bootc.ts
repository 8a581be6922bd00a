import type { HttpThrough, ProxySettings } from '../../../base/bytes/index.js'
import type { Clock, Logger } from '../../../base/runtime/index.js'
import { formatClientValue, type NodeRecord } from '../../../base/wire/index.js'
import { asksForBootc } from '../flows/verify/autodetect-interface.js'
import type { ConductorConf } from '../core/conductor-conf.js'
import { identifyImage, type ContainerRequest } from './container-image.js'
import { pullAccount } from './pull-account.js'
import { registryAccess } from './registry-access.js'

/** True if `autodetect` may take `bootc` for the image of a node: it asks the registry where that decides. */
export type DetectBootc = (node: Readonly<NodeRecord>) => Promise<boolean>

export interface BootcDetection {
  clock: Clock
  conf: ConductorConf
  logger: Logger
  proxies?: ProxySettings | undefined
  /** Sees the requests for a node. */
  through: (node: string) => HttpThrough
  signal: AbortSignal
}

/** How a node's image in a registry is chosen; undefined for an image elsewhere. */
export function containerRequest(node: Readonly<NodeRecord>): ContainerRequest | undefined {
  const { instance_info: info, driver_info: driver, properties } = node
  const { image_source: source } = info
  if (typeof source !== 'string' || !source.startsWith('oci://')) return undefined
  const { cpu_arch: architecture } = properties
  return {
    href: source,
    account: pullAccount(node),
    downloadSource: formatClientValue(info.image_download_source || driver.image_download_source || 'http'),
    architecture: typeof architecture === 'string' ? architecture : undefined,
  }
}

/** As ironic 39.0.0 agent.py BootcAgentDeploy supports_deploy: any failure is a line of the log, and no. */
export const detectBootc =
  ({ clock, conf, logger, proxies, through, signal }: BootcDetection): DetectBootc =>
  async (node) => {
    const container = asksForBootc(node, conf) ? containerRequest(node) : undefined
    if (!container) return false
    try {
      const caller = { clock, proxies, through: through(node.uuid), signal }
      const found = await identifyImage(container, await registryAccess(caller, conf))
      return found['image_disk_format'] === 'bootc'
    } catch (error) {
      signal.throwIfAborted()
      logger(
        'error',
        `Failed to detect bootc image for node ${node.uuid}: ${error instanceof Error ? error.message : String(error)}`,
        { node: node.uuid },
      )
      return false
    }
  }
