import { Probe, seededRandom, silent, systemClock } from '../../../base/runtime/index.js'
import { InProcessTransport } from '../../../base/wire/index.js'
import {
  openIronic,
  UPSTREAM_CONF,
  type Bmc,
  type Conductor,
  type ConductorConf,
  type Ironic,
} from '../../../ironic-mock/index.js'
import { Members } from '../../../ironic-mock/members/members.js'
import type { DatabaseAddress } from '../../../ironic-mock/store/postgres/database-address.js'
import { openMemberStore, type MemberOptions, type SharedStore } from './member-cluster.js'

/** Machines that all conductors of a test reach, each with a BMC that notes which conductor has called it. */
export class SharedMachines {
  readonly #machines = new Map<string, SharedMachine>()

  /** @param delay milliseconds that a change of a machine takes */
  constructor(private readonly delay = 0) {}

  /** The machine of a Redfish address. */
  at(address: string): SharedMachine {
    const known = this.#machines.get(address) ?? new SharedMachine(this.delay)
    this.#machines.set(address, known)
    return known
  }
}

export class SharedMachine {
  state: 'power on' | 'power off' = 'power off'
  /** Changes of power and boot source, with the conductor that asked for them. */
  readonly calls: string[] = []
  #gate: Promise<void> | undefined

  constructor(private readonly delay: number) {}

  /** Lets no change end until the result is called. */
  hold(): () => void {
    let open = (): void => {}
    this.#gate = new Promise((resolve) => (open = resolve))
    return () => {
      this.#gate = undefined
      open()
    }
  }

  bmcOf(host: string): Bmc {
    return {
      power: () => Promise.resolve(this.state),
      setPower: async (target) => {
        this.calls.push(`${host}: ${target}`)
        await this.#gate
        await systemClock().sleep(this.delay)
        this.state = target.endsWith('off') ? 'power off' : 'power on'
      },
      setBoot: async (source) => {
        this.calls.push(`${host}: boot ${source.kind}`)
        await this.#gate
      },
    }
  }
}

/** A conductor or API of several that share a database. */
export interface SharedConductor extends AsyncDisposable {
  readonly host: string
  readonly conductor: Conductor
  readonly ironic: Ironic
  readonly members: Members
  readonly store: SharedStore
  /** Ends it as SIGKILL does: its connection ends, and it hears of nothing. */
  kill(): void
}

export async function openSharedConductor(
  address: DatabaseAddress,
  machines: SharedMachines,
  { host, role = 'all', group = '', drivers = ['fake-hardware', 'redfish'], timing = {} }: MemberOptions,
  conf: Partial<ConductorConf> = {},
): Promise<SharedConductor> {
  const clock = systemClock()
  const store = await openMemberStore(address, host, clock)
  const members = new Members({
    others: store.others!,
    self: { host, role, group, drivers, url: null, version: 'test' },
    clock,
    logger: silent,
    timing,
  })
  const ironic = await openIronic({
    store,
    host,
    share: members,
    conf: { ...UPSTREAM_CONF, powerSyncInterval: 0, nodeLockedRetryAttempts: 1, conductorGroup: group, ...conf },
    bmcs: (node) => Promise.resolve(machines.at(String(node.driver_info.redfish_address)).bmcOf(host)),
    agents: new InProcessTransport(),
    findImage: (url) => Promise.resolve({ url, format: null, sha256: null }),
    clock,
    random: seededRandom(host.length + host.charCodeAt(host.length - 1)),
    probe: new Probe(),
    logger: silent,
    ironicUrl: () => 'http://ironic.test:6385',
  })
  let killed = false
  return {
    host,
    conductor: ironic.conductor,
    ironic,
    members,
    store,
    kill: () => {
      killed = true
      store.abandon()
    },
    [Symbol.asyncDispose]: async () => {
      if (killed) return
      await ironic[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
    },
  }
}
