import { setTimeout as sleep } from 'node:timers/promises'
import type { Machine, MachineBootSource } from '../../machine/index.js'
import type { ApiNode } from '../../wire/index.js'

export interface PowerFollowerOptions {
  machine: Pick<Machine, 'power' | 'setPower' | 'setBoot'>
  /** Asks Ironic for the node; undefined once it is gone. */
  node: () => Promise<ApiNode | undefined>
  /** What the machine is to boot when it is switched on now. */
  source: (node: ApiNode) => MachineBootSource
  onNode: (node: ApiNode | undefined) => void
  onError: (error: unknown) => void
  /** Told before the machine is made to boot. */
  onSwitched: (what: string) => void
}

/**
 * The BMC of a machine whose node has `fake-hardware`: Ironic's fake power interface only remembers what it was told, so
 * whoever watches the node and works the power button makes a computer of it.
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
  // What was switched between two looks shows in where the node has come to rest: it waits for an agent, or is deployed.
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
