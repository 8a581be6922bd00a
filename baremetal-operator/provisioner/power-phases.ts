import { defined } from '../../base/runtime/index.js'
import type { ApiNode } from '../../base/wire/index.js'
import { Unexpected } from './ironic-calls.js'
import type { RequestedHost, HostStatus } from './host-data-model.js'
import {
  retryAtOnce,
  retryLater,
  retrySoon,
  type HostEvent,
  type NodeRequests,
  type HostPassResult,
} from './node-requests.js'

/** How the power goes off: `soft` asks the host's system to shut down. */
export type RebootMode = 'soft' | 'hard'

type PowerStatus = Pick<HostStatus, 'isRetry'>

/** Power, and the end of a node (baremetal-operator 02aa505 pkg/provisioner/ironic/ironic.go). */
export class PowerPhases {
  readonly requests: NodeRequests

  constructor(requests: NodeRequests) {
    this.requests = requests
  }

  async powerOn(node: ApiNode, { isRetry = false }: PowerStatus): Promise<HostPassResult> {
    if (node.power_state === 'power on') return 'done'
    if (node.target_power_state === 'power on') return retrySoon
    if (node.last_error && !isRetry) return { error: `PowerOn operation failed: ${node.last_error}` }
    return this.#changePower(node, 'power on')
  }

  async powerOff(
    host: RequestedHost,
    node: ApiNode,
    mode: RebootMode,
    { isRetry = false }: PowerStatus,
  ): Promise<HostPassResult> {
    const ended = await this.#endWait(host, node)
    if (ended !== 'done' || node.power_state === 'power off') return ended
    const { target_power_state: target, last_error: error, disable_power_off: isDisabled } = node
    if (target === 'power off' || target === 'soft power off') return retrySoon
    if (target === null && error && !isRetry && !error.includes('aborted')) return { error }
    if (mode === 'soft' && !isRetry)
      try {
        return await this.#changePower(node, isDisabled ? 'soft rebooting' : 'soft power off')
      } catch (error) {
        // The BMC cannot ask a system to shut down.
        if (!(error instanceof Unexpected && error.status === 400)) throw error
      }
    return this.#changePower(node, isDisabled ? 'rebooting' : 'power off')
  }

  async #changePower(node: ApiNode, target: string): Promise<HostPassResult> {
    if (node.target_provision_state !== null) return retrySoon
    const isSoft = target === 'soft power off'
    const why = isSoft ? 'powers the host off by asking its system to shut down' : POWER_REASONS[target]!
    const path = `/nodes/${node.uuid}/states/power`
    await this.requests.change(why, 'PUT', path, { target, ...defined({ timeout: isSoft ? 180 : undefined }) })
    const event = POWER_EVENTS[target]
    if (event) this.requests.publish(event.reason, event.message)
    return retryAtOnce
  }

  /** A wait for the ramdisk keeps the power from being changed. */
  async #endWait({ automatedCleaning = true }: RequestedHost, node: ApiNode): Promise<HostPassResult> {
    switch (node.provision_state) {
      case 'inspect wait':
        return this.requests.ask(node, 'abort')
      case 'inspecting':
      case 'cleaning':
        return retryLater
      case 'inspect failed':
        return node.target_provision_state === null ? 'done' : this.requests.ask(node, 'manage')
      case 'clean wait': {
        // `manageable` is the end of manual cleaning; the real operator compares it with the verb `clean`.
        const isManual = node.target_provision_state === ('clean' as string)
        return isManual || !automatedCleaning ? this.requests.ask(node, 'abort') : retryLater
      }
      default:
        return 'done'
    }
  }

  /** @param isForced what is under way is given up for it */
  async remove(node: ApiNode, isForced: boolean): Promise<HostPassResult> {
    switch (node.provision_state) {
      case 'verifying':
        return retrySoon
      case 'enroll':
        break
      case 'manageable':
      case 'available':
        await this.requests.patch('removes the instance', node, { '/instance_uuid': undefined })
        break
      case 'deploying':
      case 'cleaning':
      case 'inspecting':
      case 'servicing':
      case 'deleting':
        return retryLater
      case 'wait call-back':
        if (!isForced) return retryLater
        return this.requests.ask(node, this.requests.calls.version >= 110 ? 'abort' : 'deleted')
      case 'inspect wait':
      case 'clean wait':
      case 'service wait':
        return isForced ? this.requests.ask(node, 'abort') : retryLater
      default:
        if (!node.maintenance) {
          const reason = 'forcing deletion in baremetal-operator'
          const why = 'only a node in maintenance can be deleted in this state'
          await this.requests.change(why, 'PUT', `/nodes/${node.uuid}/maintenance`, { reason })
          return retryAtOnce
        }
    }
    await this.requests.change('deletes the node and its ports', 'DELETE', `/nodes/${node.uuid}`).catch(goneAlready)
    // The next pass checks that the node is gone.
    return retryAtOnce
  }
}

const POWER_REASONS: Readonly<Record<string, string>> = {
  'power on': 'powers the host on',
  'power off': 'powers the host off',
  'soft rebooting': 'the host must not be powered off: its system is asked to start again',
  rebooting: 'the host must not be powered off: it is reset',
}

/** A reset has none: BareMetal Operator makes one without a name, which no API takes. */
const POWER_EVENTS: Readonly<Record<string, HostEvent>> = {
  'power on': { reason: 'PowerOn', message: 'Host powered on' },
  'power off': { reason: 'PowerOff', message: 'Host powered off' },
  'soft power off': { reason: 'PowerOff', message: 'Host soft powered off' },
}

function goneAlready(error: unknown): void {
  if (!(error instanceof Unexpected && error.status === 404)) throw error
}
