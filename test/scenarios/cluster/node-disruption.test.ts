import { expect, test } from 'vitest'
import { rehearse, type Scenario, type StoryLine } from '../../../apps/cluster/index.js'
import { silent } from '../../../base/runtime/index.js'

/** MachineConfigs that are applied to a running cluster: they reboot its nodes, or do less, as its policies say. */

const config = (name: string, path: string, text: string) => ({
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'MachineConfig',
  metadata: { name, labels: { 'machineconfiguration.openshift.io/role': 'worker' } },
  spec: {
    config: {
      ignition: { version: '3.4.0' },
      storage: { files: [{ path, mode: 0o644, overwrite: true, contents: { source: `data:,${text}` } }] },
    },
  },
})
const POLICY = {
  apiVersion: 'operator.openshift.io/v1',
  kind: 'MachineConfiguration',
  metadata: { name: 'cluster' },
  spec: {
    managementState: 'Managed',
    nodeDisruptionPolicy: {
      files: [
        { path: '/etc/chrony.conf', actions: [{ type: 'Reload', reload: { serviceName: 'chronyd.service' } }] },
        {
          path: '/etc/depot',
          actions: [{ type: 'Drain' }, { type: 'Restart', restart: { serviceName: 'a.service' } }],
        },
      ],
    },
  },
}

async function played(steps: Scenario['steps'], manifests: NonNullable<Scenario['manifests']>) {
  const lines: StoryLine[] = []
  const end = await rehearse(
    {
      name: 'policies',
      title: 'Policies',
      releases: { now: { version: '4.21.0', coreos: '9.6.20260112-0' } },
      cluster: { release: 'now', workers: 2 },
      manifests,
      steps,
    },
    { as: 'today', logger: silent, signal: new AbortController().signal, onLine: (line) => void lines.push(line) },
  )
  const acts = lines.flatMap((line) => (line.event === 'act' ? [line] : []))
  return { end, acts }
}
const settled = { wait: 'nodes' as const }
const rebooted = (reboots: number) => ({ expect: { reboots, of: 'workers' as const, since: 'installation' as const } })

test('a change that a policy names does no more than the policy says; any other one reboots', async () => {
  const { end, acts } = await played(
    [
      { apply: 'policy' },
      { apply: 'chrony' },
      settled,
      rebooted(0),
      { apply: 'depot' },
      settled,
      rebooted(0),
      { expect: { away: 0, of: 'workers' } },
      { apply: 'other' },
      settled,
      rebooted(1),
      { expect: { workloads: 'moved' } },
    ],
    {
      policy: [POLICY],
      chrony: [config('99-chrony', '/etc/chrony.conf', 'server')],
      depot: [config('99-depot', '/etc/depot/agent.conf', 'on')],
      other: [config('99-other', '/etc/other.conf', 'x')],
    },
  )
  expect(end.failures).toEqual([])
  const without = acts.filter(({ does }) => does.endsWith('without a reboot'))
  expect([...new Set(without.map(({ because }) => because))]).toEqual([
    'the change reloads chronyd.service',
    'the change drains the node, restarts a.service',
  ])
  expect(without).toHaveLength(4)
  const drains = acts.filter(({ does }) => does.startsWith('cordons and drains'))
  // Two for the policy that says so, two for the reboots.
  expect(drains).toHaveLength(4)
})
