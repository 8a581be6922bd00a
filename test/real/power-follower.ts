import { setTimeout as sleep } from 'node:timers/promises'
import type { Machine, MachineBootSource } from '../../machine/index.js'
import type { ApiNode } from '../../base/wire/index.js'

export interface PowerFollowerOptions {
  machine: Pick<Machine, 'power' | 'setPower' | 'setBoot'>
  /** Asks Ironic for the node; undefined once it is gone. */
  node: () => Promise<ApiNode | undefined>
  /** The boot source of the machine if it powered on now. */
  source: (node: ApiNode) => MachineBootSource
  onNode: (node: ApiNode | undefined) => void
  onError: (error: unknown) => void
  /** Told before the machine is made to boot. */
  onSwitched: (what: string) => void
}

/**
 * Acts as the BMC of a machine whose node has `fake-hardware`: Ironic's fake power interface only remembers the
 * requested
 * state, so the follower watches the node and switches the machine.
 */
export function followPower({
  machine,
  node,
  source,
  onNode,
  onError,
  onSwitched,
}: PowerFollowerOptions): AsyncDisposable {
  const ended = new AbortController()
  let switched: unknown
  let booted: MachineBootSource['kind'] | undefined
  // The state that a node rests in shows a power change between two looks: it waits for an agent, or it is deployed.
  const stays = ({ provision_state: state }: ApiNode): boolean =>
    (/ (wait|call-back)$/.test(state) && machine.power() === 'off') || (state === 'active' && booted === 'ramdisk')
  const look = async (): Promise<void> => {
    const now = await node()
    if (now && now.target_power_state === null) {
      const { last_power_state_change: change } = now.driver_internal_info
      if (now.power_state === 'power off') await machine.setPower('off')
      else if (now.power_state === 'power on' && (change !== switched || stays(now))) {
        const from = source(now)
        booted = from.kind
        onSwitched(`booting from ${from.kind} in ${now.provision_state}`)
        await machine.setBoot(from)
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
