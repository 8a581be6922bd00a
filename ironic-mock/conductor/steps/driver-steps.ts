import type { NodeRecord, StepKind } from '../../../base/wire/index.js'
import type { DeployInterfaceStep } from '../../drivers/deploy/deploy-interface.js'
import { deployInterface } from '../../drivers/deploy/deploy-interfaces.js'
import { interfaceSteps } from './driver-step-table.js'
import type { OutOfBandStep } from './out-of-band-step.js'

const deployStep = ({ step, priority }: DeployInterfaceStep): OutOfBandStep => ({
  step,
  priority,
  abortable: true,
  argsinfo: null,
  interface: 'deploy',
})

/** True when the node's deploy interface uses a ramdisk: the agent's, or the instance's own. */
export const usesAgent = (node: Pick<NodeRecord, 'deploy_interface'>): boolean =>
  deployInterface(node).runs !== 'nothing'

export function outOfBandSteps(node: Readonly<NodeRecord>, kind: StepKind): readonly OutOfBandStep[] {
  const others = interfaceSteps(node, kind)
  return kind === 'deploy' ? [...deployInterface(node).steps.map(deployStep), ...others] : others
}

export const isOutOfBand = (
  node: Readonly<NodeRecord>,
  kind: StepKind,
  step: { interface: unknown; step: unknown },
): boolean => outOfBandSteps(node, kind).some((known) => known.interface === step.interface && known.step === step.step)
