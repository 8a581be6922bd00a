import { mergeConfig } from 'vitest/config'
import base from './vitest.config.js'

/** Files that take a second or more. With a slash at its end: a folder whose tests write disks or start processes. */
export const SLOW = [
  'agent/http/listener.test.ts',
  'agent/idle-agents.test.ts',
  'bytes/compression/',
  'bytes/http/',
  'cluster/kube/http/',
  'coreos/agent/',
  'coreos/image-service/',
  'coreos/live/',
  'coreos/machine-os/',
  'coreos/metadata/config-map.test.ts',
  'coreos/metadata/stream-check.test.ts',
  'ignition/json/read-json.test.ts',
  'ignition/render.test.ts',
  'ignition/validate.test.ts',
  'ironic-mock/conductor/core/kill.test.ts',
  'ironic-mock/conductor/core/order.properties.test.ts',
  'ironic-mock/conductor/core/react.properties.test.ts',
  'ironic-mock/conductor/flows/clean/cleaning-runbook.test.ts',
  'ironic-mock/conductor/flows/deploy/deployment.test.ts',
  'ironic-mock/conductor/flows/rescue/rescue.test.ts',
  'ironic-mock/conductor/flows/service/servicing.test.ts',
  'ironic-mock/store/on-disk.test.ts',
  'lab/',
  'machine/boot/',
  'machine/differences.test.ts',
  'machine/disk/',
  'machine/os/',
  'machine/programs/',
  'machine/root/root-records.test.ts',
  'recording/comparison/comparison.test.ts',
  'recording/proxy/',
  'recording/replay/',
  'registry/access/registry.test.ts',
  'runs/downloads/',
  'runtime/clock.test.ts',
  'runtime/json.test.ts',
  'steps/images/',
  'targets/confinement/',
  'targets/disks/',
  'targets/ssh/',
  'targets/supervised/',
  'wire/strange-peers.test.ts',
]

/** The loop of an editor: quick unit tests beside the sources, within 15 s on two idle cores. They need no build. */
export default mergeConfig(base, {
  test: { exclude: ['test', ...SLOW.map((path) => (path.endsWith('/') ? `${path}**` : path))] },
})
