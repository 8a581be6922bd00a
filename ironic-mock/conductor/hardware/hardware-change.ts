import { IronicError, ironicErrors, pythonRepr } from '../../../base/wire/index.js'
import type { BmcChange } from '../../drivers/bmc-hardware.js'
import type { ManagementCall } from '../../drivers/hardware-type.js'
import { managementProblem } from '../../drivers/management.js'
import { powerProblem } from '../../drivers/requirements.js'
import type { FlowMemos } from '../core/continuation.js'
import type { Continuations } from '../core/continuations.js'
import type { EffectBody, EffectOutcome } from '../core/effects.js'
import type { NodeTask } from '../core/node-task.js'
import type { HardwareRequest } from './hardware-request.js'

/**
 * Starts a change. A change that the interface does not support also fails in the background, as upstream.
 *
 * @throws IronicError 409 while the node is reserved; 400 when BMC fields are missing in driver_info; 503 after a power
 *   failure
 */
export function startHardwareChange(task: NodeTask, request: HardwareRequest): void {
  const { node } = task
  if (request.do === 'console' && node.console_enabled === request.on) return
  if (node.reservation !== null) throw ironicErrors.nodeLocked(node.uuid, node.reservation)
  const invalid = request.do === 'console' ? undefined : powerProblem(node)
  if (invalid !== undefined) throw new IronicError(400, invalid)
  const media = request.do === 'attach' || request.do === 'detach'
  if (media && node.maintenance && node.fault === 'power failure')
    throw new IronicError(503, `Unable to ${request.do} virtual media for node ${node.uuid} due to power failure state`)
  if (request.do !== 'vendor') task.forgetError()
  const change = changeFor(request)
  const impossible = hardwareProblemOf(task, request)
  const effect: EffectBody =
    change === null || impossible !== undefined ? { kind: 'proceed' } : { kind: 'bmc-change', change }
  task.run([effect], { flow: 'hardware', after: 'bmc-change' }, { request, impossible: impossible ?? null })
}

function changeFor(request: HardwareRequest): BmcChange | null {
  switch (request.do) {
    case 'boot mode':
      return { change: 'boot mode', mode: request.mode }
    case 'secure boot':
      return { change: 'secure boot', on: request.on }
    case 'attach':
      return { change: 'insert media', device: request.device, url: request.url }
    case 'detach':
      return { change: 'eject media', devices: request.devices }
    case 'console':
      return null
    case 'vendor':
      return request.change
  }
}

const CALLS: Partial<Record<HardwareRequest['do'], ManagementCall>> = {
  'boot mode': 'set_boot_mode',
  'secure boot': 'set_secure_boot_state',
  attach: 'attach_virtual_media',
  detach: 'detach_virtual_media',
}

function hardwareProblemOf(task: NodeTask, request: HardwareRequest): string | undefined {
  const { node } = task
  const call = CALLS[request.do]
  const problem = call && managementProblem(node, call)
  // Upstream publishes the image before it checks that the interface can attach it.
  if (problem !== undefined && request.do === 'attach')
    return `Publishing images is not supported for driver ${node.driver}`
  if (problem !== undefined) return problem
  if (request.do === 'secure boot' && request.on && node.boot_mode === 'bios')
    return `Redfish exception occurred. Error: Configuring secure boot requires UEFI for node ${node.uuid}`
  return undefined
}

function afterBmcChange(
  task: NodeTask,
  outcome: EffectOutcome,
  { request, impossible }: FlowMemos['hardware']['bmc-change'],
): void {
  const error = impossible ?? (outcome.ok ? null : outcome.error)
  if (error !== null) failHardwareChange(task, request, error)
  else if (request.do === 'console') task.node.console_enabled = request.on
  task.release()
}

/** Upstream's sentences; the missing apostrophe is upstream's too. */
function failHardwareChange(task: NodeTask, request: HardwareRequest, error: string): void {
  const { node } = task
  switch (request.do) {
    case 'boot mode':
      node.last_error = `Failed to change boot mode to '${request.mode}: ${error}`
      return
    case 'secure boot':
      node.last_error = `Failed to change secure_boot state to '${pythonRepr(request.on)}': ${error}`
      return
    case 'attach':
      return task.fail(`Could not attach device ${request.device} to node ${node.uuid}: ${error}`, 'UNKNOWN')
    case 'detach':
      return task.fail(
        `Could not detach device(s) ${pythonRepr(request.devices)} from node ${node.uuid}: ${error}`,
        'UNKNOWN',
      )
    case 'console':
    case 'vendor':
      return task.warn(`a ${request.do} request of node ${node.uuid} failed: ${error}`)
  }
}

export const hardwareContinuations: Continuations<'hardware'> = { 'bmc-change': afterBmcChange }
