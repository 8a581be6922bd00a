import { UserError } from '../../../base/runtime/index.js'
import { formatClientValue, type NodeRecord } from '../../../base/wire/index.js'
import { accountProblem, CIPHER_SUITES, PRIVILEGE, type IpmiCallerOptions } from '../../../bmc/ipmi/index.js'

/** How the BMC of a node is reached by IPMI, from its `driver_info`. */
export type IpmiAccess = Pick<IpmiCallerOptions, 'address' | 'account' | 'privilege' | 'suite'>

const DEFAULT_IPMI_PORT = 623
const LEVELS: Readonly<Record<string, number>> = {
  ADMINISTRATOR: PRIVILEGE.administrator,
  CALLBACK: PRIVILEGE.callback,
  OPERATOR: PRIVILEGE.operator,
  USER: PRIVILEGE.user,
}

/**
 * Reads `driver_info` as Ironic does (ironic 39.0.0 drivers/modules/ipmitool.py _parse_driver_info).
 *
 * @throws UserError `bmc-refuses` for a value that Ironic does not take, with its sentence, and for what is left out here
 */
export function ipmiAccessOf({ uuid, driver_info: info }: Pick<NodeRecord, 'uuid' | 'driver_info'>): IpmiAccess {
  const textOf = (name: string, otherwise = ''): string => formatClientValue(info[name] ?? otherwise)
  const version = textOf('ipmi_protocol_version', '2.0')
  if (version !== '2.0') throw refusal(protocolProblem(version))
  for (const [name, none] of Object.entries(LEFT_OUT))
    if (textOf(name, none) !== none) throw refusal(`node ${uuid}: ${name} is not supported for machines elsewhere`)
  const level = textOf('ipmi_priv_level', 'ADMINISTRATOR')
  const privilege = LEVELS[level]
  if (privilege === undefined)
    throw refusal(
      `Invalid privilege level value:${level}, the valid value can be one of ${Object.keys(LEVELS).join(', ')}`,
    )
  const host = textOf('ipmi_address')
  if (host === '') throw refusal("Missing the following IPMI credentials in node's driver_info: ['ipmi_address'].")
  const account = { username: textOf('ipmi_username'), password: textOf('ipmi_password') }
  const problem = accountProblem(account)
  if (problem !== undefined) throw refusal(`node ${uuid}: ${problem}`)
  return {
    address: { host, port: portIn(textOf('ipmi_port', String(DEFAULT_IPMI_PORT))) },
    account,
    privilege,
    suite: suiteIn(info.ipmi_cipher_suite),
  }
}

/** Values of `driver_info` that stand for nothing, of what no machine elsewhere is asked for. */
const LEFT_OUT: Readonly<Record<string, string>> = { ipmi_bridging: 'no', ipmi_hex_kg_key: '' }

const protocolProblem = (version: string): string =>
  version === '1.5'
    ? 'IPMI 1.5 is not supported for machines elsewhere'
    : `Invalid IPMI protocol version value ${version}, the valid value can be one of 2.0, 1.5`

function portIn(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 1 && port <= 65_535) return port
  throw refusal(`"ipmi_port" "${text}" is not a valid port.`)
}

function suiteIn(value: unknown): number | undefined {
  if (value == null) return undefined
  const text = formatClientValue(value)
  if (!/^\d+$/.test(text)) throw refusal(`Invalid cipher suite ${text}, expected a number`)
  const suite = Number(text)
  if (CIPHER_SUITES.some(({ id }) => id === suite)) return suite
  throw refusal(
    `cipher suite ${suite} is not supported for machines elsewhere: one of ${CIPHER_SUITES.map(({ id }) => id).join(', ')} is`,
  )
}

const refusal = (sentence: string): UserError => new UserError('bmc-refuses', sentence)
