import { UserError } from '../../../base/runtime/index.js'
import { formatClientValue, pythonRepr, type NodeRecord } from '../../../base/wire/index.js'
import { maskedAddress } from '../../../base/bytes/index.js'

/** `redfish_auth_type`: which credentials a client sends. */
type RedfishAuthType = 'basic' | 'session' | 'auto'

/** An account at a Redfish service. */
export interface RedfishAccount {
  /** `https://192.0.2.7:8000` */
  readonly origin: string
  /** Path of the service root: `/redfish/v1/`. */
  readonly root: string
  readonly username: string | undefined
  readonly password: string | undefined
  readonly auth: RedfishAuthType
  /** Which certificates are believed: those of public authorities, any, or those of a file or folder. */
  readonly trust: 'public' | 'any' | { readonly path: string }
}

/** How the system of a node is reached, from its `driver_info`. */
export interface RedfishAccess {
  readonly account: RedfishAccount
  /** Path of the system; undefined takes the only one. */
  readonly path: string | undefined
}

const DEFAULT_ROOT = '/redfish/v1/'
const AUTH_TYPES: readonly RedfishAuthType[] = ['basic', 'session', 'auto']

/**
 * Reads `driver_info` as Ironic does (ironic 39.0.0 drivers/modules/redfish/utils.py parse_driver_info).
 *
 * @throws UserError `bmc-refuses` with Ironic's sentence for a value that it does not take
 */
export function redfishAccessOf({ uuid, driver_info: info }: Pick<NodeRecord, 'uuid' | 'driver_info'>): RedfishAccess {
  const address = formatClientValue(info.redfish_address ?? '')
  const written = address.includes('://') ? address : `https://${address}`
  if (address === '' || !/^https?:/i.test(written) || !URL.canParse(written))
    throw refused(
      `Invalid Redfish address ${maskedAddress(address)} set in driver_info/redfish_address on node ${uuid}`,
    )
  const { origin, pathname } = new URL(written)
  const { redfish_system_id: system = null, redfish_auth_type: auth = 'auto' } = info
  if (system !== null && typeof system !== 'string')
    throw refused(
      `Invalid value "${formatClientValue(system)}" set in driver_info/redfish_system_id on node ${uuid}. The value should be a path (string) to the resource that the driver will interact with. For example: /redfish/v1/Systems/1`,
    )
  const known = AUTH_TYPES.find((each) => each === auth)
  if (!known)
    throw refused(
      `Invalid value "${formatClientValue(auth)}" set in driver_info/redfish_auth_type on node ${uuid}. The value should be one of "basic", "session" or "auto".`,
    )
  const textOf = (name: string) => (info[name] == null ? undefined : formatClientValue(info[name]))
  const account: RedfishAccount = {
    origin,
    root: pathname === '/' ? DEFAULT_ROOT : pathname.replace(/\/*$/, '/'),
    username: textOf('redfish_username'),
    password: textOf('redfish_password'),
    auth: known,
    trust: trustOf(info.redfish_verify_ca ?? true, uuid),
  }
  return { account, path: system ?? undefined }
}

/** Words that oslo.utils takes for a boolean (strutils.bool_from_string). */
const TRUE_WORDS = ['1', 't', 'true', 'on', 'y', 'yes']
const FALSE_WORDS = ['0', 'f', 'false', 'off', 'n', 'no']

function trustOf(value: unknown, uuid: string): RedfishAccount['trust'] {
  if (typeof value === 'boolean') return value ? 'public' : 'any'
  if (typeof value === 'string') {
    const word = value.trim().toLowerCase()
    if (TRUE_WORDS.includes(word)) return 'public'
    if (FALSE_WORDS.includes(word)) return 'any'
    if (value.startsWith('/')) return { path: value }
  }
  throw invalidTrust(value, uuid)
}

/** Ironic's sentence for a `redfish_verify_ca` that is neither a boolean nor a path. */
export const invalidTrust = (value: unknown, uuid: string): UserError =>
  refused(
    `Invalid value type set in driver_info/redfish_verify_ca on node ${uuid}. The value should be a Boolean or the path to a file/directory, not "${typeof value === 'string' ? value : pythonRepr(value)}"`,
  )

const refused = (sentence: string): UserError => new UserError('bmc-refuses', sentence)
