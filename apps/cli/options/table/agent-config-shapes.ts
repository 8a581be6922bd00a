import { FLAG, OPTION_TEXT_SCHEMA, OPTION_TEXTS_SCHEMA, type CommandOptionShape } from './option-shape.js'

/** Options of `ironstage ignition agent-config`; those of ICC's environment have its variable's name in brackets. */
export const AGENT_CONFIG_SHAPES = {
  template: {
    value: 'today|original',
    description: 'config template: today (retries the pull) or original (pulls once) (default: today)',
    schema: { type: 'string', enum: ['today', 'original'] },
  },
  'base-url': {
    value: 'URL,...',
    description: 'Ironic as seen from the machines: URLs or hosts; default port 6385 [IRONIC_BASE_URL]',
    schema: OPTION_TEXT_SCHEMA,
  },
  'inspector-url': {
    value: 'URL,...',
    description:
      'where inspection data goes: an inspector (default port 5050), or .../v1/continue_inspection of Ironic ' +
      '(default with template today: the URL of Ironic; with original: an inspector on the same host) [IRONIC_INSPECTOR_BASE_URL]',
    schema: OPTION_TEXT_SCHEMA,
  },
  'agent-image': {
    value: 'IMAGE',
    description: 'container image of the agent (default: quay.io/metal3-io/ironic-agent) [IRONIC_AGENT_IMAGE]',
    schema: OPTION_TEXT_SCHEMA,
  },
  'agent-registry': {
    value: 'REGISTRY',
    description: 'registry and namespace of the default image (default: quay.io/metal3-io)',
    schema: OPTION_TEXT_SCHEMA,
  },
  'insecure-registry': { description: "do not verify the registry's certificate", schema: FLAG },
  'pull-secret': {
    value: 'FILE',
    description: 'auth file for the registry, JSON, plain or in base64 [IRONIC_AGENT_PULL_SECRET, its contents]',
    schema: OPTION_TEXT_SCHEMA,
  },
  'agent-tls': {
    value: 'off|on|insecure',
    description:
      "how the agent verifies Ironic's certificate: on (against --ca-bundle too), insecure (not at all) or off; a URL without " +
      'a scheme uses https with on and insecure, else http (default with template today: not at all; original: by the URL)',
    schema: { type: 'string', enum: ['off', 'on', 'insecure'] },
  },
  'ssh-key': {
    value: 'FILE',
    description: 'file with public keys for user core [IRONIC_RAMDISK_SSH_KEY: the key itself]',
    schema: OPTION_TEXT_SCHEMA,
  },
  'http-proxy': { value: 'URL', description: 'proxy for HTTP [HTTP_PROXY]', schema: OPTION_TEXT_SCHEMA },
  'https-proxy': { value: 'URL', description: 'proxy for HTTPS [HTTPS_PROXY]', schema: OPTION_TEXT_SCHEMA },
  noproxy: { value: 'HOST,...', description: 'hosts to reach without a proxy [NO_PROXY]', schema: OPTION_TEXT_SCHEMA },
  ntp: {
    value: 'HOST,...',
    description: "time servers, besides the image's own [ADDITIONAL_NTP_SERVERS]",
    schema: OPTION_TEXT_SCHEMA,
  },
  'registries-conf': {
    value: 'FILE',
    description: 'registries.conf for the live system, for example with mirrors [REGISTRIES_CONF_PATH]',
    schema: OPTION_TEXT_SCHEMA,
  },
  'ca-bundle': {
    value: 'FILE',
    description: 'certificate authorities that the live system trusts, PEM [CA_BUNDLE]',
    schema: OPTION_TEXT_SCHEMA,
  },
  'vlan-interfaces': {
    value: 'always|never|auto',
    description: 'VLANs for inspection: auto is on unless --keyfile is given [IRONIC_AGENT_VLAN_INTERFACES]',
    schema: { type: 'string', enum: ['always', 'never', 'auto'] },
  },
  'ip-options': {
    value: 'ARGS',
    description: 'network settings of the installed system as kernel arguments, such as ip=dhcp6 [IP_OPTIONS]',
    schema: OPTION_TEXT_SCHEMA,
  },
  'copy-network': {
    value: 'yes|no',
    description: 'have install_coreos copy network settings (default: yes if --keyfile is given)',
    schema: { type: 'string', enum: ['yes', 'no'] },
  },
  hostname: { value: 'NAME', description: 'host name of the machine when DHCP gives none', schema: OPTION_TEXT_SCHEMA },
  keyfile: { value: 'FILE', description: 'NetworkManager keyfile; may be repeated', schema: OPTION_TEXTS_SCHEMA },
  nmstate: {
    value: 'FILE',
    description: 'nmstate file, converted to keyfiles by nmstatectl on this computer; may be repeated',
    schema: OPTION_TEXTS_SCHEMA,
  },
  'agent-option': {
    value: 'NAME=VALUE',
    example: 'ip_lookup_attempts=6',
    description: 'ironic-python-agent option, as in api_url=URL; may be repeated',
    schema: { type: 'array', items: { type: 'string', pattern: '^[a-z][a-z0-9_]*=' } },
  },
} as const satisfies Record<string, CommandOptionShape>
