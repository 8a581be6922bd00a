import { runController, type ActorParts } from '../../base/kubernetes/index.js'
import { sharedAbort } from '../../base/runtime/index.js'
import { Calls, type CallsOptions, type IronicEndpoint } from '../provisioner/ironic-calls.js'
import { DataImageController } from './data-image.js'
import { EventSubscriptionController } from './event-subscription.js'
import { FirmwareReader } from './firmware-reader.js'
import { HostClaimController } from './host-claims.js'
import { HostController } from './host-controller.js'
import type { OperatorSettings } from './host-pass.js'
import type { OperatorMetrics } from './operator-metrics.js'
import { SwitchController } from './switches.js'

export interface BareMetalOperatorParts extends ActorParts {
  ironic: IronicEndpoint
  settings?: Partial<OperatorSettings>
  /** Counts what the operator does; by default unread. */
  metrics?: OperatorMetrics
  /** Options of the requests to Ironic. */
  calls?: Omit<CallsOptions, 'signal'>
}

export interface RunningBareMetalOperator extends AsyncDisposable {
  readonly calls: Calls
  /** Provisioning verbs that were requested, in order. */
  readonly asked: readonly string[]
}

/** Runs BareMetal Operator on the BareMetalHosts of an API, and one Ironic. */
export function runBareMetalOperator(parts: BareMetalOperatorParts): RunningBareMetalOperator {
  const closing = sharedAbort()
  const calls = new Calls(parts.ironic, { ...parts.calls, signal: closing.signal })
  // The other controllers call at times of their own. Their calls are not part of the hosts' record.
  const { onCall: _hosts, ...options } = parts.calls ?? {}
  const others = { ...parts, calls: new Calls(parts.ironic, { ...options, signal: closing.signal }) }
  const { settings = {} } = parts
  const hosts = new HostController(parts, calls)
  const controllers = [
    hosts,
    new FirmwareReader(others, 'HostFirmwareSettings'),
    new FirmwareReader(others, 'HostFirmwareComponents'),
    new DataImageController(others),
    new EventSubscriptionController(others),
    ...(settings.claimsHosts ? [new HostClaimController(parts)] : []),
    ...(settings.networking ? [new SwitchController(parts, settings.networking)] : []),
  ]
  const running = controllers.map((controller) => runController(controller, parts))
  return {
    calls,
    asked: hosts.asked,
    [Symbol.asyncDispose]: async () => {
      // A controller that has ended does not report an aborted request as a failure.
      const ended = running.map((each) => each[Symbol.asyncDispose]())
      closing.abort()
      await Promise.all(ended)
    },
  }
}
