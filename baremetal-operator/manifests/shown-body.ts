import { defined } from '../../base/runtime/index.js'
import { maskedText } from '../../control/index.js'
import type { RequestedHost } from '../provisioner/host-data-model.js'
import { secretLabel } from './manifest-host.js'
import type { BareMetalHostManifest } from './manifest-types.js'

/** Placeholders for secret values in shown requests. */
export interface SecretLabels {
  /** By key of a request body, or by path of a patch. */
  keys: Readonly<Record<string, string>>
  /** By key of the config drive's meta_data. */
  metaData: Readonly<Record<string, string>>
  /** The secret values themselves, which an error message of Ironic may quote. */
  texts: readonly string[]
}

/** Labels for the values that come from a host's Secrets. */
export function secretLabels({ spec }: BareMetalHostManifest, host: RequestedHost | null): SecretLabels {
  const { bmc, image, userData, networkData, preprovisioningNetworkDataName: preprovisioning } = spec
  const network = networkData?.name ?? preprovisioning
  const account = bmc?.credentialsName ?? ''
  const username = secretLabel(account, 'username')
  const password = secretLabel(account, 'password')
  const config = userData && secretLabel(userData.name ?? '', 'userData')
  const metaData = spec.metaData && secretLabel(spec.metaData.name ?? '', 'metaData')
  const keys = {
    redfish_username: username,
    redfish_password: password,
    ipmi_username: username,
    ipmi_password: password,
    ...(config ? { user_data: config, ignition: config } : {}),
    ...defined({
      network_data: network === undefined ? undefined : secretLabel(network, 'networkData'),
      '/network_data': preprovisioning === undefined ? undefined : secretLabel(preprovisioning, 'networkData'),
    }),
    image_pull_secret: secretLabel(image?.ociAuthSecretName ?? '', 'registry account'),
  }
  const labelled = Object.keys(host?.metaData ?? {}).map((key) => [key, metaData ?? ''])
  return {
    keys,
    metaData: Object.fromEntries(labelled) as Record<string, string>,
    texts: host ? secretTexts(host) : [],
  }
}

/** Shorter secrets also occur in ordinary sentences, where masking them would hide the message. */
const MIN_MASKED_LENGTH = 4

function secretTexts(host: RequestedHost): string[] {
  const { bmc, image, userData, networkData, preprovisioningNetworkData, metaData } = host
  const registry = image?.pullSecret?.replace(/^[^:]*:/, '')
  const password = Object.entries(bmc.driverInfo).find(([key]) => key.endsWith('_password'))?.[1]
  const texts = [password, registry, userData, networkData, preprovisioningNetworkData, metaData].flatMap(textsIn)
  return texts.filter(({ length }) => length >= MIN_MASKED_LENGTH).sort((a, b) => b.length - a.length)
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** An error message of Ironic with its secrets masked. */
export const shownSentence = (sentence: string, { texts }: SecretLabels): string =>
  texts.reduce((shown, secret) => shown.replaceAll(secret, '******'), maskedText(sentence))

/** A request body with labels in place of secrets, and the other texts rewritten by `withoutIds`. */
export function shownBody(
  body: unknown,
  { keys, metaData }: SecretLabels,
  withoutIds: (text: string) => string,
): unknown {
  const show = (value: unknown, key: string): unknown => {
    const label = Object.hasOwn(keys, key) ? keys[key] : undefined
    if (label !== undefined && value !== '') return label
    if (typeof value === 'string') return withoutIds(maskedText(value))
    if (Array.isArray(value)) return value.map((one) => show(one, ''))
    if (typeof value !== 'object' || value === null) return value
    if ('op' in value && 'path' in value && 'value' in value) return showOperation(value as PatchEntry)
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [
        name,
        key === 'meta_data' && Object.hasOwn(metaData, name) ? metaData[name] : show(inner, name),
      ]),
    )
  }
  const showOperation = (operation: PatchEntry): unknown => {
    const { path, value } = operation
    const key = Object.hasOwn(keys, path) ? path : path.split('/').at(-1)!
    return { ...operation, path, value: show(value, key) }
  }
  return show(body, '')
}

interface PatchEntry {
  op: string
  path: string
  value: unknown
}
