import { selfSigned } from '../../../../agent/index.js'
import { BMC_DIALECTS, type DialectChoice, type DialectName } from '../../../../bmc/dialects/index.js'
import { createRedfishService } from '../../../../bmc/redfish/index.js'
import { defaultMachineSpec, withHardware, type Machine, type MachinePace, NO_PACE } from '../../../../machine/index.js'
import { openInScope, systemClock, systemRandom, type Scope } from '../../../../base/runtime/index.js'
import { serveHttp, type TlsIdentity } from '../../../../base/wire/index.js'
import { ADMIN, describedMachines } from '../../../kit/described-machines.js'

export { ADMIN }

/** The names of all records. */
export const DIALECT_NAMES = Object.keys(BMC_DIALECTS) as readonly DialectName[]

/** A machine with a BMC that is alone behind its address, as real ones are. */
export interface DialectBmc {
  readonly url: string
  readonly machine: Machine
}

export interface DialectBmcs extends AsyncDisposable {
  readonly bmcs: Readonly<Record<string, DialectBmc>>
  /** Addresses by the names of the BMCs, for a program that works all of them. */
  readonly urls: Readonly<Record<string, string>>
}

/** Serves a machine with each of these BMCs, by HTTPS: some clients know nothing else. */
export function openDialectBmcs(
  choices: Readonly<Record<string, DialectChoice>>,
  pace: MachinePace = NO_PACE,
): Promise<DialectBmcs> {
  return openInScope(async (scope) => {
    const bmcs: Record<string, DialectBmc> = {}
    const tls = await selfSigned({
      hostname: 'bmc.test',
      address: '127.0.0.1',
      random: systemRandom,
      clock: systemClock(),
    })
    for (const [name, choice] of Object.entries(choices)) bmcs[name] = await openBmc(scope, choice, pace, tls)
    const urls = Object.fromEntries(Object.entries(bmcs).map(([name, { url }]) => [name, url]))
    return { bmcs, urls }
  })
}

async function openBmc(scope: Scope, dialect: DialectChoice, pace: MachinePace, tls: TlsIdentity): Promise<DialectBmc> {
  const clock = systemClock()
  const { manufacturer, product } = withHardware(defaultMachineSpec(1), { bmc: dialect })
  const made = await describedMachines(1, clock, { dialect, manufacturer, product }, pace)
  const { machines, probe, random, machine } = made
  scope.use(machines)
  const service = createRedfishService({
    machines,
    clock,
    random,
    probe,
    accounts: {
      of: () => ADMIN,
      admits: (_, { username, password }) => username === ADMIN.username && password === ADMIN.password,
      set: () => {},
    },
  })
  scope.use(service)
  const server = scope.use(await serveHttp({ dispatch: service.dispatch, port: 0, clock, tls }))
  return { url: server.url, machine: machine() }
}
