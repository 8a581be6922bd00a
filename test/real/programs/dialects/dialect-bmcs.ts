import { selfSigned } from '../../../../agent/index.js'
import type { DialectChoice } from '../../../../bmc/dialects/index.js'
import { createRedfishService, type RedfishAccounts } from '../../../../bmc/redfish/index.js'
import { defaultMachineSpec, withHardware, type Machine } from '../../../../machine/index.js'
import { defined, openInScope, systemClock, systemRandom, type Scope } from '../../../../base/runtime/index.js'
import { serveHttp, type TlsIdentity } from '../../../../base/wire/index.js'
import { ADMIN, describedMachines } from '../../../kit/described-machines.js'

export { ADMIN }

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

/**
 * Serves a machine with each of these BMCs.
 *
 * @param isSecure true for the names of those that are served by HTTPS: some clients know nothing else, and the handshakes of
 *   those that open a connection for each request take a minute
 */
export function openDialectBmcs(
  choices: Readonly<Record<string, DialectChoice>>,
  isSecure: (name: string) => boolean = () => false,
): Promise<DialectBmcs> {
  return openInScope(async (scope) => {
    const clock = systemClock()
    const tls = await selfSigned({ hostname: 'bmc.test', address: '127.0.0.1', random: systemRandom, clock })
    const bmcs: Record<string, DialectBmc> = {}
    for (const [name, choice] of Object.entries(choices))
      bmcs[name] = await openBmc(scope, choice, isSecure(name) ? tls : undefined)
    const urls = Object.fromEntries(Object.entries(bmcs).map(([name, { url }]) => [name, url]))
    return { bmcs, urls, [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose]() }
  })
}

async function openBmc(scope: Scope, dialect: DialectChoice, tls: TlsIdentity | undefined): Promise<DialectBmc> {
  const clock = systemClock()
  const { manufacturer, product } = withHardware(defaultMachineSpec(1), { bmc: dialect })
  const { machines, probe, random, machine } = await describedMachines(1, clock, { dialect, manufacturer, product })
  scope.use(machines)
  const accounts: RedfishAccounts = {
    of: () => ADMIN,
    admits: (_, { username, password }) => username === ADMIN.username && password === ADMIN.password,
    set: () => {},
  }
  const service = scope.use(createRedfishService({ machines, clock, random, probe, accounts }))
  const server = await serveHttp({ dispatch: service.dispatch, port: 0, clock, ...defined({ tls }) })
  scope.use(server)
  return { url: server.url, machine: machine() }
}
