import { join } from 'node:path'
import type { BareMetalSwitch, Secret } from '../../base/kubernetes/index.js'
import { defined, UserError } from '../../base/runtime/index.js'

/** Where the switches of Ironic's network service are written. */
export interface SwitchSettings {
  /** Name of the Secret with the configuration (`IRONIC_SWITCH_CONFIGS_SECRET`). */
  configSecret: string
  /** Name of the Secret with SSH keys (`IRONIC_SWITCH_CREDENTIALS_SECRET`). */
  keySecret: string
  /** Folder of the keys in the pod of the service (`IRONIC_SWITCH_CREDENTIALS_PATH`). */
  keyFolder: string
}

const ENABLED = 'IRONIC_NETWORKING_ENABLED'

/**
 * The settings in the environment of BareMetal Operator; undefined without the network service.
 *
 * @throws UserError (usage) for a value that is no boolean of Go, and for a setting that lacks
 */
export function switchSettings(environment: Readonly<Record<string, string | undefined>>): SwitchSettings | undefined {
  const text = environment[ENABLED] ?? ''
  if (text === '' || /^(0|f|F|false|FALSE|False)$/.test(text)) return undefined
  if (!/^(1|t|T|true|TRUE|True)$/.test(text))
    throw wrongSetting(`${ENABLED} is ${text}, which is neither true nor false`)
  const required = (name: string): string => {
    const value = environment[name] ?? ''
    if (value === '') throw wrongSetting(`${name} must be set when ${ENABLED}=true`)
    return value
  }
  return {
    configSecret: required('IRONIC_SWITCH_CONFIGS_SECRET'),
    keySecret: required('IRONIC_SWITCH_CREDENTIALS_SECRET'),
    keyFolder: required('IRONIC_SWITCH_CREDENTIALS_PATH'),
  }
}

const wrongSetting = (problem: string): UserError =>
  new UserError('operator-setting', problem, { kind: 'usage', remedy: `set it, or unset ${ENABLED}` })

/** An account that a switch lacks. */
export class SwitchAccountError extends Error {
  override name = 'SwitchAccountError'
  /** True if the Secret is not there: its coming is not watched. */
  readonly isMissing: boolean

  constructor(message: string, { isMissing = false } = {}) {
    super(message)
    this.isMissing = isMissing
  }
}

/** A switch in the configuration of ironic-networking, and the file with its key, if it has one. */
export interface SwitchEntry {
  text: string
  keyFile?: { name: string; data: string }
}

/**
 * The section of a switch (writeSwitchEntry of baremetalswitch_config.go).
 *
 * @throws SwitchAccountError if the Secret has no account
 */
export function switchEntry({ metadata, spec }: BareMetalSwitch, secret: Secret, keyFolder: string): SwitchEntry {
  const { name } = secret.metadata
  const valueOf = (key: string): string | undefined =>
    secret.data?.[key] === undefined ? undefined : Buffer.from(secret.data[key], 'base64').toString()
  const username = valueOf('username')
  if (username === undefined) throw new SwitchAccountError(`credentials secret ${name} missing 'username' key`)
  const key = secret.data?.['ssh-privatekey']
  const password = valueOf('password')
  if (key === undefined && password === undefined)
    throw new SwitchAccountError(`credentials secret ${name} missing 'password' or 'ssh-privatekey' key`)
  const keyName = `${spec.macAddress.replaceAll(':', '-')}.key`
  const members = defined({
    address: spec.address,
    mac_address: spec.macAddress,
    port: spec.port || undefined,
    driver_type: spec.driver || 'generic-switch',
    device_type: spec.deviceType ?? '',
    insecure: spec.disableCertificateVerification ? 'true' : undefined,
    username,
    key_file: key === undefined ? undefined : join(keyFolder, keyName),
    password: key === undefined ? password : undefined,
    enable_secret: valueOf('admin-password') || undefined,
  })
  const lines = Object.entries(members).map(([member, value]) => `${member}=${value}`)
  return {
    text: `[switch:${metadata.name}]\n${lines.join('\n')}\n\n`,
    ...defined({ keyFile: key === undefined ? undefined : { name: keyName, data: key } }),
  }
}
