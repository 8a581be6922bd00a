import { schemaCheck } from '../../../base/schemas/index.js'
import { readYaml, type KubeClient } from '../../../base/kubernetes/index.js'

/** The installer's own file, as the cluster keeps it without its pull secret. */
export const INSTALL_CONFIG = { name: 'cluster-config-v1', namespace: 'kube-system' } as const

/** As much of install-config.yaml as operators read here: of the real ones some read the objects that are made of it. */
export interface InstallConfig {
  sshKey?: string
  proxy?: { httpProxy?: string; httpsProxy?: string; noProxy?: string }
  networking?: { serviceNetwork?: string[] }
}

const TEXT = { type: 'string' }
const INSTALL_CONFIG_SCHEMA = {
  type: 'object',
  properties: {
    sshKey: TEXT,
    proxy: { type: 'object', properties: { httpProxy: TEXT, httpsProxy: TEXT, noProxy: TEXT } },
    networking: { type: 'object', properties: { serviceNetwork: { type: 'array', items: TEXT } } },
  },
}

/** The settings of the installation; none where they cannot be read, which the real operator only logs (readSSHKey). */
export async function installConfig(kube: KubeClient): Promise<InstallConfig> {
  const found = await kube.find('ConfigMap', INSTALL_CONFIG)
  try {
    const value = readYaml(found?.data?.['install-config'] ?? '{}', INSTALL_CONFIG.name)
    return schemaCheck<InstallConfig>(INSTALL_CONFIG_SCHEMA).accepts(value) ? value : {}
  } catch {
    return {}
  }
}
