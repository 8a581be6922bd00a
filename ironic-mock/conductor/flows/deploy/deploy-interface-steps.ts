import { formatClientValue } from '../../../../base/wire/index.js'
import { bootModeOf } from '../../../drivers/deploy/agent-checks.js'
import { deployInterface } from '../../../drivers/deploy/deploy-interfaces.js'
import { failDeploymentAndPowerOff } from './deployment-failure.js'
import { implementationOf } from '../../../drivers/hardware-types.js'
import { rebootsByAgent } from '../../../drivers/remembered-power.js'
import { valueOf, type EffectBody, type EffectOutcome } from '../../core/effects.js'
import { fastTracked } from '../../agents/fast-track.js'
import { nameConfigDrive } from './image-deployment.js'
import { prepareInstance, startInstance, startRamdisk } from '../../agents/boot-ramdisk.js'
import { formatStepName } from '../../steps/step-name.js'
import type { NodeTask } from '../../core/node-task.js'

const OFF: EffectBody = { kind: 'power', target: 'power off' }

/** Starts a step of the deploy interface; returns true when an effect or a heartbeat has to continue it. */
export function startDeployStep(task: NodeTask, name: string): boolean {
  const step = deployInterface(task.node).steps.find((known) => known.step === name)
  if (!step) throw new Error(`${name} is no step of the deploy interface ${task.node.deploy_interface}`)
  const { action } = step
  switch (action.kind) {
    case 'boot ramdisk':
      return bootForDeployment(task)
    case 'agent step':
      nameConfigDrive(task)
      task.run([{ kind: 'agent-step', of: 'deploy', step: action.request(task.node), configdrive: true }], {
        flow: 'deployment',
        after: 'agent-step',
      })
      return true
    case 'make bootable':
      task.run([{ kind: 'agent-partitions' }], { flow: 'deployment', after: 'agent-partitions' })
      return true
    case 'boot from disk':
      bootDisk(task)
      return true
    case 'tear down agent':
      tearDownAgent(task)
      return true
    case 'switch to tenant network':
      // The noop network interface has no networks.
      return false
    case 'boot instance':
      // Without a power off the machine still runs the ramdisk.
      task.run([{ kind: 'power', target: staysOn(task) ? 'rebooting' : 'power on' }], {
        flow: 'deployment',
        after: 'instance-boot',
      })
      return true
  }
}

const staysOn = ({ node }: NodeTask): boolean => node.disable_power_off || rebootsByAgent(node)

function bootForDeployment(task: NodeTask): boolean {
  switch (deployInterface(task.node).runs) {
    case 'nothing':
      return false
    case 'live image':
      if (task.node.instance_info.configdrive !== undefined && !takesConfigDrive(task))
        task.warn(`the configdrive of node ${task.uuid} is ignored: ${task.node.boot_interface} boots without one`)
      task.run([OFF, ...startInstance(task)], {
        flow: 'deployment',
        after: 'reserved-step',
      })
      return true
    case 'agent':
      if (fastTracked(task)) {
        task.run([{ kind: 'agent-steps', of: 'deploy' }], { flow: 'deployment', after: 'fast-track' })
        return true
      }
      task.run(startRamdisk(task), {
        flow: 'deployment',
        after: 'ramdisk-boot',
      })
      return true
  }
}

const takesConfigDrive = ({ node }: NodeTask): boolean =>
  implementationOf('boot', node.boot_interface)?.virtualMedia ?? false

const bootDisk = (task: NodeTask): void => task.run(prepareInstance(task), { flow: 'deployment', after: 'boot-device' })

/** Continues with the boot loader after the image is written: only UEFI needs a boot entry. */
export function afterAgentPartitions(task: NodeTask, outcome: EffectOutcome): void {
  if (!outcome.ok) return deployInterfaceFailed(task, outcome.error)
  const found = valueOf(outcome, 'agent-partitions')
  const text = (name: string): string | null => (typeof found[name] === 'string' ? found[name] : null)
  const root = text('root uuid')
  if (root !== null) task.setInfo({ root_uuid_or_disk_id: root })
  const whole = task.info.is_whole_disk_image === true
  const bootMode = bootModeOf(task.node)
  if (whole ? bootMode !== 'uefi' : root === null) return bootDisk(task)
  const efi = !whole && bootMode === 'uefi' ? text('efi system partition uuid') : null
  task.run([{ kind: 'agent-bootloader', root, efi, bootMode }, ...prepareInstance(task)], {
    flow: 'deployment',
    after: 'boot-device',
  })
}

/** Error of the preparation of the instance's boot, if any. */
export function bootProblemOf(task: NodeTask, outcome: EffectOutcome): string | undefined {
  if (outcome.ok) return undefined
  if (outcome.kind === 'agent-bootloader')
    return `Failed to install a bootloader when deploying node ${task.uuid}: ${outcome.error}`
  return deployInterface(task.node).bootDeviceFailed(task.uuid, outcome.error)
}

/** Has the agent power the machine off, after its logs are collected where configured. */
function tearDownAgent(task: NodeTask): void {
  if (task.conf.deployLogsCollect === 'always')
    task.run([{ kind: 'agent-logs' }], { flow: 'deployment', after: 'agent-logs' })
  else switchAgentOff(task)
}

const TRUE = ['true', 't', '1', 'yes', 'y', 'on']

/** Has the agent power the machine off, or locks it down when power off is disabled. A failure of the logs is ignored. */
export function switchAgentOff(task: NodeTask): void {
  const forced = TRUE.includes(formatClientValue(task.node.driver_info.deploy_forces_oob_reboot).toLowerCase())
  // A locked-down agent would refuse the later reboot.
  if (rebootsByAgent(task.node)) task.run([{ kind: 'agent-sync' }], { flow: 'deployment', after: 'ramdisk-end' })
  else if (task.node.disable_power_off)
    task.run([{ kind: 'agent-lockdown' }], { flow: 'deployment', after: 'ramdisk-end' })
  else if (forced) task.run([{ kind: 'agent-sync' }, OFF], { flow: 'deployment', after: 'ramdisk-end' })
  else task.run([{ kind: 'agent-power-off' }], { flow: 'deployment', after: 'agent-power-off' })
}

/** Fails a step of the deploy interface, and powers the machine off. */
export function deployInterfaceFailed(task: NodeTask, error: string, options?: { logs: boolean }): void {
  failDeploymentAndPowerOff(task, `Deploy step ${formatStepName(task.node.deploy_step)} failed: ${error}`, options)
}
