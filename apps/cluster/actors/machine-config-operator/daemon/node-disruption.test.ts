import type { DisruptionAction } from '../../../../../base/kubernetes/kinds/machine-config-kinds.js'
import { describe, expect, test } from 'vitest'
import { actionsText, clusterPolicies, disruptionOf, type ConfigChange, type PolicySource } from './node-disruption.js'

const change = (more: Partial<ConfigChange>): ConfigChange => ({
  files: [],
  units: [],
  hasOtherKeys: false,
  isOfSystem: false,
  ...more,
})
const restart = (serviceName: string): DisruptionAction => ({ type: 'Restart', restart: { serviceName } })
const OWN: PolicySource = {
  spec: {
    nodeDisruptionPolicy: {
      files: [
        { path: '/etc/depot', actions: [{ type: 'Drain' }] },
        { path: '/etc/depot/agent.conf', actions: [restart('depot.service')] },
        { path: '/var/lib/kubelet/config.json', actions: [restart('crio.service')] },
      ],
      units: [{ name: 'depot.service', actions: [{ type: 'DaemonReload' }] }],
      sshkey: { actions: [restart('sshd.service')] },
    },
  },
}

describe('by default', () => {
  test.each<[Partial<ConfigChange>, string]>([
    [{ isOfSystem: true, files: ['/etc/containers/policy.json'] }, 'reboots the node'],
    [{ files: ['/etc/chrony.conf'] }, 'reboots the node'],
    [{ units: ['a.service'] }, 'reboots the node'],
    [{ files: ['/var/lib/kubelet/config.json'] }, 'does nothing'],
    [{ hasOtherKeys: true }, 'does nothing'],
    [{}, 'does nothing'],
    [{ files: ['/etc/containers/registries.d/a.yaml'], hasOtherKeys: true }, 'reloads crio.service'],
    [{ files: ['/etc/containers/registries.dx/a.yaml'] }, 'reboots the node'],
    [
      { files: ['/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt'] },
      'restarts coreos-update-ca-trust.service, restarts crio.service',
    ],
  ])('%j %s', (what, does) => {
    expect(actionsText(disruptionOf(change(what), clusterPolicies(undefined)))).toBe(does)
  })
})

describe("by the cluster's own policies", () => {
  test.each<[Partial<ConfigChange>, string]>([
    [{ files: ['/etc/depot/other.conf'] }, 'drains the node'],
    [{ files: ['/etc/depot/agent.conf'] }, 'restarts depot.service'],
    [{ files: ['/var/lib/kubelet/config.json'] }, 'restarts crio.service'],
    [{ units: ['depot.service'], hasOtherKeys: true }, 'reloads systemd, restarts sshd.service'],
    [{ units: ['depot.service', 'b.service'] }, 'reboots the node'],
    [{ files: ['/etc/containers/policy.json'] }, 'reloads crio.service'],
  ])('%j %s', (what, does) => {
    expect(actionsText(disruptionOf(change(what), clusterPolicies(OWN)))).toBe(does)
  })
})

test('the policies that the operator has merged stand for all of them', () => {
  const files = [{ path: '/etc/chrony.conf', actions: [{ type: 'Special' as const }] }]
  const merged = { status: { nodeDisruptionPolicyStatus: { clusterPolicies: { files } } } }
  const does = (path: string) => actionsText(disruptionOf(change({ files: [path] }), clusterPolicies(merged)))
  expect(does('/etc/chrony.conf')).toMatch(/^reloads crio\.service, and drains the node unless/)
  expect(does('/etc/containers/policy.json')).toBe('reboots the node')
})
