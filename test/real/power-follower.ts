import { setTimeout as sleep } from 'node:timers/promises'
import type { Machine, MachineBootSource } from '../../machine/index.js'
import type { ApiNode } from '../../wire/index.js'

export interface PowerFollowerOptions {
  machine: Machine
  /** Asks Ironic for the node; undefined once it is gone. */
  node: () => Promise<ApiNode | undefined>
  /** What the machine is to boot when it is switched on now. */
  source: (node: ApiNode) => MachineBootSource
  onNode: (node: ApiNode | undefined) => void
  onError: (error: unknown) => void
}

/**
 * The BMC of a machine whose node has `fake-hardware`: Ironic's fake power interface only remembers what it was told, so
 * whoever watches the node and works the power button makes a computer of it.
 */
export function followPower({ machine, node, source, onNode, onError }: PowerFollowerOptions): AsyncDisposable {
  const ended = new AbortController()
  let switched: unknown
  const look = async (): Promise<void> => {
    const now = await node()
    if (now && now.target_power_state === null) {
      const { last_power_state_change: change } = now.driver_internal_info
      if (now.power_state === 'power off') await machine.setPower('off')
      else if (now.power_state === 'power on' && change !== switched) {
        await machine.setBoot(source(now))
        await machine.setPower('reboot')
      }
      switched = change
    }
    onNode(now)
  }
  const following = (async () => {
    while (!ended.signal.aborted) {
      await look().catch(onError)
      await sleep(150, undefined, { signal: ended.signal }).catch(() => {})
    }
  })()
  return {
    async [Symbol.asyncDispose]() {
      ended.abort()
      await following
    },
  }
}
