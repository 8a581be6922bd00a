import type { Machine, MachinePace, Machines, MachineSpec } from '../../../machine/index.js'
import {
  createRedfishService,
  type RedfishCredentials,
  type RedfishOptions,
  type RedfishService,
} from '../../../bmc/redfish/index.js'
import { VirtualClock, defined, type Probe } from '../../../base/runtime/index.js'
import type { WireResponse } from '../../../base/wire/index.js'
import { ADMIN, describedMachines } from '../described-machines.js'

export { ADMIN }

/** An answer with its document. */
export interface Answer extends WireResponse {
  /** The JSON of the body; an empty object without one. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into any document
  document: any
}

export interface Served extends AsyncDisposable {
  readonly service: RedfishService
  readonly machines: Machines
  readonly clock: VirtualClock
  readonly probe: Probe
  readonly accounts: Map<string, RedfishCredentials>
  machine(n?: number): Machine
  /** A call with Basic credentials of admin, or other headers. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
}

export const basic = ({ username, password }: RedfishCredentials): { authorization: string } => ({
  authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
})

/** Machines behind a Redfish service, all with the account {@link ADMIN}. */
export async function served(
  count = 1,
  options: Partial<RedfishOptions> = {},
  hardware: Partial<MachineSpec> = {},
  pace?: MachinePace,
): Promise<Served> {
  const clock = new VirtualClock()
  const { machines, probe, random, accounts, machine } = await describedMachines(count, clock, hardware, pace)
  const service = createRedfishService({
    machines,
    clock,
    random,
    probe,
    accounts: {
      of: ({ spec }) => accounts.get(spec.id),
      admits: ({ spec }, { username, password }) => {
        const own = accounts.get(spec.id)
        return own !== undefined && own.username === username && own.password === password
      },
      set: ({ spec }, account) => void accounts.set(spec.id, account),
    },
    ...options,
  })
  return {
    service,
    machines,
    clock,
    probe,
    accounts,
    machine,
    call: async (method, path, body, headers = basic(ADMIN)) => {
      const answer = await service.dispatch({
        method,
        target: path,
        base: 'http://bmc.test',
        headers: { ...defined({ 'content-type': body === undefined ? undefined : 'application/json' }), ...headers },
        ...defined({ body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      return { ...answer, document: answer.body === undefined ? {} : (JSON.parse(answer.body) as unknown) }
    },
    [Symbol.asyncDispose]: () => machines[Symbol.asyncDispose](),
  }
}
