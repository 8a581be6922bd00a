import type { Scheme } from './service-urls.js'

/**
 * Which form of config: `original` is the design document's (spec 3.0.0, the container pulled before it is run, settings
 * and devices mounted into it); `today` is the one that image-customization-controller writes (spec 3.2.0, a unit that
 * starts again).
 */
export type AgentTemplate = 'original' | 'today'

/** Which certificates of Ironic the agent takes, and the scheme of hosts that are named without: `off` is `http`. */
export type AgentTls = 'off' | 'on' | 'insecure'

/** What a config has to say that makes a live CoreOS run the agent. */
export interface AgentConfigOptions {
  /** Default `today`. */
  template?: AgentTemplate
  /** URLs or hosts, at least one; port 6385 unless told. */
  ironicUrls: readonly string[]
  /** Port 5050 and `/v1/continue` unless told. Without, `today` leaves the agent to inspect through Ironic's own API. */
  inspectorUrls?: readonly string[]
  /** The container's image; {@link DEFAULT_AGENT_IMAGE} unless told. */
  image?: string
  /** In place of the default image's registry: `registry.example:5000`. */
  registry?: string
  /** A registry whose certificate is not looked at, or that has none. */
  insecureRegistry?: boolean
  /** JSON of podman's auth file, plain or in base64. */
  pullSecret?: string
  /** Default: any certificate in `today`, as upstream has it; none is asked for by the URLs of `original`. */
  tls?: AgentTls
  /** Public keys that may log in as `core`. */
  sshKeys?: readonly string[]
  proxies?: { http?: string; https?: string; no?: string }
  ntpServers?: readonly string[]
  /** Contents of /etc/containers/registries.conf. */
  registriesConf?: string | Uint8Array
  /** PEM: what the live system trusts. */
  caBundle?: string | Uint8Array
  /** Default: on all interfaces, unless there are {@link keyfiles}. */
  vlanInterfaces?: 'always' | 'never' | 'auto'
  /** Kernel arguments for the installed system, `ip=dhcp6`. */
  ipOptions?: string
  /** Whether `install_coreos` copies the live system's network settings; default: if there are {@link keyfiles}. */
  copyNetwork?: boolean
  /** Where DHCP gives none. */
  hostname?: string
  /** NetworkManager keyfiles by their names. */
  keyfiles?: readonly { name: string; bytes: Uint8Array }[]
  /** More of ironic-python-agent's options, by their own names. */
  agentOptions?: Readonly<Record<string, string>>
}

/** What the design document names. */
export const DEFAULT_AGENT_IMAGE = 'quay.io/metal3-io/ironic-agent'

export const schemeOf = (tls: AgentTls | undefined): Scheme => (tls === 'on' || tls === 'insecure' ? 'https' : 'http')
