import { openOnSavedPort, savedPorts, type ServedLab } from '../../../lab/index.js'
import { defined, openInScope, type Logger } from '../../../base/runtime/index.js'

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
  /** Names by which clients may call besides those of this host. */
  allowedHosts?: readonly string[] | undefined
  logger: Logger
}

/** Serves the BMCs of the machines of `up`, by the protocols that have a port. Picked ports are those of the last start. */
export const serveBmcs = (
  { stage, folder }: ServedLab,
  { redfish: redfishPort, ipmi: ipmiPort, allowedHosts, logger }: BmcPorts,
): Promise<ServedBmcs> =>
  openInScope(async (scope) => {
    const { tls } = stage
    const openRedfish = (port: number) => stage.redfish({ port, allowedHosts, ...defined({ tls: tls ?? undefined }) })
    const lost = 'clients no longer find the BMCs; give them the new address'
    const redfish =
      redfishPort === undefined
        ? undefined
        : scope.use(
            await (redfishPort === 0
              ? openOnSavedPort('redfish-port', lost, { folder, logger }, openRedfish)
              : openRedfish(redfishPort)),
          )
    const saved = savedPorts(folder, 'ipmi-ports', ipmiPort)
    const ipmi = ipmiPort === undefined ? undefined : scope.use(await stage.ipmi({ port: ipmiPort, saved, logger }))
    const ports = stage.machines.list().flatMap(({ spec: { id } }) => {
      const port = ipmi?.addressOf(id)?.port
      return port === undefined ? [] : [[id, port] as const]
    })
    const listed = ports.map(([id, port]) => `${port} (${id})`).join(', ')
    return {
      event: defined({
        redfish_url: redfish ? redfish.url : undefined,
        ipmi_ports: ipmi ? Object.fromEntries(ports) : undefined,
      }),
      lines: [
        ...(redfish ? [`  BMCs by Redfish, a system for each machine, at ${redfish.url}/redfish/v1/Systems`] : []),
        ...(ipmi ? [`  BMCs by IPMI at 127.0.0.1, UDP ports ${listed === '' ? 'for no machine' : listed}`] : []),
      ],
      [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
    }
  })
