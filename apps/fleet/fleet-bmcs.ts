import { createRedfishService, refuseUnreadRequest } from '../../bmc/redfish/index.js'
import { defined, systemRandom, uuidOf, withFields } from '../../base/runtime/index.js'
import { serveHttp, type Dispatch, type TlsOptions } from '../../base/wire/index.js'
import {
  firmwareImages,
  isEveryAddress,
  listenForIpmi,
  openOnSavedPort,
  ownIdentity,
  savedPorts,
  type IpmiListener,
  type MachineControl,
} from '../../lab/index.js'
import type { Machines } from '../../machine/index.js'
import type { FleetCore } from './fleet-core.js'
import type { FleetOptions } from './fleet-options.js'
import { byIdOrName } from './make-machines.js'

/** Bytes of a request to a BMC. */
export const MAX_FLEET_BODY_BYTES = 2 ** 20

export interface FleetBmcs {
  /** URL of all BMCs as the Ironic reaches it, without `/redfish/v1`. */
  readonly url: string
  /** File with the certificate that was made; null without. */
  readonly caFile: string | null
  /** PEM of the certificate; null for plain HTTP. */
  readonly certificate: string | null
  /** TCP port that they listen on. */
  readonly port: number
}

const authority = (host: string, port: number): string => `${host.includes(':') ? `[${host}]` : host}:${port}`

/** URL by which clients reach the HTTP servers of a fleet, but for their ports. */
export const publicUrlOf = ({ reached }: FleetCore): string => `http://${authority(reached, 80)}`

/** Serves the BMCs of all machines by Redfish, and the control API to the other processes of a database. */
export async function serveBmcs(
  options: FleetOptions,
  core: FleetCore,
  machines: Machines,
  control: MachineControl,
): Promise<FleetBmcs> {
  const { clock, logger, probe, folder, accounts, host, reached, scope } = core
  const { port: wanted } = options.redfish
  const service = createRedfishService({
    machines: byIdOrName(machines),
    accounts,
    clock,
    probe,
    random: systemRandom,
    // A service keeps its identity over restarts (DSP0268, ServiceRoot.UUID).
    ...defined({ uuid: folder === null ? undefined : uuidOf(`fleet ${folder.path}`) }),
    fetchFirmware: firmwareImages({ clock, ca: options.mediaCa }),
    logger: withFields(logger, { room: 'redfish' }),
  })
  const dispatch: Dispatch = (request) => control.answerMember(request) ?? service.dispatch(request)
  const { tls, caFile } = await openFleetTls(options, core)
  const lost = 'the nodes of Ironic no longer find their BMCs; give them the new address'
  const server = await openOnSavedPort('redfish-port', lost, { folder, logger, wanted }, (port) =>
    serveHttp({
      dispatch,
      host,
      port,
      bodyLimit: MAX_FLEET_BODY_BYTES,
      refuse: refuseUnreadRequest,
      allowedHosts: options.allowedHosts,
      publicUrl: publicUrlOf(core),
      clock,
      logger,
      ...defined({ tls }),
    }),
  )
  scope.use(server)
  return {
    url: `${tls ? 'https' : 'http'}://${authority(reached, server.port)}`,
    caFile,
    certificate: tls?.certificate ?? null,
    port: server.port,
  }
}

async function openFleetTls(
  { tls, folder = null, clock }: FleetOptions,
  { reached, scope }: FleetCore,
): Promise<{ tls?: TlsOptions; caFile: string | null }> {
  if (tls === undefined) return { caFile: null }
  if (tls !== 'own') return { tls, caFile: null }
  const { identity, file } = await ownIdentity({ name: 'bmcs', names: [reached], folder, clock, scope })
  return { tls: identity, caFile: file }
}

/** Serves the BMCs by IPMI, if the options name a port. */
export async function serveIpmi(
  { ipmi, namePrefix: prefix }: FleetOptions,
  { clock, logger, probe, folder, accounts, host, scope }: FleetCore,
  machines: Machines,
): Promise<IpmiListener | undefined> {
  if (!ipmi) return undefined
  const saved = savedPorts(folder, 'ipmi-ports', ipmi.port)
  const listener = await listenForIpmi({ accounts, clock, probe, logger }, machines.list(), {
    host: ipmi.host ?? host,
    port: ipmi.port,
    saved,
    logger,
    ...defined({ prefix }),
  })
  return scope.use(listener)
}

type ListenerAddress = NonNullable<ReturnType<IpmiListener['addressOf']>>

/** Address by which the Ironic reaches a BMC by IPMI. */
export const ipmiAddressFor = (address: ListenerAddress | undefined, reached: string): ListenerAddress | null =>
  address ? { host: isEveryAddress(address.host) ? reached : address.host, port: address.port } : null
