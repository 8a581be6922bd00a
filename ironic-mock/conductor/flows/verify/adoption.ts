import { isObject } from '../../../../base/runtime/index.js'
import { requestedBootMode } from '../../../drivers/deploy/agent-checks.js'
import { deployInterface } from '../../../drivers/deploy/deploy-interfaces.js'
import { adoptionProblem, imageSourceProblem } from '../../../drivers/deploy-requirements.js'
import { implementationOf } from '../../../drivers/hardware-types.js'
import { readsModes } from '../../../drivers/management.js'
import { powerProblem, describeUnsupported } from '../../../drivers/requirements.js'
import { restoreDeployInterface, switchDeployInterface } from './autodetect-interface.js'
import type { Continuations } from '../../core/continuations.js'
import type { EffectBody, EffectOutcome } from '../../core/effects.js'
import { beforeInstance } from '../../agents/boot-preparation.js'
import { prepareInstance } from '../../agents/boot-ramdisk.js'
import { storeImageType } from '../deploy/image-deployment.js'
import type { NodeTask } from '../../core/node-task.js'

/**
 * `adopt`: takes over a machine that is in use already. Image, interfaces and boot are validated, and the boot device is
 * set to the disk; the machine itself is left alone. The power is not checked (ironic
 * 39.0.0 conductor/manager.py _do_adoption).
 */
export function startAdoption(task: NodeTask): void {
  task.begin('adopt')
  const { node, situation } = task
  const image = node.instance_info.image_type ? undefined : imageSourceProblem(node.instance_info.image_source)
  if (image !== undefined) return failAdoption(task, image)
  storeImageType(task)
  const boot = adoptionProblem(node, situation.ports)
  if (boot !== undefined) return failAdoption(task, boot)
  switchDeployInterface(task)
  const problem = preparesBoot(task) ? prepareProblem(task) : undefined
  if (problem !== undefined) return failAdoption(task, problem)
  task.run(preparesBoot(task) ? prepareAdopted(task) : [{ kind: 'proceed' }], {
    flow: 'adoption',
    after: 'boot-preparation',
  })
}

function afterBootPreparation(task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok) return failAdoption(task, outcome.error)
  const { node } = task
  if (preparesBoot(task) && requestedBootMode(node) === undefined)
    task.setInfo({ deploy_boot_mode: node.boot_mode ?? 'uefi' })
  takeConsoleOver(task)
  node.conductor_affinity = 1
  task.process('done')
  task.release()
}

/** Interfaces without an agent leave the boot of an adopted node as it is. */
const preparesBoot = ({ node }: NodeTask): boolean =>
  deployInterface(node).runs === 'agent' && node.boot_interface !== 'fake'

/** Error of the management interface or the capabilities. */
function prepareProblem({ node }: NodeTask): string | undefined {
  const { capabilities = {} } = node.instance_info
  if (!isObject(typeof capabilities === 'string' ? parseStoredJson(capabilities) : capabilities))
    return `Error parsing capabilities from Node ${node.uuid} instance_info field. A dictionary or a "jsonified" dictionary is expected.`
  return powerProblem(node)
}

/**
 * `prepare_instance` of the boot interfaces: sets the recorded modes, and the disk as the boot device, which also ejects
 * all media. PXE does not set the device of a node in use; only the mode is read from its BMC.
 */
function prepareAdopted(task: NodeTask): [EffectBody, ...EffectBody[]] {
  const { node } = task
  if (!readsModes(node)) return [{ kind: 'proceed' }]
  const byBmc = implementationOf('boot', node.boot_interface)?.takesIso ?? false
  if (byBmc) return prepareInstance(task)
  const last: EffectBody = { kind: 'read-power' }
  const [first = last, ...rest] = [...beforeInstance(task), last]
  return [first, ...rest]
}

/** Starts a console that was on again; its failure does not fail the adoption. */
function takeConsoleOver(task: NodeTask): void {
  const { node } = task
  if (!node.console_enabled || !node.console_interface.startsWith('no-')) return
  task.fail(
    `Failed to start console while taking over the node ${node.uuid}: ${describeUnsupported(node, 'console')}.`,
    'takeover',
  )
  node.console_enabled = false
}

function parseStoredJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function failAdoption(task: NodeTask, problem: string): void {
  restoreDeployInterface(task)
  // A recorded power state may be wrong after a failed adoption.
  task.node.power_state = null
  task.fail(`Error while attempting to adopt node ${task.uuid}: ${problem}.`, 'adoption')
  task.process('fail')
  task.release()
}

export const adoptionContinuations: Continuations<'adoption'> = { 'boot-preparation': afterBootPreparation }
