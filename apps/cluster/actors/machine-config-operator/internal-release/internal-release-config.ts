import { dataUrl } from '../../../../../ignition/index.js'
import { apiVersionOf, type MachineConfig, type NewObject, type Secret } from '../../../../../base/kubernetes/index.js'
import { internalRegistry } from '../../../../../base/registry/index.js'
import { ROLE, type Role } from '../machine-config-names.js'
import { OWN_SPEC } from '../rendered-config.js'
import {
  internalReleaseConfig,
  REGISTRY_CA,
  REGISTRY_CONFIG,
  REGISTRY_LOADER,
  REGISTRY_UNIT,
} from './internal-release-names.js'

/** Where a node keeps the storage of its registry. */
const REGISTRY_STORAGE = '/var/lib/iri-registry'

/** Parts of the registry of a node. */
export interface RegistryParts {
  tls: Secret
  account: Secret
  /** Certificate authority of the cluster, in PEM. */
  rootCa: string
  /** Pullspec of the container with the registry. */
  image: string
}

const configFile = (path: string, text: string, mode = 0o644) => ({
  path,
  mode,
  overwrite: true,
  contents: { source: dataUrl(text) },
})

const secretText = ({ data = {} }: Secret, key: string): string => Buffer.from(data[key] ?? '', 'base64').toString()

/**
 * The MachineConfig of a role with the node's registry, which the control plane alone has; without parts the registry is
 * switched off. Paths and unit of machine-config-operator 7ff337a pkg/controller/internalreleaseimage/templates; contents
 * are shortened to what is used here.
 */
export function registryConfig(
  role: Role,
  parts: RegistryParts | undefined,
): NewObject<MachineConfig> & { kind: 'MachineConfig' } {
  const units = role === 'master' ? [{ name: REGISTRY_UNIT, enabled: true, contents: registryUnit(parts) }] : []
  return {
    apiVersion: apiVersionOf('MachineConfig'),
    kind: 'MachineConfig',
    metadata: { name: internalReleaseConfig(role), labels: { [ROLE]: role } },
    spec: {
      config: {
        ignition: { version: OWN_SPEC },
        storage: { files: parts ? registryFiles(role, parts) : [] },
        systemd: { units },
      },
    },
  }
}

function registryFiles(role: Role, { tls, account, rootCa, image }: RegistryParts) {
  const trusted = configFile(REGISTRY_CA, rootCa)
  if (role !== 'master') return [trusted]
  return [
    configFile(`${REGISTRY_CONFIG}/auth/htpasswd`, secretText(account, 'htpasswd'), 0o600),
    configFile(`${REGISTRY_CONFIG}/certs/tls.crt`, secretText(tls, 'tls.crt')),
    configFile(`${REGISTRY_CONFIG}/certs/tls.key`, secretText(tls, 'tls.key'), 0o600),
    configFile(
      REGISTRY_LOADER,
      `#!/bin/sh\nexec podman pull dir:${REGISTRY_STORAGE}/images/registry # ${image}\n`,
      0o755,
    ),
    trusted,
  ]
}

const REGISTRY_RUNS = 'ExecStart=podman run'

/** True for a unit that starts the registry. */
export const startsRegistry = (unit: string): boolean => unit.includes(REGISTRY_RUNS)

function registryUnit(parts: RegistryParts | undefined): string {
  if (!parts)
    return '[Unit]\nDescription=InternalReleaseImage Registry (disabled)\n\n[Service]\nType=oneshot\nExecStart=/bin/true\n'
  const [, port] = internalRegistry('cluster').split(':')
  return `[Unit]
Description=InternalReleaseImage Registry
ConditionPathIsDirectory=${REGISTRY_STORAGE}

[Service]
ExecStartPre=${REGISTRY_LOADER}
${REGISTRY_RUNS} --net host --name=iri-registry -v ${REGISTRY_STORAGE}:/var/lib/registry:ro,Z -v ${REGISTRY_CONFIG}/certs:/certs:ro -e REGISTRY_HTTP_ADDR=0.0.0.0:${port} ${parts.image}
Restart=on-failure

[Install]
WantedBy=multi-user.target
`
}
