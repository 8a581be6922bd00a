import { textOf } from '../../../wire/index.js'
import { bootModeOf } from '../../drivers/deploy-requirements.js'
import { deployFailedOff } from '../flows/deploy/deployment-failure.js'
import type { CoreDeployStep } from './driver-steps.js'
import { valueOf, type EffectBody, type Outcome } from '../core/effects.js'
import { fastTracked } from '../agents/fast-track.js'
import { bootcStep, nameConfigDrive, writeImageStep } from '../flows/deploy/image-deployment.js'
import { bootRamdisk, instanceSource, startRamdisk } from '../agents/ramdisk.js'
import { stepName } from './step-name.js'
import type { Turn } from '../core/turn.js'

const OFF: EffectBody = { kind: 'power', target: 'power off' }

/** Begins a step that the deploy interface itself brings. Gives whether there is something to wait for. */
export function runCoreStep(turn: Turn, step: CoreDeployStep): boolean {
  switch (step) {
    case 'deploy':
      return runDeploy(turn)
    case 'write_image':
      nameConfigDrive(turn)
      turn.run([{ kind: 'agent-step', of: 'deploy', step: writeImageStep(turn), configdrive: true }], 'deployment.sent')
      return true
    case 'execute_bootc_install':
      nameConfigDrive(turn)
      turn.run([{ kind: 'agent-step', of: 'deploy', step: bootcStep(turn), configdrive: true }], 'deployment.sent')
      return true
    case 'prepare_instance_boot':
      if (turn.node.deploy_interface === 'direct') turn.run([{ kind: 'agent-partitions' }], 'deployment.partitions')
      else bootDisk(turn)
      return true
    case 'set_boot_to_disk':
      bootDisk(turn)
      return true
    case 'tear_down_agent':
      tearDownAgent(turn)
      return true
    case 'switch_to_tenant_network':
      // The noop network has nothing to switch.
      return false
    case 'boot_instance':
      // What may not be switched off is still in the ramdisk.
      turn.run([{ kind: 'power', target: staysOn(turn) ? 'rebooting' : 'power on' }], 'deployment.up')
      return true
  }
}

/** The power interface `agent` cannot switch a machine on, so that it is never off. */
const staysOn = ({ node }: Turn): boolean => node.disable_power_off || node.power_interface === 'agent'

function runDeploy(turn: Turn): boolean {
  switch (turn.node.deploy_interface) {
    case 'fake':
    case 'noop':
      return false
    case 'ramdisk':
      if (turn.node.instance_info.configdrive !== undefined && !takesConfigDrive(turn))
        turn.warn(`the configdrive of node ${turn.uuid} is ignored: ${turn.node.boot_interface} boots without one`)
      turn.run([OFF, { kind: 'power', target: 'power on', boot: instanceSource(turn) }], 'deployment.stepped')
      return true
    default:
      if (fastTracked(turn)) {
        turn.run([{ kind: 'agent-steps', of: 'deploy' }], 'deployment.tracked')
        return true
      }
      turn.run(turn.node.disable_power_off ? bootRamdisk(turn) : [startRamdisk(turn)], 'deployment.booted')
      return true
  }
}

const takesConfigDrive = ({ node }: Turn): boolean => node.boot_interface.endsWith('redfish-virtual-media')

const bootDisk = (turn: Turn): void => turn.run([{ kind: 'boot', source: { kind: 'disk' } }], 'deployment.boot-set')

/** The image is on the disk: a machine with UEFI is told to boot it, as one with BIOS finds it by itself. */
export function deploymentPartitions(turn: Turn, outcome: Outcome): void {
  if (!outcome.ok) return coreStepFailed(turn, outcome.error)
  const found = valueOf(outcome, 'agent-partitions')
  const text = (name: string): string | null => (typeof found[name] === 'string' ? found[name] : null)
  const root = text('root uuid')
  if (root !== null) turn.setInfo({ root_uuid_or_disk_id: root })
  const whole = turn.info.is_whole_disk_image === true
  const bootMode = bootModeOf(turn.node)
  if (whole ? bootMode !== 'uefi' : root === null) return bootDisk(turn)
  const efi = !whole && bootMode === 'uefi' ? text('efi system partition uuid') : null
  turn.run(
    [
      { kind: 'agent-bootloader', root, efi, bootMode },
      { kind: 'boot', source: { kind: 'disk' } },
    ],
    'deployment.boot-set',
  )
}

/** What went wrong before the machine was told what to boot; undefined when nothing did. */
export function bootProblemOf(turn: Turn, outcome: Outcome): string | undefined {
  if (outcome.ok) return undefined
  if (outcome.kind === 'agent-bootloader')
    return `Failed to install a bootloader when deploying node ${turn.uuid}: ${outcome.error}`
  if (turn.node.deploy_interface === 'direct')
    return `Failed to change the boot device to disk when deploying node ${turn.uuid}: ${outcome.error}`
  return `Failed to prepare instance for booting: ${outcome.error}`
}

/** An agent gets the time to switch its machine off; one that may not is locked. */
function tearDownAgent(turn: Turn): void {
  if (turn.policy.deployLogsCollect === 'always') turn.run([{ kind: 'agent-logs' }], 'deployment.collected')
  else switchAgentOff(turn)
}

const TRUE = ['true', 't', '1', 'yes', 'y', 'on']

/** Logs that could not be had are no reason to stop. */
export function switchAgentOff(turn: Turn): void {
  const forced = TRUE.includes(textOf(turn.node.driver_info.deploy_forces_oob_reboot).toLowerCase())
  // An agent that was locked could not be asked to boot its machine.
  if (turn.node.power_interface === 'agent') turn.run([{ kind: 'agent-sync' }], 'deployment.agent-off')
  else if (turn.node.disable_power_off) turn.run([{ kind: 'agent-lockdown' }], 'deployment.agent-off')
  else if (forced) turn.run([{ kind: 'agent-sync' }, OFF], 'deployment.agent-off')
  else turn.run([{ kind: 'agent-power-off' }], 'deployment.told-off')
}

/** A step of the interface that failed in a way that leaves the machine off. */
export function coreStepFailed(turn: Turn, error: string, options?: { logs: boolean }): void {
  deployFailedOff(turn, `Deploy step ${stepName(turn.node.deploy_step)} failed: ${error}`, options)
}
