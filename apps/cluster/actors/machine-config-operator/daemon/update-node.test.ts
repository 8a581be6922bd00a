import { expect, test } from 'vitest'
import { RootTree, type Machine } from '../../../../../machine/index.js'
import { newFile } from '../../../../../machine/root/root-tree.js'
import { clusterScene } from '../../../../../test/kit/cluster/cluster-scene.js'
import { VALIDATES_AFTER_REBOOT } from '../machine-config-behaviours.js'
import { CURRENT_CONFIG, DESIRED_CONFIG, ON_DISK_CONFIG, REASON, STATE } from '../machine-config-names.js'
import { updateNode } from './update-node.js'

/** A machine that has come back in an image, with a configuration applied on its disk. */
function machineWith(image: string, config: object): Machine {
  const tree = new RootTree()
  tree.mkdirs('/etc/machine-config-daemon')
  tree.put(ON_DISK_CONFIG, newFile(Buffer.from(JSON.stringify(config))))
  const machine = { rootFiles: () => tree, os: () => ({ booted: { image } }), running: { log: () => {} } }
  return machine as unknown as Machine
}

const OLD = 'rendered-worker-old'
const NEW = 'rendered-worker-new'
const config = (name: string, osImageURL: string) => ({
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'MachineConfig',
  metadata: { name },
  spec: { osImageURL },
})

test.each([
  [[], 'Degraded', OLD],
  [[VALIDATES_AFTER_REBOOT.name], 'Done', NEW],
])(
  'a node that comes back in its old system is not counted as updated; without %j it is',
  async (without, state, is) => {
    const { kube, parts } = clusterScene({ all: [VALIDATES_AFTER_REBOOT], without })
    const annotations = { [CURRENT_CONFIG]: OLD, [DESIRED_CONFIG]: NEW, [STATE]: 'Working' }
    await kube.create<'Node'>({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'host-0', annotations } })
    const machine = machineWith('quay.io/node@sha256:old', config(NEW, 'quay.io/node@sha256:new'))
    await updateNode({ ...parts, machine, node: 'host-0' }, new AbortController().signal)
    const { metadata } = await kube.get('Node', { name: 'host-0' })
    expect(metadata.annotations).toMatchObject({ [STATE]: state, [CURRENT_CONFIG]: is })
    expect(metadata.annotations![REASON]).toBe(
      state === 'Done'
        ? ''
        : `unexpected on-disk state validating against ${NEW}: expected target osImageURL "quay.io/node@sha256:new", have "quay.io/node@sha256:old"`,
    )
  },
)
