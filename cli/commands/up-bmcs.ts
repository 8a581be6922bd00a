import type { Stage } from '../../lab/index.js'
import { opening } from '../../runtime/index.js'
import type { TlsOptions } from '../../wire/index.js'

/** BMCs that are served, and the words for it. */
export interface ServedBmcs extends AsyncDisposable {
  /** Members of the event that the server is ready. */
  readonly event: { redfish_url?: string; ipmi_ports?: Record<string, number> }
  /** For people. */
  readonly lines: string[]
}

export interface BmcPorts {
  redfish?: number | undefined
  /** UDP port of the first machine. */
  ipmi?: number | undefined
  tls?: TlsOptions
  /** Names by which clients may call besides those of this host. */
  allowedHosts?: readonly string[] | undefined
}

/** Serves the BMCs of a stage's machines, by the protocols that have a port. */
export const serveBmcs = (
  stage: Stage,
  { redfish: redfishPort, ipmi: ipmiPort, tls, allowedHosts }: BmcPorts,
): Promise<ServedBmcs> =>
  opening(async (scope) => {
    const redfish =
      redfishPort === undefined
        ? undefined
        : scope.use(await stage.redfish({ port: redfishPort, allowedHosts, ...(tls ? { tls } : {}) }))
    const ipmi = ipmiPort === undefined ? undefined : scope.use(await stage.ipmi({ port: ipmiPort }))
    const ports = stage.machines.list().flatMap(({ spec: { id } }) => {
      const port = ipmi?.addressOf(id)?.port
      return port === undefined ? [] : [[id, port] as const]
    })
    const listed = ports.map(([id, port]) => `${port} (${id})`).join(', ')
    return {
      event: {
        ...(redfish ? { redfish_url: redfish.url } : {}),
        ...(ipmi ? { ipmi_ports: Object.fromEntries(ports) } : {}),
      },
      lines: [
        ...(redfish ? [`  BMCs by Redfish, a system for each machine, at ${redfish.url}/redfish/v1/Systems`] : []),
        ...(ipmi ? [`  BMCs by IPMI at 127.0.0.1, UDP ports ${listed === '' ? 'for no machine' : listed}`] : []),
      ],
      [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
    }
  })
