import { apiVersionOf, type MachineConfig, type NewObject } from '../../../../base/kubernetes/index.js'
import { GENERATED_BY, nodeRoleLabel, ROLE, type Role } from './machine-config-names.js'
import type { RegistryAuths } from './internal-release/registry-auths.js'
import { OWN_SPEC } from './rendered-config.js'

type NewConfig = NewObject<MachineConfig> & { kind: 'MachineConfig' }

const templateFile = (path: string, text: string) => ({
  path,
  mode: 0o644,
  overwrite: true,
  contents: { source: `data:,${encodeURIComponent(text)}` },
})

/**
 * The MachineConfigs that the operator makes of its templates for a role: names and paths of
 * machine-config-operator 7ff337a templates/common and templates/worker; contents are shortened to what is used here.
 */
export function templatesOf(role: Role, releaseVersion: string, auths?: RegistryAuths): NewConfig[] {
  const config = (name: string, ignition: object): NewConfig => ({
    apiVersion: apiVersionOf('MachineConfig'),
    kind: 'MachineConfig',
    metadata: { name, labels: { [ROLE]: role }, annotations: { [GENERATED_BY]: releaseVersion } },
    spec: { config: { ignition: { version: OWN_SPEC }, ...ignition } },
  })
  return [
    config(`00-${role}`, {
      storage: {
        files: [
          templateFile('/etc/sysctl.d/inotify.conf', 'fs.inotify.max_user_watches = 65536\n'),
          ...(auths ? [templateFile(PULL_SECRETS, JSON.stringify({ auths }))] : []),
        ],
      },
    }),
    config(`01-${role}-container-runtime`, {
      storage: {
        files: [
          templateFile('/etc/crio/crio.conf.d/00-default', '[crio.runtime]\nlog_level = "info"\npids_limit = 0\n'),
        ],
      },
    }),
    config(`01-${role}-kubelet`, {
      storage: { files: [templateFile('/etc/kubernetes/kubelet.conf', kubeletConfig)] },
      systemd: { units: [{ name: 'kubelet.service', enabled: true, contents: kubeletUnit(role) }] },
    }),
  ]
}

/** Pull secrets of the kubelet; those of registries that are played without accounts are left out. */
const PULL_SECRETS = '/var/lib/kubelet/config.json'

const kubeletConfig = `kind: KubeletConfiguration
apiVersion: kubelet.config.k8s.io/v1beta1
cgroupDriver: systemd
nodeStatusUpdateFrequency: 10s
nodeStatusReportFrequency: 5m
`

const labelsOf = (role: Role): string =>
  role === 'master' ? `${nodeRoleLabel('control-plane')},${nodeRoleLabel('master')}` : nodeRoleLabel(role)

const kubeletUnit = (role: Role): string => `[Unit]
Description=Kubernetes Kubelet
Requires=crio.service
After=crio.service

[Service]
ExecStart=/usr/bin/kubelet --config=/etc/kubernetes/kubelet.conf --node-labels=${labelsOf(role)}
Restart=always

[Install]
WantedBy=multi-user.target
`
