import { seededRandom, silent, VirtualClock } from '../../base/runtime/index.js'
import { StepError, type HardwareManager, type Step } from '../../steps/index.js'
import { startAgent, type Agent, type AgentOptions } from '../../agent/index.js'
import type { CommandList, CommandResult, Inventory, StepKind } from '../../base/wire/index.js'
import { ask, FakeIronic, TOKEN } from './fake-ironic.js'
import { FakeTarget } from './fake-target.js'

export const INVENTORY: Inventory = {
  interfaces: ['52:54:00:aa:bb:01', '52:54:00:aa:bb:02'].map((mac_address, index) => ({
    name: `eth${index}`,
    mac_address,
    ipv4_address: null,
    ipv6_address: null,
    has_carrier: true,
    lldp: null,
    vendor: null,
    product: null,
    client_id: null,
    biosdevname: null,
    speed_mbps: null,
    pci_address: null,
    driver: null,
  })),
  cpu: { model_name: 'test', frequency: '2500.0', count: 8, architecture: 'x86_64', flags: [], socket_count: 1 },
  disks: [],
  memory: { total: 1, physical_mb: 1 },
  bmc_address: null,
  bmc_v6address: null,
  system_vendor: {
    product_name: '',
    serial_number: '',
    manufacturer: '',
    firmware: { vendor: '', version: '', build_date: '' },
  },
  boot: { current_boot_mode: 'bios', pxe_interface: null },
  hostname: 'test',
}

/** A step for tests: what it is called, what it does. */
export function testStep(
  name: string,
  run: Step['run'],
  on: readonly StepKind[] = ['deploy', 'clean', 'service'],
): Step {
  return {
    name,
    interface: 'deploy',
    on,
    priority: {},
    abortable: false,
    rebootRequested: false,
    run,
    advertise: () => ({ step: name, priority: 0, interface: 'deploy', reboot_requested: false }),
  }
}

export function testManager(className: string, steps: readonly Step[], support = 3): HardwareManager {
  return { className, name: className, version: '1.0', support: async () => support, steps }
}

/** The steps of the recordings' own hardware manager: one that works, one that takes its time, one that fails. */
export const PEERS_STEPS = [
  testStep('peers_noop', async () => null),
  testStep('peers_sleep', async ({ clock, signal }, { seconds }) => {
    await clock.sleep(Number(seconds) * 1000, { signal })
    return { slept: seconds }
  }),
  testStep('peers_fail', async () => {
    throw new StepError('peers_fail was asked to fail', { type: 'CleaningError' })
  }),
  testStep('peers_run', async ({ target }) => {
    const run = await target.executor.start({ argv: ['work'], effect: 'writes' })
    return { exit: await run.exit }
  }),
]

/** An agent between a fake Ironic and a fake target, on a virtual clock; it can be killed and started again. */
export class AgentScene implements AsyncDisposable {
  readonly clock = new VirtualClock()
  readonly ironic = new FakeIronic(() => this.clock.elapsed())
  readonly target = new FakeTarget(this.clock)
  /** The saved state, as text so that no two owners share an object. */
  saved: string | undefined
  writes = 0
  readonly #random = seededRandom(7)
  readonly #options: Partial<AgentOptions>
  agent!: Agent

  constructor(options: Partial<AgentOptions> = {}) {
    this.#options = options
  }

  start(options: Partial<AgentOptions> = {}): Agent {
    this.agent = startAgent({
      target: this.target,
      managers: [testManager('PeersHardwareManager', PEERS_STEPS)],
      boot: { id: 'boot-1', parameters: { 'ipa-api-url': 'http://ironic:6385' } },
      environment: {},
      callbackUrl: 'http://agent:9999',
      transport: this.ironic,
      saved: {
        read: () => (this.saved === undefined ? undefined : (JSON.parse(this.saved) as unknown)),
        write: async (value) => {
          await Promise.resolve()
          this.saved = JSON.stringify(value)
          this.writes++
        },
      },
      hardware: async () => ({ inventory: INVENTORY, rootDisk: null, bootInterface: null }),
      clock: this.clock,
      random: this.#random,
      logger: silent,
      ...this.#options,
      ...options,
    })
    return this.agent
  }

  async serving(options: Partial<AgentOptions> = {}): Promise<this> {
    this.start(options)
    await this.clock.advance(0)
    return this
  }

  get(target: string) {
    return ask(this.agent.dispatch, 'GET', `${target}?agent_token=${TOKEN}`)
  }

  async commands(): Promise<CommandResult[]> {
    return ((await this.get('/v1/commands/')).body as CommandList).commands
  }

  post(name: string, params: object = {}, wait = false) {
    return ask(this.agent.dispatch, 'POST', `/v1/commands/?wait=${wait}&agent_token=${TOKEN}`, { name, params })
  }

  async command(name: string, params: object = {}): Promise<CommandResult> {
    return (await this.post(name, params)).body as CommandResult
  }

  execute(step: string, args: object = {}, kind: StepKind = 'deploy'): Promise<CommandResult> {
    const params = { step: { step, interface: 'deploy', args }, node: {}, ports: [] }
    return this.command(`${kind}.execute_${kind}_step`, params)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.agent.stop()
  }
}
