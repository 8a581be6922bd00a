import { UserError, defined } from '../../base/runtime/index.js'
import { maskConfigLine, findingLine, type SpecConfig, validateIgnition } from '../../ignition/index.js'
import { checkOptions } from './agent-option-checks.js'
import { confFile, otherFiles } from './agent-files.js'
import { DEFAULT_AGENT_IMAGE, schemeOf, type AgentConfigOptions } from './coreos-agent-options.js'
import { AGENT_UNIT, agentUnit } from './agent-unit.js'
import { inspectionUrls, ironicUrls } from './service-urls.js'

const VERSIONS = { original: '3.0.0', today: '3.2.0' } as const

/**
 * Ignition config that makes an unmodified live CoreOS run the agent in its container, in the form of the design
 * document or of image-customization-controller.
 *
 * @throws UserError for an option that cannot be written into a unit, a script or a file name, or that is not a valid
 *   address, image or pull secret; `agent-config` for a config that Ignition would refuse
 *
 * @example
 * import { agentConfig } from 'ironstage/coreos'
 *
 * const config = agentConfig({ ironicUrls: ['http://192.0.2.1:6385'], sshKeys: ['ssh-ed25519 AAAA...'] })
 */
export function agentConfig(options: AgentConfigOptions): SpecConfig {
  const checked = checkOptions(options)
  const { template = 'today', sshKeys = [], keyfiles = [], proxies = {}, tls, inspectorUrls = [] } = checked
  const ironic = ironicUrls(checked.ironicUrls, schemeOf(tls))
  if (ironic.length === 0)
    throw new UserError('agent-url', 'the agent has no Ironic to go to', {
      kind: 'usage',
      remedy: 'give at least one URL, for example http://192.0.2.1:6385',
    })
  // The design document is older than the inspector's own URL option: its inspector runs on Ironic's host.
  const hosts = ironic.map((url) => url.replace(/^(https?:\/\/(?:\[[^\]]*\]|[^:/]+)).*$/, '$1'))
  const inspectors = inspectorUrls.length === 0 && template === 'original' ? hosts : inspectorUrls
  const inspection = inspectionUrls(inspectors, schemeOf(tls))
  const image = checked.image ?? defaultImage(checked.registry)
  const copyNetwork = checked.copyNetwork ?? keyfiles.length > 0
  const isToday = template === 'today'
  const contents = agentUnit(template, {
    image,
    proxies,
    authFile: checked.pullSecret !== undefined,
    insecureRegistry: checked.insecureRegistry ?? false,
    environment: {
      IPA_COREOS_IP_OPTIONS: checked.ipOptions ?? (isToday ? '' : undefined),
      IPA_COREOS_COPY_NETWORK: isToday || copyNetwork ? String(copyNetwork) : undefined,
      IPA_DEFAULT_HOSTNAME: checked.hostname ?? (isToday ? '' : undefined),
    },
  })
  const config: SpecConfig = {
    ignition: { version: VERSIONS[template] },
    ...defined({
      passwd: sshKeys.length === 0 ? undefined : { users: [{ name: 'core', sshAuthorizedKeys: [...sshKeys] }] },
    }),
    storage: { files: [confFile(checked, { ironic, inspection }), ...otherFiles(checked, { image, ironic })] },
    systemd: { units: [{ name: AGENT_UNIT, enabled: true, contents }] },
  }
  refuseInvalid(config)
  return config
}

const defaultImage = (registry: string | undefined): string =>
  registry === undefined ? DEFAULT_AGENT_IMAGE : `${registry.replace(/\/+$/, '')}/ironic-agent`

/** Checks the options together: finds two keyfiles of one name, or the same SSH key twice. */
function refuseInvalid(config: SpecConfig): void {
  const { valid, findings } = validateIgnition(config)
  if (valid) return
  const [first] = findings.filter(({ kind }) => kind === 'error')
  throw new UserError(
    'agent-config',
    `Ignition would refuse the config: ${first ? maskConfigLine(findingLine(first)) : 'no reason given'}`,
    {
      kind: 'usage',
      remedy:
        'see whether two keyfiles have one name, an SSH key was given twice, or a text is too long for a line of a unit',
    },
  )
}
