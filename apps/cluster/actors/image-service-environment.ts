import { posix } from 'node:path'
import { defined } from '../../../base/runtime/index.js'
import type { InstallConfig } from './install-config.js'
import type { PodContainer } from '../../../base/kubernetes/index.js'
import { readVersion } from './cluster-version-operator/release-version.js'

/** Folder of the live images in the pods of metal3, which is one of their host. */
const SHARED_FOLDER = '/shared/html/images'
const AGENT_FILE = `${SHARED_FOLDER}/ironic-python-agent`
/** `baremetalHttpPort` (cluster-baremetal-operator 4ecb36c provisioning/baremetal_config.go). */
const HTTP_PORT = 6180

/** Settings of the image service that follow from its release and from the release's images. */
interface ServiceSettings {
  agentImage: string
  ironicUrl: string
  /** Release of the operator that makes its Deployment; undefined for that of the design documents. */
  version: string | undefined
  /** Settings of the cluster. */
  site?: ServiceSite
}

/** Settings of a cluster that its deploy images follow. */
export interface ServiceSite {
  install: InstallConfig
  /** `spec.additionalNTPServers` of the Provisioning. */
  ntpServers?: readonly string[]
}

/** First releases with a variable: branches of cluster-baremetal-operator, provisioning/image_customization.go. */
const SINCE: Readonly<Record<string, readonly [major: number, minor: number]>> = {
  ADDITIONAL_NTP_SERVERS: [4, 18],
  CA_BUNDLE: [4, 18],
  DEPLOY_KERNEL: [4, 22],
  IRONIC_ROOTFS_URL: [4, 22],
  IMAGE_SHARED_DIR: [4, 23],
}

/** Environment of image-customization-controller in a Deployment that cluster-baremetal-operator makes. */
export function imageServiceEnvironment({
  agentImage,
  ironicUrl,
  version,
  site,
}: ServiceSettings): Record<string, string> {
  const all: Record<string, string> = {
    DEPLOY_ISO: `${AGENT_FILE}.iso`,
    DEPLOY_INITRD: `${AGENT_FILE}.initramfs`,
    DEPLOY_KERNEL: `${AGENT_FILE}.kernel`,
    IMAGE_SHARED_DIR: SHARED_FOLDER,
    IRONIC_AGENT_IMAGE: agentImage,
    REGISTRIES_CONF_PATH: '/etc/containers/registries.conf',
    CA_BUNDLE: '/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt',
    ...addressVariables(ironicUrl),
    ...(site ? siteVariables(site, ironicUrl) : {}),
  }
  const [major, minor] = readVersion(version ?? '')?.numbers ?? [4, 10]
  const isKnown = ([name]: [string, string]): boolean => {
    const [since, sinceMinor] = SINCE[name] ?? [0, 0]
    return major > since || (major === since && minor >= sinceMinor)
  }
  return Object.fromEntries(Object.entries(all).filter(isKnown))
}

/**
 * Variables of the cluster's own settings (cluster-baremetal-operator 4ecb36c provisioning/image_customization.go
 * createImageCustomizationContainer, baremetal_pod.go envWithProxy).
 */
function siteVariables({ install, ntpServers = [] }: ServiceSite, ironicUrl: string): Record<string, string> {
  const { sshKey = '', proxy = {}, networking = {} } = install
  const { httpProxy, httpsProxy, noProxy = '' } = proxy
  const address = URL.canParse(ironicUrl) ? new URL(ironicUrl).hostname : ''
  const isProxied = httpProxy !== undefined || httpsProxy !== undefined
  return {
    ADDITIONAL_NTP_SERVERS: ntpServers.join(','),
    IP_OPTIONS: ipOptions(networking.serviceNetwork ?? []),
    IRONIC_RAMDISK_SSH_KEY: sshKey.trim(),
    ...defined({
      HTTP_PROXY: httpProxy,
      HTTPS_PROXY: httpsProxy,
      NO_PROXY: isProxied ? `${noProxy},${address}` : undefined,
    }),
  }
}

/** Kernel arguments of the machines' network, by the addresses of services (provisioning/provisioning_info.go IpOption). */
function ipOptions(serviceNetwork: readonly string[]): string {
  const isSix = (network: string): boolean => network.includes(':')
  const hasSix = serviceNetwork.some(isSix)
  const hasFour = serviceNetwork.length === 0 || serviceNetwork.some((network) => !isSix(network))
  const kinds = [...(hasFour ? ['dhcp'] : []), ...(hasSix ? ['dhcp6'] : [])]
  return `ip=${kinds.join(',')}`
}

/** The variables that name Ironic's address: empty while it has none. */
export const addressVariables = (ironicUrl: string): Readonly<Record<string, string>> => ({
  IRONIC_BASE_URL: ironicUrl,
  IRONIC_ROOTFS_URL: URL.canParse(ironicUrl)
    ? `http://${new URL(ironicUrl).hostname}:${HTTP_PORT}/images/${posix.basename(AGENT_FILE)}.rootfs`
    : '',
})

/** Value of a variable of a container; empty for one that it does not have. */
export const environment = ({ env = [] }: PodContainer, name: string): string =>
  env.find((one) => one.name === name)?.value ?? ''

/**
 * Path of the image service's live images below the folder that the pods of metal3 share: its own variable names them, and
 * before that the one of the ISO.
 */
export function imagesInShared(container: PodContainer): string {
  const iso = environment(container, 'DEPLOY_ISO')
  const named = environment(container, 'IMAGE_SHARED_DIR') || (iso === '' ? SHARED_FOLDER : posix.dirname(iso))
  return posix.relative(SHARED_FOLDER, named)
}
