import type { Scheme } from './service-urls.js'

/**
 * Form of the config: `original` is the design document's (spec 3.0.0, the container is pulled before it runs, settings
 * and devices are mounted into it); `today` is the one that image-customization-controller writes (spec 3.2.0, the unit
 * restarts).
 */
export type AgentTemplate = 'original' | 'today'

/** How the agent verifies Ironic's certificate, and the scheme of hosts without one: `off` is `http`. */
export type AgentTls = 'off' | 'on' | 'insecure'

/** Options of the Ignition config that makes a live CoreOS run the agent. */
export interface AgentConfigOptions {
  /** Default `today`. */
  template?: AgentTemplate
  /** URLs or hosts, at least one; default port 6385. */
  ironicUrls: readonly string[]
  /** Default port 5050 and path `/v1/continue`. Without inspectors, the agent of `today` inspects through Ironic's own API. */
  inspectorUrls?: readonly string[]
  /** The container's image; default {@link DEFAULT_AGENT_IMAGE}. */
  image?: string
  /** Replaces the default image's registry: `registry.example:5000`. */
  registry?: string
  /** The registry's certificate is not verified; plain HTTP is allowed. */
  insecureRegistry?: boolean
  /** JSON of podman's auth file, plain or in base64. */
  pullSecret?: string
  /** Default: in `today` any certificate is accepted, as upstream does; in `original` the URL's scheme decides. */
  tls?: AgentTls
  /** Public keys that may log in as `core`. */
  sshKeys?: readonly string[]
  proxies?: { http?: string; https?: string; no?: string }
  ntpServers?: readonly string[]
  /** Contents of /etc/containers/registries.conf. */
  registriesConf?: string | Uint8Array
  /** Certificates in PEM that the live system trusts. */
  caBundle?: string | Uint8Array
  /** Default: VLANs on all interfaces, unless there are {@link keyfiles}. */
  vlanInterfaces?: 'always' | 'never' | 'auto'
  /** Kernel arguments for the installed system, `ip=dhcp6`. */
  ipOptions?: string
  /** True if `install_coreos` copies the live system's network settings; default: if there are {@link keyfiles}. */
  copyNetwork?: boolean
  /** Host name where DHCP assigns none. */
  hostname?: string
  /** NetworkManager keyfiles by their names. */
  keyfiles?: readonly { name: string; bytes: Uint8Array }[]
  /** Further options of ironic-python-agent, by their own names. */
  agentOptions?: Readonly<Record<string, string>>
}

/** Image that the design document names. */
export const DEFAULT_AGENT_IMAGE = 'quay.io/metal3-io/ironic-agent'

export const schemeOf = (tls: AgentTls | undefined): Scheme => (tls === 'on' || tls === 'insecure' ? 'https' : 'http')
